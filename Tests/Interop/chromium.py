"""Starts Debian's Chromium without a screen on one page of ours, and carries messages to and from that page."""

import asyncio
import json
import os
import shutil
import tempfile

from aiohttp import WSMsgType, web

HERE = os.path.dirname(os.path.abspath(__file__))


class Chromium:
    """`async with Chromium(…) as browser`: the page is loaded and its socket open; both are gone at the end."""

    def __init__(self, page, camera=None, microphone=None, hide_addresses=False):
        self.page, self.camera, self.microphone, self.hide_addresses = page, camera, microphone, hide_addresses
        self.socket = None
        self.incoming = asyncio.Queue()
        self.process = None

    async def __aenter__(self):
        application = web.Application()
        application.router.add_get("/control", self.control)
        if self.microphone:
            application.router.add_get("/microphone.wav", lambda _: web.FileResponse(self.microphone))
        application.router.add_static("/", os.path.join(HERE, "pages"))
        self.runner = web.AppRunner(application)
        await self.runner.setup()
        site = web.TCPSite(self.runner, "127.0.0.1", 0)
        await site.start()
        port = site._server.sockets[0].getsockname()[1]
        self.profile = tempfile.mkdtemp(prefix="parlor-chromium-")
        flags = [
            "--headless=new", "--no-sandbox", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--metrics-recording-only",
            "--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows",
            "--autoplay-policy=no-user-gesture-required", "--use-fake-device-for-media-stream=fps=30", "--allow-loopback-in-peer-connection",
            f"--user-data-dir={self.profile}",
        ]
        # With a granted camera Chromium gives its addresses away; without, it hides them behind names in .local.
        flags += [] if self.hide_addresses else ["--use-fake-ui-for-media-stream", "--disable-features=WebRtcHideLocalIpsWithMdns"]
        if self.camera:
            flags.append(f"--use-file-for-fake-video-capture={self.camera}")
        try:
            self.process = await asyncio.create_subprocess_exec(
                "/usr/bin/chromium", *flags, f"http://127.0.0.1:{port}/{self.page}", stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL)
            ready = json.loads(await asyncio.wait_for(self.incoming.get(), 20))
            assert ready["type"] == "ready", ready
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def control(self, request):
        self.socket = web.WebSocketResponse(max_msg_size=0, compress=False)
        await self.socket.prepare(request)
        async for message in self.socket:
            if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                self.incoming.put_nowait(message.data)
        return self.socket

    async def send(self, message):
        await self.socket.send_str(json.dumps(message))

    async def receive(self):
        """The page's next message: a dictionary, or bytes."""
        data = await self.incoming.get()
        if isinstance(data, bytes):
            return data
        message = json.loads(data)
        if message["type"] == "error":
            raise RuntimeError("in the page: " + message["text"])
        return message

    async def __aexit__(self, *_):
        if self.process:
            # Its children end when it does.
            if self.process.returncode is None:
                self.process.kill()
            await self.process.wait()
        await self.runner.cleanup()
        shutil.rmtree(self.profile, ignore_errors=True)
