"""aiortc as a peer that takes the options and speaks the lines of `parlor peer`."""

import asyncio
import fractions
import time
import wave

import av
import numpy as np
from aiortc import (RTCConfiguration, RTCIceServer, RTCPeerConnection, RTCRtpSender, RTCSessionDescription, mediastreams)
from aiortc.sdp import candidate_from_sdp

import lines
import synthetic

CODECS = {"vp8": "video/VP8", "h264": "video/H264", "opus": "audio/opus", "pcmu": "audio/PCMU", "pcma": "audio/PCMA"}


class Camera(mediastreams.VideoStreamTrack):
    """Sends the pictures of a Y4M file at their rate, over and over."""

    def __init__(self, path):
        super().__init__()
        self.file = synthetic.Y4M(path)
        self.index, self.started = 0, None

    async def recv(self):
        self.started = self.started or time.monotonic()
        # A sender that fell behind goes on with the picture that is due, as a camera does.
        due = int((time.monotonic() - self.started) * synthetic.RATE) + 1
        self.index = max(self.index + 1, due)
        await asyncio.sleep(max(0, self.started + self.index / synthetic.RATE - time.monotonic()))
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(self.file.planes(self.index % len(self.file))), format="yuv420p")
        frame.pts, frame.time_base = self.index * 90000 // synthetic.RATE, fractions.Fraction(1, 90000)
        return frame


class Microphone(mediastreams.AudioStreamTrack):
    """Sends the sound of a WAV file in blocks of 20 ms, over and over."""

    def __init__(self, path):
        super().__init__()
        with wave.open(path, "rb") as file:
            self.samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        self.index, self.started = 0, None

    async def recv(self):
        self.started = self.started or time.monotonic()
        size = synthetic.SAMPLE_RATE // 50
        await asyncio.sleep(max(0, self.started + self.index / 50 - time.monotonic()))
        offset = self.index * size % len(self.samples)
        frame = av.AudioFrame.from_ndarray(self.samples[offset : offset + size].reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = synthetic.SAMPLE_RATE, self.index * size, fractions.Fraction(1, synthetic.SAMPLE_RATE)
        self.index += 1
        return frame


class Peer:
    def __init__(self, options):
        self.options = options
        servers = [RTCIceServer(**server) for server in options.ice_servers]
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=servers))
        self.video, self.sound = synthetic.Recorder(options.record), synthetic.SoundRecorder(options.record_audio)
        self.result = {"type": "result", "connect_ms": None, "frames_shown": 0, "data_sent": 0, "data_echoed": 0}
        self.started = time.monotonic()
        self.connection.on("connectionstatechange", self.state_changed)
        self.connection.on("track", self.track_added)
        self.connection.on("datachannel", self.channel_added)
        self.tasks = []

    async def state_changed(self):
        state = self.connection.connectionState
        if state == "connected" and self.result["connect_ms"] is None:
            self.result["connect_ms"] = round((time.monotonic() - self.started) * 1000, 1)
        lines.emit({"type": "state", "connection": state})

    def track_added(self, track):
        self.tasks.append(asyncio.ensure_future(self.receive(track)))

    async def receive(self, track):
        resampler = av.AudioResampler(format="s16", layout="mono", rate=synthetic.SAMPLE_RATE)
        try:
            while True:
                frame = await track.recv()
                if track.kind == "video":
                    planes = frame.reformat(format="yuv420p").to_ndarray()
                    self.video.add(planes[: frame.height])
                else:
                    for block in resampler.resample(frame):
                        self.sound.add(block.to_ndarray().flatten(), synthetic.SAMPLE_RATE)
        except mediastreams.MediaStreamError:
            pass

    def channel_added(self, channel):
        @channel.on("message")
        def echo(message):
            channel.send(message)

    def open_channel(self):
        channel = self.connection.createDataChannel("echo")
        waiting = []

        @channel.on("open")
        def opened():
            for size in lines.ECHO_SIZES:
                for binary in (False, True):
                    waiting.append(lines.echo_message(size, binary))
                    channel.send(waiting[-1])
            self.result["data_sent"] = len(waiting)

        @channel.on("message")
        def message(message):
            if message in waiting:
                waiting.remove(message)
                self.result["data_echoed"] += 1

    def prefer(self, transceiver):
        wanted = CODECS[self.options.codec if transceiver.kind == "video" else self.options.audio]
        capabilities = RTCRtpSender.getCapabilities(transceiver.kind).codecs
        chosen = [c for c in capabilities if c.mimeType == wanted] + [c for c in capabilities if c.mimeType == "video/rtx" and transceiver.kind == "video"]
        transceiver.setCodecPreferences(chosen)

    def wants(self, kind):
        return self.options.video == "on" if kind == "video" else self.options.audio != "none"

    def source(self, kind):
        return Camera(self.options.camera) if kind == "video" else Microphone(self.options.microphone)

    async def offer(self):
        for kind in ("audio", "video"):
            if self.wants(kind):
                source = self.source(kind) if self.options.sends else kind
                self.prefer(self.connection.addTransceiver(source, direction=self.options.direction))
        if self.options.data == "on":
            self.open_channel()
        await self.connection.setLocalDescription(await self.connection.createOffer())
        self.describe()

    async def answer(self, description):
        await self.connection.setRemoteDescription(description)
        for transceiver in self.connection.getTransceivers():
            if not self.wants(transceiver.kind):
                continue
            if self.options.sends:
                transceiver.sender.replaceTrack(self.source(transceiver.kind))
            transceiver.direction = self.options.direction
            self.prefer(transceiver)
        await self.connection.setLocalDescription(await self.connection.createAnswer())
        self.describe()

    def describe(self):
        # aiortc gathers before it describes: its candidates stand in the description.
        local = self.connection.localDescription
        lines.emit_description(local.type, local.sdp)
        lines.emit_candidate(None)

    async def run(self):
        if self.options.offer:
            await self.offer()
        async for message in lines.messages():
            if message["type"] == "close":
                break
            if message["type"] == "description":
                self.started = self.started if self.options.offer else time.monotonic()
                description = RTCSessionDescription(**message["description"])
                if description.type == "offer":
                    await self.answer(description)
                else:
                    await self.connection.setRemoteDescription(description)
            elif message["type"] == "candidate":
                await self.add(message["candidate"])

    async def add(self, candidate):
        if not candidate or not candidate["candidate"]:
            await self.connection.addIceCandidate(None)
            return
        parsed = candidate_from_sdp(candidate["candidate"].removeprefix("candidate:"))
        parsed.sdpMid, parsed.sdpMLineIndex = candidate.get("sdpMid"), candidate.get("sdpMLineIndex")
        await self.connection.addIceCandidate(parsed)

    async def finish(self):
        stats = await self.connection.getStats()
        self.result["frames_shown"] = self.video.count
        self.result["stats"] = {key: {k: v for k, v in vars(value).items() if isinstance(v, (int, float, str))} for key, value in stats.items()}
        await self.connection.close()
        for task in self.tasks:
            task.cancel()
        self.video.close()
        self.sound.close()
        lines.emit(self.result)


async def main():
    options = lines.arguments(__doc__)
    peer = Peer(options)
    try:
        await asyncio.wait_for(peer.run(), options.seconds)
    except asyncio.TimeoutError:
        pass
    await peer.finish()


asyncio.run(main())
