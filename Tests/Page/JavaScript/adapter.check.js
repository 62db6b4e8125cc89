// Debian's adapter.js, as many pages load it, finds what it expects and leaves it working.

check("adapter.js", async () => {
  const script = document.createElement("script");
  script.src = "/adapter.js";
  await new Promise((resolve, reject) => {
    script.onload = resolve;
    script.onerror = () => reject(new Error("adapter.js is not installed"));
    document.head.append(script);
  });
  equal(typeof window.adapter, "object");
  const [caller, callee] = [new RTCPeerConnection(), new RTCPeerConnection({ iceServers: [{ urls: "stun:example.org" }] })];
  const track = new RTCPeerConnection().addTransceiver("video").receiver.track;
  const stream = new MediaStream();
  const tracks = [];
  callee.ontrack = (event) => tracks.push([event.track.kind, event.streams.length, event.transceiver.direction]);
  caller.addTrack(track, stream);
  const offer = await caller.createOffer();
  await caller.setLocalDescription(offer);
  await callee.setRemoteDescription(offer);
  const answer = await callee.createAnswer();
  await callee.setLocalDescription(answer);
  await caller.setRemoteDescription(answer);
  await callee.addIceCandidate(new RTCIceCandidate({ candidate: "candidate:1 1 udp 1 192.0.2.1 5 typ host", sdpMid: "0" }));
  await callee.addIceCandidate({ candidate: "", sdpMid: "0" });
  equal(tracks, [["video", 1, "recvonly"]]);
  equal((await caller.getStats()) instanceof RTCStatsReport, true);
  caller.createDataChannel("chat");
  equal(caller.getSenders()[0].track === track, true);
  caller.close();
  callee.close();
});

check("the former functions", async () => {
  const [caller, callee] = [new RTCPeerConnection(), new RTCPeerConnection()];
  const added = new Promise((resolve) => { callee.onaddstream = resolve; });
  const track = new RTCPeerConnection().addTransceiver("audio").receiver.track;
  const stream = new MediaStream([track]);
  caller.addStream(stream);
  equal(caller.getLocalStreams().length, 1);
  await new Promise((resolve, reject) => {
    caller.createOffer((offer) => {
      caller.setLocalDescription(offer, () => callee.setRemoteDescription(offer, resolve, reject), reject);
    }, reject);
  });
  equal((await added).stream.id, stream.id);
  equal(callee.getRemoteStreams().length, 1);
  caller.close();
  callee.close();
});
