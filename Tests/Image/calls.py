"""The whole of it: from a flashed disk and a file on its partition to a call, and back to one by an operator's word."""

import json
import os
import time

import av
import numpy as np

import builds
from boots import expect, hardened
from failure import WORK, Failure
from machine import ImageMachine, Late, flash, read_partition
from operators import Operator
from site_on_host import Site

from synthetic import Y4M, TimeCode

CONFIGURATION = """[identity]
name = "Reception"
[call]
url = "{origin}/call.html"
load_deadline = 120
[[grants]]
origin = "{origin}"
camera = true
microphone = true
[[camera]]
device = "synthetic"
width = 320
height = 180
rate = 10
[sound]
capture = "synthetic"
playback = "none"
# There is no room here, and an emulated processor has other things to do.
echo_cancellation = false
noise_suppression = false
automatic_gain = false
[tls]
ca_files = ["site.pem"]
"""

# Where the page shows the browser's picture, on a screen of 1280 x 720.
REMOTE = (slice(60, 420), slice(320, 960))


def title(operator):
    return (operator.status().get("page") or {}).get("title") or ""


def connected(machine, operator, site, number):
    """Waits for the call with this number: the page says that it is connected, and each sees the other's moving picture."""

    def says():
        if (now := title(operator)).startswith("failed"):
            raise Failure(f"the page says: {now}")
        return len(site.calls) >= number and now == "connected"

    try:
        machine.wait(says, 300, f"call {number} is connected")
    except Late as late:
        machine.screen(os.path.join(WORK, "not-connected.png"))
        status = {key: value for key, value in operator.status().items() if key in ("state", "code", "reason", "page")}
        raise Failure(f"{late}: {status}; {len(site.calls)} calls came in; {operator.run('logs --lines 30').stdout.decode()}") from None
    call = site.calls[number - 1]
    moving(machine, f"the box's picture, as the browser of call {number} got it", lambda: sent(call))
    moving(machine, f"the browser's picture, on the box's screen in call {number}", lambda: shown(operator, os.path.join(site.folder, "screen.png")))


def moving(machine, what, read):
    """Waits until two time codes that differ have been read."""
    found = set()

    def two():
        if code := read():
            found.add(code.index)
        return len(found) > 1

    try:
        machine.wait(two, 120, what)
    except Late:
        raise Failure(f"{what}: {'frozen' if found else 'none'}") from None


def sent(call):
    """The time code of the last picture that the browser recorded."""
    path = f"{call.log}.y4m"
    if not os.path.exists(path) or not (pictures := Y4M(path)).frames:
        return None
    return TimeCode.read(pictures.luma(len(pictures) - 1))


def shown(operator, path):
    """The time code in the browser's picture on the box's screen."""
    with open(path, "wb") as file:
        file.write(operator.run("screenshot -").stdout)
    with av.open(path) as container:
        red, green, blue = np.moveaxis(next(container.decode(video=0)).to_ndarray(format="rgb24")[REMOTE].astype(np.float32), 2, 0)
    return TimeCode.read(np.round(16 + (65.738 * red + 129.057 * green + 25.064 * blue) / 256).astype(np.uint8))


def from_flash():
    """A flashed disk whose partition somebody has put two files on: nothing else is done by hand until a call runs; then an operator restarts page and app from afar."""
    with open(builds.key() + ".pub") as file:
        key = file.read().strip() + " anna@example\n"
    image = builds.debug_image("page")
    disk = os.path.join(os.path.dirname(image), "call.disk.img")
    with Site(os.path.join(WORK, "call")) as site:
        with open(site.authority) as file:
            authority = file.read()
        flash(image, disk, {"parlor.toml": CONFIGURATION.format(origin=site.origin), "authorized_keys": key, "site.pem": authority})
        try:
            with ImageMachine(image, disk=disk, key=builds.key(), memory=2048) as machine:
                started = time.monotonic()
                operator = Operator(machine)
                connected(machine, operator, site, 1)
                print(f"      from power to both pictures: {time.monotonic() - started:.0f} s", flush=True)
                machine.screen(os.path.join(WORK, "call.png"))
                expect("the name", operator.status().get("name"), "Reception")
                if "Emoji" not in machine.root(f"fc-list :charset={ord('👍'):x}"):
                    raise Failure("pages have no font for what people send each other")
                hardened(machine, "parlor.service", "parlor-page.service")
                operator("restart page")
                connected(machine, operator, site, 2)
                operator("restart app")
                connected(machine, operator, site, 3)
            report = read_partition(disk, "parlor-report.txt").decode()
            if "Box:     Reception" not in report or "APPLIED" not in report:
                raise Failure(f"the report on the partition: {report}")
        finally:
            os.remove(disk)
