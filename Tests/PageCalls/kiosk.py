"""`parlor run` with a call page on the headless stage, used as a visitor and an operator would: taps, typed text, status, screenshots."""

import asyncio
import json
import os
import signal
import sys

import av
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Interop"))
from peers import ROOT, Failure, parlor  # noqa: E402, F401
from synthetic import TimeCode  # noqa: E402

CONFIGURATION = """
[call]
url = "{url}"
load_deadline = {deadline}
allowed_origins = [{allowed}]

[page]
dialog_timeout = {dialog_timeout}

{grants}

[display]
mode = "1280x720@60"

[[camera]]
device = "synthetic"
width = 640
height = 360
rate = 30

[sound]
capture = "synthetic"
playback = "none"

[tls]
ca_files = [{authorities}]

[access]
remote_input = true
"""

GRANT = """
[[grants]]
origin = "{origin}"
camera = true
microphone = true
"""


class Kiosk:
    """`async with Kiosk(directory, url=…) as kiosk`: the box is up; its page may still be loading."""

    def __init__(self, directory, url, granted=(), allowed=(), authorities=(), deadline=15, dialog_timeout=30):
        self.directory = directory

        def strings(values):
            return ", ".join(f'"{value}"' for value in values)

        self.configuration = CONFIGURATION.format(
            url=url, deadline=deadline, dialog_timeout=dialog_timeout, allowed=strings(allowed), authorities=strings(authorities),
            grants="".join(GRANT.format(origin=origin) for origin in granted))

    def path(self, name):
        return os.path.join(self.directory, name)

    async def __aenter__(self):
        for folder in ("run", "state"):
            os.makedirs(self.path(folder), mode=0o700, exist_ok=True)
        with open(self.path("parlor.toml"), "w") as file:
            file.write(self.configuration)
        with open(self.path("parlor.log"), "ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                parlor(), "run", "--config", self.path("parlor.toml"), "--stage", "headless:1280x720", "--state", self.path("state"),
                "--runtime", self.path("run"), stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        return self

    async def __aexit__(self, *_):
        if self.process.returncode is None:
            self.process.terminate()
            try:
                await asyncio.wait_for(self.process.wait(), 20)
            except asyncio.TimeoutError:
                pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        await self.process.wait()

    # What an operator does

    async def verb(self, *arguments):
        """Runs one verb; returns its exit code and what it wrote."""
        process = await asyncio.create_subprocess_exec(
            parlor(), *arguments, "--runtime", self.path("run"), stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT)
        output, _ = await asyncio.wait_for(process.communicate(), 60)
        return process.returncode, output

    async def must(self, *arguments):
        code, output = await self.verb(*arguments)
        if code != 0:
            raise Failure(f"parlor {' '.join(arguments)} ended with {code}: {output.decode(errors='replace')}")
        return output

    async def status(self):
        code, output = await self.verb("status", "--json")
        return json.loads(output) if code == 0 else {}

    async def wait(self, what, test, seconds=60):
        """Waits until `test` is true of the status; returns that status."""
        status = {}
        for _ in range(seconds * 5):
            if self.process.returncode is not None:
                raise Failure(f"{what}: parlor run ended with {self.process.returncode}; {self.tail()}")
            status = await self.status()
            if status and test(status):
                return status
            await asyncio.sleep(0.2)
        shown = {key: status.get(key) for key in ("state", "code", "reason", "page")} if status else "no answer"
        raise Failure(f"{what}: status is {shown}; {self.tail()}")

    async def title(self, start, seconds=60):
        """Waits until the page's title begins with `start`; returns the title. Any title that tells of a failure ends the wait."""
        def told(status):
            title = (status.get("page") or {}).get("title") or ""
            return title.startswith(start) or "failed" in title
        status = await self.wait(f"a page title that begins with '{start}'", told, seconds)
        title = status["page"]["title"]
        if not title.startswith(start):
            raise Failure(f"the page says: {title}; {self.tail()}")
        return title

    # What a visitor does and sees

    async def tap(self, x, y):
        await self.must("tap", str(x), str(y))

    async def button(self, index):
        """Taps one of the sample pages' buttons, counted from 0."""
        await self.tap(20 + index * 180 + 80, 44)

    async def picture(self):
        """The screen: red, green and blue, one byte each."""
        path = self.path("screen.png")
        await self.must("screenshot", path)
        with av.open(path) as container:
            return next(container.decode(video=0)).to_ndarray(format="rgb24")

    async def sees(self, what, find, seconds=60):
        """Waits until `find` finds something in the picture; returns it."""
        for _ in range(seconds * 2):
            if found := find(await self.picture()):
                return found
            await asyncio.sleep(0.5)
        raise Failure(f"{what} is not to be seen; see {self.path('screen.png')}; {self.tail()}")

    async def time_code(self, x, y, width, height):
        """The synthetic camera's time code in a video that stands there; None when there is none to be read."""
        return TimeCode.read(luma((await self.picture())[y:y + height, x:x + width]))

    async def moving_video(self, x, y, width, height, what, seconds=30):
        """Waits until the synthetic camera's picture stands there and goes on. A browser's camera is a file that begins again, at a lower number."""
        first = None
        for _ in range(seconds * 2):
            code = await self.time_code(x, y, width, height)
            if code is not None and first is not None and code.index != first.index:
                return
            first = first or code
            await asyncio.sleep(0.5)
        raise Failure(f"{what}: no moving picture of the camera at {x},{y} {width}x{height}, {'none' if first is None else 'a frozen one'}; "
                      f"see {self.path('screen.png')}; {self.tail()}")

    async def video_near(self, x, y, width, what, seconds=30):
        """Waits for the camera's moving picture about there; its place may be some pixels off."""
        for _ in range(seconds):
            picture = luma(await self.picture())
            for wide in range(width - 8, width + 9, 4):
                for top in range(y - 16, y + 17, 4):
                    for left in range(max(0, x - 16), x + 17, 4):
                        if TimeCode.read(picture[top:top + wide * 9 // 16, left:left + wide]) is not None:
                            return await self.moving_video(left, top, wide, wide * 9 // 16, what)
            await asyncio.sleep(1)
        raise Failure(f"{what}: no picture of the camera about {x},{y}; see {self.path('screen.png')}; {self.tail()}")

    def tail(self):
        with open(self.path("parlor.log"), errors="replace") as file:
            return "the log ends: " + file.read()[-1500:]


def luma(picture):
    """As BT.601 makes luma of RGB, in the limited range that video has."""
    red, green, blue = np.moveaxis(picture.astype(np.float32), 2, 0)
    return np.round(16 + (65.738 * red + 129.057 * green + 25.064 * blue) / 256).astype(np.uint8)
