"""Chromium as the other party of a page call, driven over its debugging protocol."""

import asyncio
import os
import shutil
import tempfile

import aiohttp

from kiosk import Failure


class Browser:
    """`async with Browser(camera=…) as browser`: one page of Chromium, with the picture of a Y4M file as its camera."""

    def __init__(self, camera=None):
        self.camera, self.serial = camera, 0

    async def __aenter__(self):
        self.profile = tempfile.mkdtemp(prefix="parlor-chromium-")
        flags = [
            "--headless=new", "--no-sandbox", "--no-first-run", "--disable-gpu", "--mute-audio", "--remote-debugging-port=0",
            "--autoplay-policy=no-user-gesture-required", "--use-fake-device-for-media-stream=fps=30", "--use-fake-ui-for-media-stream",
            "--disable-features=WebRtcHideLocalIpsWithMdns", "--window-size=1280,720", f"--user-data-dir={self.profile}",
        ]
        if self.camera:
            flags.append(f"--use-file-for-fake-video-capture={self.camera}")
        self.process = await asyncio.create_subprocess_exec(
            "/usr/bin/chromium", *flags, "about:blank", stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL)
        self.session = aiohttp.ClientSession()
        try:
            self.socket = await asyncio.wait_for(self.connect(), 60)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def connect(self):
        port_file = os.path.join(self.profile, "DevToolsActivePort")
        while True:
            try:
                with open(port_file) as file:
                    port = file.readline().strip()
                async with self.session.get(f"http://127.0.0.1:{port}/json") as response:
                    pages = [target for target in await response.json() if target["type"] == "page"]
                return await self.session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0)
            except (OSError, IndexError, aiohttp.ClientError):
                await asyncio.sleep(0.2)

    async def __aexit__(self, *_):
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        await self.session.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    async def command(self, method, **parameters):
        self.serial += 1
        await self.socket.send_json({"id": self.serial, "method": method, "params": parameters})
        while True:
            message = await self.socket.receive_json()
            if message.get("id") == self.serial:
                return message.get("result", {})

    async def open(self, url):
        await self.command("Page.navigate", url=url)

    async def evaluate(self, expression):
        result = await self.command("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        return result.get("result", {}).get("value")

    async def until(self, what, expression, seconds=60):
        """Waits until an expression is true in the page; an error in it counts as false."""
        for _ in range(seconds * 5):
            if await self.evaluate(f"(() => {{ try {{ return !!({expression}); }} catch {{ return false; }} }})()"):
                return
            await asyncio.sleep(0.2)
        raise Failure(f"in Chromium: {what} did not happen")
