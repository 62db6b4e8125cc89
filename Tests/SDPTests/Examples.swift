/// Session descriptions as other implementations write them.
enum Example: String, CaseIterable, Sendable {
  case chromium, firefox, aiortc, janus, gstreamer, iceLite

  var text: String { lines.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n") + "\r\n" }

  private var lines: String {
    switch self {
    case .chromium:
      """
      v=0
      o=- 5208471983140025472 2 IN IP4 127.0.0.1
      s=-
      t=0 0
      a=group:BUNDLE 0 1 2
      a=extmap-allow-mixed
      a=msid-semantic: WMS 3a4f9a1c-77b2-4b0e-8f2d-9f1c1a2b3c4d
      m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126
      c=IN IP4 0.0.0.0
      a=rtcp:9 IN IP4 0.0.0.0
      a=ice-ufrag:4ZcD
      a=ice-pwd:2/1muCWoOi3uLifh0NuRHlQA
      a=ice-options:trickle
      a=fingerprint:sha-256 19:E2:1C:3B:4B:9F:81:E6:B8:5C:F4:A5:A8:D8:73:04:BB:05:2F:70:9F:04:A9:0E:05:E9:26:33:E8:70:88:A2
      a=setup:actpass
      a=mid:0
      a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
      a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
      a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
      a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
      a=sendrecv
      a=msid:3a4f9a1c-77b2-4b0e-8f2d-9f1c1a2b3c4d 0e8a1b2c-1234-4d5e-9f00-aabbccddeeff
      a=rtcp-mux
      a=rtcp-rsize
      a=rtpmap:111 opus/48000/2
      a=rtcp-fb:111 transport-cc
      a=fmtp:111 minptime=10;useinbandfec=1
      a=rtpmap:63 red/48000/2
      a=fmtp:63 111/111
      a=rtpmap:9 G722/8000
      a=rtpmap:0 PCMU/8000
      a=rtpmap:8 PCMA/8000
      a=rtpmap:13 CN/8000
      a=rtpmap:110 telephone-event/48000
      a=rtpmap:126 telephone-event/8000
      a=ssrc:3735928559 cname:q0xYzLrWb1m2n3o4
      a=ssrc:3735928559 msid:3a4f9a1c-77b2-4b0e-8f2d-9f1c1a2b3c4d 0e8a1b2c-1234-4d5e-9f00-aabbccddeeff
      m=video 9 UDP/TLS/RTP/SAVPF 96 97 103 104 107 108 109 114
      c=IN IP4 0.0.0.0
      a=rtcp:9 IN IP4 0.0.0.0
      a=candidate:1467250027 1 udp 2122260223 192.168.0.196 46243 typ host generation 0 network-id 1
      a=ice-ufrag:4ZcD
      a=ice-pwd:2/1muCWoOi3uLifh0NuRHlQA
      a=ice-options:trickle
      a=fingerprint:sha-256 19:E2:1C:3B:4B:9F:81:E6:B8:5C:F4:A5:A8:D8:73:04:BB:05:2F:70:9F:04:A9:0E:05:E9:26:33:E8:70:88:A2
      a=setup:actpass
      a=mid:1
      a=extmap:14 urn:ietf:params:rtp-hdrext:toffset
      a=extmap:13 urn:3gpp:video-orientation
      a=extmap:5 http://www.webrtc.org/experiments/rtp-hdrext/playout-delay
      a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id
      a=sendrecv
      a=msid:3a4f9a1c-77b2-4b0e-8f2d-9f1c1a2b3c4d 99887766-5544-4332-a211-00ffeeddccbb
      a=rtcp-mux
      a=rtcp-rsize
      a=rtpmap:96 VP8/90000
      a=rtcp-fb:96 goog-remb
      a=rtcp-fb:96 transport-cc
      a=rtcp-fb:96 ccm fir
      a=rtcp-fb:96 nack
      a=rtcp-fb:96 nack pli
      a=rtpmap:97 rtx/90000
      a=fmtp:97 apt=96
      a=rtpmap:103 H264/90000
      a=rtcp-fb:103 nack pli
      a=fmtp:103 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f
      a=rtpmap:104 rtx/90000
      a=fmtp:104 apt=103
      a=rtpmap:107 H264/90000
      a=fmtp:107 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42e01f
      a=rtpmap:108 rtx/90000
      a=fmtp:108 apt=107
      a=rtpmap:109 red/90000
      a=rtpmap:114 ulpfec/90000
      a=ssrc-group:FID 2231627014 632943048
      a=ssrc:2231627014 cname:q0xYzLrWb1m2n3o4
      a=ssrc:632943048 cname:q0xYzLrWb1m2n3o4
      m=application 9 UDP/DTLS/SCTP webrtc-datachannel
      c=IN IP4 0.0.0.0
      a=ice-ufrag:4ZcD
      a=ice-pwd:2/1muCWoOi3uLifh0NuRHlQA
      a=ice-options:trickle
      a=fingerprint:sha-256 19:E2:1C:3B:4B:9F:81:E6:B8:5C:F4:A5:A8:D8:73:04:BB:05:2F:70:9F:04:A9:0E:05:E9:26:33:E8:70:88:A2
      a=setup:actpass
      a=mid:2
      a=sctp-port:5000
      a=max-message-size:262144
      """
    case .firefox:
      """
      v=0
      o=mozilla...THIS_IS_SDPARTA-140.0 4858251974351650128 0 IN IP4 0.0.0.0
      s=-
      t=0 0
      a=sendrecv
      a=fingerprint:sha-256 7A:55:C5:9B:51:E4:1D:1D:16:2E:B3:5A:F4:A8:1C:BB:A4:44:57:D3:7C:A3:D2:0C:20:2A:1E:55:C9:5A:0D:02
      a=group:BUNDLE 0 1
      a=ice-options:trickle
      a=msid-semantic:WMS *
      m=video 9 UDP/TLS/RTP/SAVPF 120 124 126 127
      c=IN IP4 0.0.0.0
      a=sendrecv
      a=end-of-candidates
      a=extmap:3 urn:ietf:params:rtp-hdrext:sdes:mid
      a=extmap:6/recvonly http://www.webrtc.org/experiments/rtp-hdrext/playout-delay
      a=extmap:7/sendonly urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id
      a=fmtp:126 profile-level-id=42e01f;level-asymmetry-allowed=1;packetization-mode=1
      a=fmtp:120 max-fs=12288;max-fr=60
      a=fmtp:124 apt=120
      a=fmtp:127 apt=126
      a=ice-pwd:d8ee9c2b4b5ba0bfdd1a2bd6ff0b1f5c
      a=ice-ufrag:a8fa0d3b
      a=mid:0
      a=msid:{b5d1f0f5-7b0b-4c5f-8a55-6a2a3a1e1b7f} {f1e2d3c4-0000-4111-8222-333344445555}
      a=rid:hi send max-width=1280;max-height=720
      a=rid:lo send pt=120;max-width=320
      a=rtcp-fb:120 nack
      a=rtcp-fb:120 nack pli
      a=rtcp-fb:126 nack
      a=rtcp-mux
      a=rtcp-rsize
      a=rtpmap:120 VP8/90000
      a=rtpmap:124 rtx/90000
      a=rtpmap:126 H264/90000
      a=rtpmap:127 rtx/90000
      a=setup:actpass
      a=simulcast:send hi;~lo
      a=ssrc:1862387435 cname:{c1a2b3c4-1111-4222-8333-444455556666}
      m=application 9 UDP/DTLS/SCTP webrtc-datachannel
      c=IN IP4 0.0.0.0
      a=sendrecv
      a=ice-pwd:d8ee9c2b4b5ba0bfdd1a2bd6ff0b1f5c
      a=ice-ufrag:a8fa0d3b
      a=mid:1
      a=setup:actpass
      a=sctp-port:5000
      a=max-message-size:1073741823
      """
    case .aiortc:
      """
      v=0
      o=- 3912345678 3912345678 IN IP4 0.0.0.0
      s=-
      t=0 0
      a=group:BUNDLE 0
      a=msid-semantic:WMS *
      m=audio 57713 UDP/TLS/RTP/SAVPF 96 0 8
      c=IN IP4 10.0.0.5
      a=recvonly
      a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
      a=mid:0
      a=msid:1f2e3d4c-aaaa-4bbb-8ccc-ddddeeeeffff 2a3b4c5d-1111-4222-8333-444455556666
      a=rtcp:9 IN IP4 0.0.0.0
      a=rtcp-mux
      a=ssrc:1831097322 cname:{b1c2d3e4-9999-4888-8777-666655554444}
      a=rtpmap:96 opus/48000/2
      a=rtpmap:0 PCMU/8000
      a=rtpmap:8 PCMA/8000
      a=candidate:c3f6a9e1 1 udp 2130706431 10.0.0.5 57713 typ host
      a=candidate:5f7cbe51 1 udp 1694498815 203.0.113.9 57713 typ srflx raddr 10.0.0.5 rport 57713
      a=end-of-candidates
      a=ice-ufrag:9889
      a=ice-pwd:2pqHWcVYLLTlRqbSTwaN0w
      a=fingerprint:sha-256 9B:6C:0D:10:87:A5:37:79:87:74:F5:CB:BD:0A:AE:BA:C3:4A:81:7D:6F:19:E6:0A:2C:4C:18:C0:76:39:26:39
      a=fingerprint:sha-384 00:01
      a=setup:active
      """
    case .janus:
      """
      v=0
      o=- 1718031932671523 1 IN IP4 198.51.100.7
      s=Janus EchoTest
      t=0 0
      a=group:BUNDLE a v d
      a=ice-options:trickle
      a=fingerprint:sha-256 D2:B9:31:8F:DF:24:D8:0E:ED:D2:EF:25:9E:AF:6F:B8:34:AE:53:9C:E6:F3:8F:F2:64:15:FA:E8:7F:53:2D:38
      a=extmap-allow-mixed
      a=msid-semantic: WMS *
      m=audio 9 UDP/TLS/RTP/SAVPF 111
      c=IN IP4 198.51.100.7
      a=sendrecv
      a=mid:a
      a=rtcp-mux
      a=ice-ufrag:ADCk
      a=ice-pwd:oIvGzWlRTPOaBbDQeYiIHf
      a=ice-options:trickle
      a=setup:active
      a=rtpmap:111 opus/48000/2
      a=msid:janus janusa
      a=ssrc:2693851172 cname:janus
      a=candidate:1 1 udp 2015363327 198.51.100.7 43122 typ host
      a=end-of-candidates
      m=video 0 UDP/TLS/RTP/SAVPF 0
      c=IN IP4 198.51.100.7
      a=inactive
      a=mid:v
      m=application 9 UDP/DTLS/SCTP webrtc-datachannel
      c=IN IP4 198.51.100.7
      a=sendrecv
      a=sctp-port:5000
      a=mid:d
      a=ice-ufrag:ADCk
      a=ice-pwd:oIvGzWlRTPOaBbDQeYiIHf
      a=setup:active
      """
    case .gstreamer:
      """
      v=0
      o=- 5643512043124590012 0 IN IP4 0.0.0.0
      s=-
      t=0 0
      a=ice-options:trickle
      a=group:BUNDLE video0 application1
      m=video 9 UDP/TLS/RTP/SAVPF 96 97
      c=IN IP4 0.0.0.0
      a=setup:actpass
      a=ice-ufrag:Wl5YLjmu3lpyyqJrGPmnWYsM5V5A4f4t
      a=ice-pwd:EyoTjZtYkrwf5IYb4dxTXJ/8XS+4xSEr
      a=rtcp-mux
      a=rtcp-rsize
      a=sendonly
      a=rtpmap:96 H264/90000
      a=rtcp-fb:96 nack
      a=rtcp-fb:96 nack pli
      a=rtcp-fb:96 ccm fir
      a=rtcp-fb:96 transport-cc
      a=framerate:30
      a=fmtp:96 packetization-mode=1;profile-level-id=42c015;sprop-parameter-sets=Z0LAFdoFB+hAAAADAEAAAA8DxYuo,aM4PyA==
      a=rtpmap:97 rtx/90000
      a=fmtp:97 apt=96
      a=ssrc-group:FID 2465172531 1735712040
      a=ssrc:2465172531 msid:user3344942761@host-c94d4db8 webrtctransceiver0
      a=ssrc:2465172531 cname:user3344942761@host-c94d4db8
      a=mid:video0
      a=fingerprint:sha-256 4A:1B:2C:3D:4E:5F:60:71:82:93:A4:B5:C6:D7:E8:F9:0A:1B:2C:3D:4E:5F:60:71:82:93:A4:B5:C6:D7:E8:F9
      a=rtcp-mux-only
      m=application 0 UDP/DTLS/SCTP webrtc-datachannel
      c=IN IP4 0.0.0.0
      a=setup:actpass
      a=bundle-only
      a=mid:application1
      a=sctp-port:5000
      """
    case .iceLite:
      """
      v=0
      o=server 42 7 IN IP6 2001:db8::1
      s=conference
      i=A session with everything that is rarely used
      u=https://example.com/session
      e=someone@example.com
      p=+1 617 555-6011
      c=IN IP6 2001:db8::1
      b=AS:4000
      b=TIAS:3500000
      t=3034423619 3042462419
      t=0 0
      r=604800 3600 0 90000
      z=2882844526 -1h
      k=clear:secret
      a=ice-lite
      a=ice-ufrag:lite
      a=ice-pwd:litelitelitelitelitelite
      a=setup:passive
      a=recvonly
      a=tool:made by hand
      a=x-flag
      m=audio 5004/2 RTP/SAVPF 0 18
      i=The microphone
      b=RS:0
      a=ptime:20
      a=maxptime:2.5
      a=rtcp-fb:* nack
      a=fmtp:18 annexb=no
      a=rtcp:5005
      m=video 5006 RTP/SAVPF 31
      a=sendonly
      a=rtcp:5007 IN IP6 2001:db8::2
      a=content:slides
      m=text 5010 TCP/MSRP *
      a=sendrecv
      """
    }
  }
}
