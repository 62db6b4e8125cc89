#!/usr/bin/env python3
"""How soon after the kernel's start the picture is there, as ratios to what else could run on the same base, all in one run.

    .build/venv/bin/python Tests/Image/boot_times.py [--starts N]

Parlor's first frame is held against the moment at which the same image without Parlor is up (systemd's `multi-user.target`), and the call page that is drawn against the same page
in Chromium under cage. Disks are those of boxes that have been started before. The machine is QEMU without KVM, alone on its host: what the figures are is of no account, only the ratios are.
"""

import argparse
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Rig"))

import builds
from failure import WORK
from machine import ImageMachine, flash
from site_on_host import Site

PORT = 18443
PAGE = (0xC0, 0x20, 0x60)
BOUNDS = {"first frame / bare multi-user": 0.8, "page drawn / cage with Chromium": 0.7}

OF_PARLOR = ["parlor", "parlor-page", "parlor-provision", "parlor-health", "parlor-display", "parlor-syslog"]
BARE = {**{f"/etc/systemd/system/{name}.service": None for name in OF_PARLOR}, "/etc/systemd/system/parlor-update.timer": None, "/etc/systemd/system/parlor-health.timer": None, "/usr/lib/parlor/first-files": ""}

KIOSK = """[Unit]
Description=Chromium under cage
Requires=seatd.service
After=seatd.service
[Service]
User=parlor
RuntimeDirectory=kiosk
RuntimeDirectoryMode=0700
StateDirectory=kiosk
Environment=XDG_RUNTIME_DIR=/run/kiosk HOME=/var/lib/kiosk LIBSEAT_BACKEND=seatd WLR_RENDERER=pixman WLR_LIBINPUT_NO_DEVICES=1
ExecStart=/usr/bin/cage -- /usr/bin/chromium --ozone-platform=wayland --kiosk --no-first-run --disable-gpu --no-sandbox --ignore-certificate-errors %s
Restart=always
"""

CONFIGURATION = """[call]
url = "%s"
load_deadline = 120
[tls]
ca_files = ["site.pem"]
[sound]
capture = "none"
playback = "none"
"""


def monotonic(machine, unit):
    """When a unit was up, in seconds from the kernel's start."""
    return machine.wait(lambda: int(machine.root(f"systemctl show --property ActiveEnterTimestampMonotonic --value {unit}") or 0), 120, f"{unit} is up") / 1e6


def page_drawn(machine):
    """When the page's colour is in the middle of the screen, in seconds from the kernel's start."""
    path = os.path.join(machine.folder, "screen.ppm")

    def is_drawn():
        machine.screen(path)
        with open(path, "rb") as file:
            _, size, _, pixels = file.read().split(b"\n", 3)
        width, height = map(int, size.split())
        at = 3 * (height // 2 * width + width // 2)
        return all(abs(a - b) < 4 for a, b in zip(pixels[at : at + 3], PAGE)) and time.monotonic()

    drawn = machine.wait(is_drawn, 600, "the page is drawn")
    machine.connect()
    # This machine's clock and the guest's run alike; what asking takes is less than what they are compared for.
    before = time.monotonic()
    uptime = float(machine.root("cut -d ' ' -f 1 /proc/uptime"))
    return drawn - (before - uptime)


class Subject:
    """A disk that was started once, and what is measured in each further start."""

    def __init__(self, name, image, measure, files=None):
        self.name, self.measure, self.figures = name, measure, []
        self.disk = os.path.join(WORK, f"times-{name.replace(' ', '-')}.img")
        flash(image, self.disk, files, size=3 << 30)

    def start(self, is_counted):
        with ImageMachine(disk=self.disk, key=builds.key(), memory=2048) as machine:
            figure = self.measure(machine)
            machine.connect()
            machine.root("systemctl is-system-running --wait", seconds=300, check=False)
            machine.root("sync; systemctl poweroff", check=False)
            machine.process.wait(120)
        if is_counted:
            self.figures.append(figure)
        print(f"  {self.name}: {figure:.1f} s{'' if is_counted else ', at the first start'}", flush=True)


def after(measure):
    def run(machine):
        machine.connect()
        return measure(machine)

    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=3, help="how many starts of each are counted (3)")
    options = parser.parse_args()
    os.makedirs(WORK, exist_ok=True)
    with Site(os.path.join(WORK, "times"), PORT) as site:
        url = f"{site.origin}/still.html"
        with open(site.authority) as file:
            authority = file.read()
        chromium = builds.debug_image("direct", name="chromium", packages=["cage", "chromium", "seatd", "xwayland"], overlay={
            **BARE, "/etc/systemd/system/kiosk.service": KIOSK % url,
            "/etc/systemd/system/multi-user.target.d/kiosk.conf": "[Unit]\nWants=kiosk.service\n",
            "/etc/systemd/system/seatd.service": "[Service]\nExecStart=/usr/sbin/seatd -g video\n",
        })
        subjects = [
            Subject("first frame", builds.debug_image("direct"), after(lambda machine: monotonic(machine, "parlor.service"))),
            Subject("bare multi-user", builds.debug_image("direct", name="bare", overlay=BARE), after(lambda machine: monotonic(machine, "multi-user.target"))),
            Subject("page drawn", builds.debug_image("page"), page_drawn, {"parlor.toml": CONFIGURATION % url, "site.pem": authority}),
            Subject("cage with Chromium", chromium, page_drawn),
        ]
        try:
            for count in range(options.starts + 1):
                for subject in subjects:
                    subject.start(is_counted=count > 0)
        finally:
            for subject in subjects:
                os.remove(subject.disk)
    figures = {subject.name: statistics.median(subject.figures) for subject in subjects}
    for name, bound in BOUNDS.items():
        one, other = name.split(" / ")
        ratio = figures[one] / figures[other]
        print(f"{name}: {figures[one]:.1f} s / {figures[other]:.1f} s = {ratio:.2f} of at most {bound}{'' if ratio <= bound else ', MISSED'}")


if __name__ == "__main__":
    main()
