"""GStreamer's webrtcbin as a peer that takes the options and speaks the lines of `parlor peer`. Runs in Debian's own Python."""

import json
import sys
import threading
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstWebRTC", "1.0")
gi.require_version("GstSdp", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

import lines  # noqa: E402

# For each codec: encoder and payloader, RTP caps, depayloader and decoder.
CODECS = {
    "vp8": (
        "vp8enc deadline=1 cpu-used=8 target-bitrate=1500000 end-usage=cbr keyframe-max-dist=300 error-resilient=partitions ! rtpvp8pay picture-id-mode=2 pt={payload}",
        "application/x-rtp,media=video,encoding-name=VP8,clock-rate=90000,payload={payload}",
        "rtpvp8depay ! vp8dec",
    ),
    "h264": (
        "x264enc tune=zerolatency speed-preset=ultrafast bitrate=1500 key-int-max=300 ! video/x-h264,profile=constrained-baseline"
        " ! rtph264pay config-interval=-1 aggregate-mode=zero-latency pt={payload}"
        # The encoder writes 42c0, which is the same profile under another name and does not intersect with it.
        " ! capssetter caps=\"application/x-rtp,profile-level-id=(string)42e01f,packetization-mode=(string)1\"",
        "application/x-rtp,media=video,encoding-name=H264,clock-rate=90000,packetization-mode=(string)1,profile-level-id=(string)42e01f,payload={payload}",
        "rtph264depay ! h264parse ! openh264dec",
    ),
    "opus": ("audioresample ! opusenc ! rtpopuspay pt={payload}", "application/x-rtp,media=audio,encoding-name=OPUS,clock-rate=48000,encoding-params=(string)2,payload={payload}", "rtpopusdepay ! opusdec"),
    "pcmu": ("audioresample ! mulawenc ! rtppcmupay pt=0", "application/x-rtp,media=audio,encoding-name=PCMU,clock-rate=8000,payload=0", "rtppcmudepay ! mulawdec"),
    "pcma": ("audioresample ! alawenc ! rtppcmapay pt=8", "application/x-rtp,media=audio,encoding-name=PCMA,clock-rate=8000,payload=8", "rtppcmadepay ! alawdec"),
}
DIRECTIONS = GstWebRTC.WebRTCRTPTransceiverDirection


def direction(name):
    return getattr(DIRECTIONS, name.upper())


class Peer:
    def __init__(self, options):
        self.options = options
        self.loop = GLib.MainLoop()
        self.pipeline = Gst.Pipeline.new("peer")
        self.webrtc = Gst.ElementFactory.make("webrtcbin", None)
        self.webrtc.set_property("bundle-policy", GstWebRTC.WebRTCBundlePolicy.MAX_COMPAT)
        self.webrtc.set_property("latency", 50)
        if options.relay_only:
            self.webrtc.set_property("ice-transport-policy", GstWebRTC.WebRTCICETransportPolicy.RELAY)
        for server in options.ice_servers:
            scheme, address = server["urls"].split(":", 1)
            self.webrtc.emit("add-turn-server", f"{scheme}://{server['username']}:{server['credential']}@{address}")
        self.pipeline.add(self.webrtc)
        self.webrtc.connect("on-ice-candidate", lambda _, line, candidate: lines.emit_candidate(candidate, None, line))
        self.webrtc.connect("notify::ice-gathering-state", self.gathering_changed)
        self.webrtc.connect("notify::connection-state", self.state_changed)
        self.webrtc.connect("pad-added", self.pad_added)
        self.webrtc.connect("on-data-channel", self.channel_added)
        self.bus = self.pipeline.get_bus()
        self.bus.add_signal_watch()
        self.bus.connect("message::error", self.failed)
        self.result = {"type": "result", "connect_ms": None, "frames_shown": 0, "data_sent": 0, "data_echoed": 0}
        self.started = time.monotonic()
        self.channels = []

    def failed(self, _, message):
        error, details = message.parse_error()
        print(f"{error.message} {details}", file=sys.stderr)
        if "webrtc" not in (details or ""):
            self.loop.quit()

    def state_changed(self, *_):
        state = self.webrtc.get_property("connection-state").value_nick
        if state == "connected" and self.result["connect_ms"] is None:
            self.result["connect_ms"] = round((time.monotonic() - self.started) * 1000, 1)
        lines.emit({"type": "state", "connection": state})

    def gathering_changed(self, *_):
        if self.webrtc.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            lines.emit_candidate(None)

    # Media sent

    def wants(self, kind):
        return self.options.video == "on" if kind == "video" else self.options.audio != "none"

    def codec(self, kind):
        return self.options.codec if kind == "video" else self.options.audio

    def caps(self, kind, payload):
        return CODECS[self.codec(kind)][1].format(payload=payload)

    def send(self, kind, payload):
        """Plays the file of this kind into webrtcbin, at its own pace."""
        encoder = CODECS[self.codec(kind)][0]
        if kind == "video":
            source = f"filesrc location={self.options.camera} ! y4mdec ! identity sync=true ! queue max-size-buffers=2 leaky=downstream ! {encoder.format(payload=payload)}"
        else:
            source = f"filesrc location={self.options.microphone} ! wavparse ! audioconvert ! audio/x-raw,channels=1 ! identity sync=true"
            source += f" ! {encoder.format(payload=payload)}"
        chain = Gst.parse_bin_from_description(f"{source} ! {self.caps(kind, payload)} ! identity name=last silent=true", False)
        chain.add_pad(Gst.GhostPad.new("src", chain.get_by_name("last").get_static_pad("src")))
        self.pipeline.add(chain)
        pad = self.webrtc.request_pad_simple("sink_%u")
        chain.get_static_pad("src").link(pad)
        pad.get_property("transceiver").set_property("direction", direction(self.options.direction))
        return chain

    # Media received

    def pad_added(self, _, pad):
        if pad.get_direction() != Gst.PadDirection.SRC:
            return
        structure = pad.get_current_caps().get_structure(0)
        kind = structure.get_string("media")
        decoder = CODECS[structure.get_string("encoding-name").lower()][2]
        sink = "fakesink async=false sync=false"
        if kind == "video":
            if self.options.record:
                sink = f"y4menc ! filesink async=false sync=false location={self.options.record}"
            description = f"queue ! {decoder} ! videoconvert ! video/x-raw,format=I420 ! identity name=shown signal-handoffs=true ! {sink}"
        else:
            if self.options.record_audio:
                sink = f"wavenc ! filesink async=false sync=false location={self.options.record_audio}"
            # In the network's time: what is lost shows as a gap, what is late as nothing.
            description = f"queue ! {decoder} ! audioconvert ! audioresample ! audio/x-raw,format=S16LE,rate=48000,channels=1 ! {sink}"
        chain = Gst.parse_bin_from_description(description, True)
        self.pipeline.add(chain)
        if kind == "video":
            chain.get_by_name("shown").connect("handoff", self.shown)
        chain.sync_state_with_parent()
        pad.link(chain.get_static_pad("sink"))

    def shown(self, *_):
        self.result["frames_shown"] += 1

    # Data

    def channel_added(self, _, channel):
        self.channels.append(channel)
        # An empty message is not sent back: webrtcbin gives up the whole association over one.
        channel.connect("on-message-string", lambda channel, text: text and channel.emit("send-string", text))
        channel.connect("on-message-data", lambda channel, data: data and data.get_size() and channel.emit("send-data", data))

    def open_channel(self):
        channel = self.webrtc.emit("create-data-channel", "echo", None)
        self.channels.append(channel)
        waiting = []

        def opened(_):
            sizes = [size for size in lines.ECHO_SIZES if size > 0]
            self.result["data_sent"] = 2 * len(sizes)
            for size in sizes:
                for binary in (False, True):
                    message = lines.echo_message(size, binary)
                    waiting.append(message)
                    if binary:
                        channel.emit("send-data", GLib.Bytes.new(message))
                    else:
                        channel.emit("send-string", message)

        def received(_, message):
            message = message.get_data() if isinstance(message, GLib.Bytes) else message
            if message in waiting:
                waiting.remove(message)
                self.result["data_echoed"] += 1

        channel.connect("on-open", opened)
        channel.connect("on-message-string", received)
        channel.connect("on-message-data", received)

    # Negotiation

    def offer(self):
        payload = 96
        for kind in ("audio", "video"):
            if not self.wants(kind):
                continue
            if self.options.sends:
                self.send(kind, payload)
            else:
                self.webrtc.emit("add-transceiver", direction("recvonly"), Gst.Caps.from_string(self.caps(kind, payload)))
            payload += 1
        # Data channels can only be made once webrtcbin runs.
        self.pipeline.set_state(Gst.State.PLAYING)
        if self.options.data == "on":
            self.open_channel()
        self.webrtc.emit("create-offer", None, Gst.Promise.new_with_change_func(self.described, "offer"))

    def described(self, promise, kind):
        promise.wait()
        self.reply = promise.get_reply()  # owns the description: it must live as long
        description = self.reply.get_value(kind)
        self.webrtc.emit("set-local-description", description, None)
        lines.emit_description(kind, description.sdp.as_text())

    def accept(self, description):
        _, sdp = GstSdp.SDPMessage.new_from_text(description["sdp"])
        kind = GstWebRTC.WebRTCSDPType.OFFER if description["type"] == "offer" else GstWebRTC.WebRTCSDPType.ANSWER
        if description["type"] == "offer":
            self.prepare_answer(sdp)
        parsed = GstWebRTC.WebRTCSessionDescription.new(kind, sdp)
        promise = Gst.Promise.new()
        self.webrtc.emit("set-remote-description", parsed, promise)
        promise.wait()
        if description["type"] == "offer":
            self.webrtc.emit("create-answer", None, Gst.Promise.new_with_change_func(self.described, "answer"))

    def prepare_answer(self, sdp):
        """A media line of the offer is answered with the payload type that the offer gives the wanted codec."""
        self.started = time.monotonic()
        for i in range(sdp.medias_len()):
            media = sdp.get_media(i)
            kind = media.get_media()
            if kind not in ("audio", "video") or not self.wants(kind):
                continue
            payload = self.offered_payload(media, self.codec(kind))
            if self.options.sends:
                self.send(kind, payload)
            else:
                self.webrtc.emit("add-transceiver", direction("recvonly"), Gst.Caps.from_string(self.caps(kind, payload)))
        self.pipeline.set_state(Gst.State.PLAYING)

    @staticmethod
    def offered_payload(media, codec):
        formats = {}
        for i in range(media.attributes_len()):
            attribute = media.get_attribute(i)
            if attribute.key == "fmtp":
                payload, _, parameters = attribute.value.partition(" ")
                formats[payload] = parameters
        for i in range(media.attributes_len()):
            attribute = media.get_attribute(i)
            if attribute.key != "rtpmap":
                continue
            payload, _, name = attribute.value.partition(" ")
            fitting = codec != "h264" or ("packetization-mode=1" in formats.get(payload, "") and "42e01f" in formats.get(payload, "").lower())
            if name.lower().startswith(codec + "/") and fitting:
                return int(payload)
        raise SystemExit(f"peer_gstreamer: the offer has no {codec}")

    # Running

    def read(self):
        """Runs on a thread of its own; what it reads is handled on the main loop."""
        for line in sys.stdin:
            GLib.idle_add(self.handle, json.loads(line))
        GLib.idle_add(self.loop.quit)

    def handle(self, message):
        if message["type"] == "close":
            self.loop.quit()
        elif message["type"] == "description":
            self.accept(message["description"])
        elif message["type"] == "candidate" and message["candidate"] and message["candidate"]["candidate"]:
            self.webrtc.emit("add-ice-candidate", message["candidate"].get("sdpMLineIndex") or 0, message["candidate"]["candidate"])
        return False

    def run(self):
        threading.Thread(target=self.read, daemon=True).start()
        GLib.timeout_add(int(self.options.seconds * 1000), self.loop.quit)
        if self.options.offer:
            self.offer()
        self.loop.run()
        self.result["stats"] = self.statistics()
        # An orderly end of stream gives the files their lengths.
        self.pipeline.set_state(Gst.State.NULL)
        lines.emit(self.result)

    def statistics(self):
        promise = Gst.Promise.new()
        self.webrtc.emit("get-stats", None, promise)
        promise.wait()
        reply = promise.get_reply()
        report = {}
        for i in range(reply.n_fields() if reply else 0):
            name = reply.nth_field_name(i)
            entry = reply.get_value(name)
            if not isinstance(entry, Gst.Structure):
                continue
            values = {entry.nth_field_name(j): entry.get_value(entry.nth_field_name(j)) for j in range(entry.n_fields())}
            report[name] = {key: value for key, value in values.items() if isinstance(value, (int, float, str))}
        return report


Gst.init(None)
Peer(lines.arguments(__doc__)).run()
