"""`parlor run` with a configuration of its own, asked over its control socket, as an operator would."""

import asyncio
import json
import os
import signal

import av
import numpy as np

from peers import Failure, parlor

CONFIGURATION = """
[call]
whip = "{whip}"
{whep}
token = "{token}"
codec = "{codec}"

[display]
mode = "640x360@60"
self_view = "off"

[notices]
camera_mark = false

[[camera]]
device = "file:{camera}"
width = 640
height = 360
rate = 30

[sound]
capture = "file:{microphone}"
playback = "file:{playback}"

[tls]
ca_files = [{authorities}]
"""


class ParlorRun:
    """`async with ParlorRun(directory, …) as box`: the program runs with a headless stage until the end."""

    def __init__(self, directory, **settings):
        self.directory, self.settings = directory, {"whep": "", "authorities": "", "token": "s3cret", "codec": "VP8"} | settings

    def path(self, name):
        return os.path.join(self.directory, name)

    async def __aenter__(self):
        os.makedirs(self.path("run"), exist_ok=True)
        os.makedirs(self.path("state"), exist_ok=True)
        with open(self.path("parlor.toml"), "w") as file:
            file.write(CONFIGURATION.format(playback=self.path("heard.wav"), **self.settings))
        with open(self.path("parlor.log"), "wb") as log:
            self.process = await asyncio.create_subprocess_exec(
                parlor(), "run", "--config", self.path("parlor.toml"), "--stage", "headless:640x360", "--state", self.path("state"),
                "--runtime", self.path("run"), stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        return self

    async def __aexit__(self, *_):
        if self.process.returncode is None:
            self.process.terminate()
            try:
                await asyncio.wait_for(self.process.wait(), 5)
            except asyncio.TimeoutError:
                os.killpg(self.process.pid, signal.SIGKILL)
                await self.process.wait()

    async def verb(self, *arguments):
        """Runs one verb against the running program; returns its exit code and its standard output."""
        process = await asyncio.create_subprocess_exec(
            parlor(), *arguments, "--runtime", self.path("run"), stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL)
        try:
            output, _ = await asyncio.wait_for(process.communicate(), 5)
        except asyncio.TimeoutError:
            process.kill()
            raise Failure(f"parlor {' '.join(arguments)} hangs") from None
        return process.returncode, output

    async def wait_for(self, what, seconds, **wanted):
        """Waits until `parlor status` says all of `wanted`; returns the status."""
        status = None
        for _ in range(int(seconds * 10)):
            if self.process.returncode is not None:
                raise Failure(f"parlor run ended with {self.process.returncode}: {self.tail()}")
            code, output = await self.verb("status", "--json")
            if code == 0:
                status = json.loads(output)
                if all(status.get(key) == value for key, value in wanted.items()):
                    return status
            await asyncio.sleep(0.1)
        shown = {key: status.get(key) for key in ("state", "code", "reason")} if status else "no answer"
        raise Failure(f"{what}: status is {shown}: {self.tail()}")

    async def screenshot(self):
        """The screen's luma, as an array."""
        code, _ = await self.verb("screenshot", self.path("screen.png"))
        if code != 0:
            raise Failure(f"parlor screenshot ended with {code}")
        with av.open(self.path("screen.png")) as container:
            red, green, blue = np.moveaxis(next(container.decode(video=0)).to_ndarray(format="rgb24").astype(np.float32), 2, 0)
        # As BT.601 makes luma of RGB, in the limited range that video has.
        return np.round(16 + (65.738 * red + 129.057 * green + 25.064 * blue) / 256).astype(np.uint8)

    def tail(self):
        with open(self.path("parlor.log"), errors="replace") as file:
            return file.read()[-1000:]
