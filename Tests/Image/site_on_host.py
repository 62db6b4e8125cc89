"""A site on this machine that boxes call: a page over HTTPS, whose certificate a site's own authority signed, and behind its socket a browser that takes the call."""

import asyncio
import contextlib
import json
import os
import sys
import threading

from aiohttp import WSMsgType, web

from failure import HERE, ROOT
from host_servers import HOST, Authority

sys.path.append(os.path.join(ROOT, "Tests/Interop"))

import synthetic
from peers import Peer


class Site:
    """`with Site(folder) as site`: the page is at `site.origin`, the authority's certificate in `site.authority`, and each call that came in `site.calls`: a `Peer`. `port`
    is any that is free, unless it is given."""

    def __init__(self, folder, port=0):
        self.folder, self.port = folder, port
        os.makedirs(folder, exist_ok=True)
        self.calls = []
        self.loop = asyncio.new_event_loop()

    def __enter__(self):
        # Small, since an emulated processor is to decode it.
        synthetic.write_camera(os.path.join(self.folder, "camera.y4m"), width=320, height=180)
        synthetic.write_microphone(os.path.join(self.folder, "microphone.wav"))
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        authority = Authority(self.folder)
        self.authority = authority.file
        self.wait(self.start(authority.context()))
        return self

    def __exit__(self, *_):
        self.wait(self.stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    def wait(self, work, seconds=30):
        """Has the site's own thread do something, and returns what comes of it."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(seconds)

    async def start(self, context):
        application = web.Application()
        application.router.add_get("/signal", self.signal)
        application.router.add_static("/", os.path.join(HERE, "pages"))
        self.runner = web.AppRunner(application, shutdown_timeout=1)
        await self.runner.setup()
        site = web.TCPSite(self.runner, "127.0.0.1", self.port, ssl_context=context)
        await site.start()
        self.origin = f"https://{HOST}:{site._server.sockets[0].getsockname()[1]}"

    async def stop(self):
        for call in self.calls:
            await call.stop()
        await self.runner.cleanup()

    async def signal(self, request):
        """One call: the page's messages go to a browser, and the browser's to the page, until the page is gone."""
        socket = web.WebSocketResponse()
        await socket.prepare(request)

        def to_page(message):
            candidate = message.get("candidate")
            if candidate:
                # What is this machine's loopback for the browser has another address for the box.
                message = {**message, "candidate": {**candidate, "candidate": candidate["candidate"].replace(" 127.0.0.1 ", f" {HOST} ")}}
            asyncio.ensure_future(self.send(socket, message))

        name = os.path.join(self.folder, f"call-{len(self.calls) + 1}")
        at = lambda name: os.path.join(self.folder, name)
        arguments = ["--answer", "--data", "off", "--seconds", "900", "--camera", at("camera.y4m"), "--microphone", at("microphone.wav"), "--record", f"{name}.y4m"]
        peer = Peer("chromium", arguments, name, to_page)
        self.calls.append(peer)
        await peer.start()
        async for message in socket:
            if message.type == WSMsgType.TEXT:
                peer.write(json.loads(message.data))
        await peer.stop()
        return socket

    async def send(self, socket, message):
        with contextlib.suppress(ConnectionError):
            await socket.send_json(message)
