"""`parlor run` as its systemd unit starts it: an ordinary user, who owns the display and keeps the console off it."""

import json
import os
import time

import numpy as np

from machine import ROOT, Late, booted
from screens import Failure, differences, keep, read, screen

PATIENCE = 60

CONFIGURATION = """
[call]
whip = "https://127.0.0.1:9/whip"
# No countdown, for the same reason as below.
start = "manual"

# A self-view that stands still, so that a picture and the screen can be compared one after the other.
[[camera]]
device = "file:/etc/still.y4m"
width = 640
height = 360
rate = 30

[sound]
capture = "none"
playback = "none"

[display]
%s
"""

# The binary is elsewhere, and the test decides when it starts again.
DIFFERENCES = """
[Service]
ExecStart=
ExecStart=/parlor/parlor run --stage kms --config /etc/parlor.toml
Restart=no
"""


class Service:
    def __init__(self, machine, display=""):
        self.machine = machine
        machine.put(os.path.join(ROOT, "Config/systemd/parlor.service"), "/etc/systemd/system/parlor.service")
        machine.write("/etc/systemd/system/parlor.service.d/test.conf", DIFFERENCES)
        machine.write("/etc/parlor.toml", CONFIGURATION % display)
        ramp = bytes(range(0, 240, 3)) * 8 * 360
        machine.write("/etc/still.y4m", b"YUV4MPEG2 W640 H360 F30:1 Ip A1:1 C420jpeg\nFRAME\n" + ramp + bytes([90]) * 57600 + bytes([160]) * 57600)
        machine.root("systemctl daemon-reload")

    def start(self):
        if "failed" in self.machine.root("systemctl start parlor || echo failed", PATIENCE):
            raise Failure(f"the unit does not start: {self.journal()}")
        user = self.machine.root(f"stat -c %U /proc/{self.process()}").strip()
        if user != "parlor":
            raise Failure(f"it runs as {user}")

    def process(self):
        return int(self.machine.root("systemctl show --property MainPID --value parlor"))

    def journal(self):
        return self.machine.root("journalctl --unit parlor --no-pager --lines 30 --output cat")

    def status(self):
        return json.loads(self.machine.root("/parlor/parlor status --json"))

    def screenshot(self):
        self.machine.root("/parlor/parlor screenshot /run/screenshot.png")
        path = os.path.join(self.machine.folder, "screenshot.png")
        with open(path, "wb") as file:
            file.write(self.machine.get("/run/screenshot.png"))
        return read(path)

    def shown(self, name):
        """Waits until the screen and `parlor screenshot` are the same picture."""
        deadline = time.monotonic() + PATIENCE
        while True:
            picture, seen = self.screenshot(), screen(self.machine)
            problem = differences(seen, picture)
            if not problem:
                return picture
            if time.monotonic() > deadline:
                raise Failure(f"{name}: {problem}; {keep(picture, f'{name} expected')}, {keep(seen, f'{name} found')}; {self.journal()}")
            time.sleep(0.3)


def console():
    """What stands on the console is never seen: not when parlor starts, not when it is killed, not when it starts again."""
    with booted("virtio") as machine:
        service = Service(machine)
        machine.root("for line in $(seq 60); do echo 'THE CONSOLE SHOWS THROUGH. THE CONSOLE SHOWS THROUGH.' >/dev/tty1; done")
        console = screen(machine)
        letters = console.max(axis=2) > 100
        if letters.sum() < 10_000:
            raise Failure(f"nothing stands on the console: {keep(console, 'console')}")

        def watch(seconds, when):
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline:
                seen = screen(machine)
                if seen.shape == console.shape and (seen == console).all(axis=2)[letters].mean() > 0.5:
                    raise Failure(f"the console shows through {when}: {keep(seen, f'console {when}')}")

        service.start()
        picture = service.shown("started")
        if len(np.unique(picture.reshape(-1, 3), axis=0)) < 3:
            raise Failure(f"there is nothing to be seen: {keep(picture, 'started')}")
        watch(1, "while it runs")
        machine.root(f"kill -KILL {service.process()}")
        machine.wait(lambda: service.process() == 0, 20, "it is gone")
        watch(2, "after it was killed")
        service.start()
        watch(1, "after it was started again")
        service.shown("started again")
        machine.root("systemctl restart parlor", PATIENCE)
        watch(1, "after a restart")
        service.shown("restarted")


def status():
    """Operators see what is on the display, or why nothing is."""
    with booted("virtio") as machine:
        service = Service(machine, 'connector = "HDMI-A-9"')
        service.start()
        try:
            machine.wait(lambda: "display.connector" in json.dumps(service.status()), PATIENCE, "the status has the code display.connector")
        except Late:
            raise Failure(f"a missing connector is not in the status: {service.status()}; {service.journal()}") from None
        machine.root("systemctl stop parlor", PATIENCE)
        service = Service(machine, 'connector = "Virtual-1"\nmode = "1024x768"\nrotate = 90')
        service.start()
        found = service.status()["stage"]
        if found["output"] != "Virtual-1" or not found["mode"].startswith("1024x768") or found["rotation"] != 90:
            raise Failure(f"the status says {found}")
        picture = service.screenshot()
        if picture.shape != (1024, 768, 3):
            raise Failure(f"the screenshot is not upright: {picture.shape}")
