"""`stage-trial`, the stage alone on the machine's display, driven line by line; and what a user would see of it."""

import os
import shlex
import time

import numpy as np

from machine import Late, Program
from screens import Failure, checksum, differences, displayed_checksum, keep, read, screen, turned

PATIENCE = 30  # seconds; nothing that is waited for takes long when the machine has the processor to itself


class Trial:
    """`with booted(…) as machine: stage = Trial(machine, "--rotate 90")`"""

    def __init__(self, machine, options=""):
        self.machine = machine
        self.program: Program = machine.program(f"exec stage-trial --stage kms {options}")

    def ask(self, command):
        answer = self.program.ask(command, PATIENCE)
        if "error" in answer:
            raise Failure(f"'{command}' was answered with: {answer['error']}")
        return answer

    def status(self):
        return self.ask("status")

    def until(self, what, **wanted):
        """Waits until the status has these values."""
        seen = {}

        def reached():
            seen.update(self.status())
            return all(seen.get(name) == value for name, value in wanted.items()) and seen

        try:
            return self.machine.wait(reached, PATIENCE, what)
        except Late:
            raise Failure(f"{what}: wanted {wanted}, got {seen}; {self.program.said()}") from None

    def picture(self, name):
        """The upright picture, as the processor alone composes it."""
        path = f"/run/parlor/{shlex.quote(name.replace(' ', '-'))}.png"
        self.ask(f"picture {path}")
        local = os.path.join(self.machine.folder, "picture.png")
        with open(local, "wb") as file:
            file.write(self.machine.get(path))
        return read(local)

    def shown(self, name, rotation=0, head=0):
        """Waits until the display shows the present picture, pixel by pixel, and returns it. A picture of one colour proves little: callers show another."""
        deadline = time.monotonic() + PATIENCE
        while True:
            # What has just changed may not be in the picture yet: both are looked at again.
            picture = np.ascontiguousarray(turned(self.picture(name), rotation))
            if self.machine.display.startswith("vkms"):
                displayed, expected = displayed_checksum(self.machine), checksum(picture)
                problem = None if displayed == expected else f"vkms shows {displayed or 0:08x}, the picture is {expected:08x}"
            else:
                seen = screen(self.machine, head)
                problem = differences(seen, picture)
            if not problem:
                return picture
            if time.monotonic() > deadline:
                break
            time.sleep(0.1)
        files = [keep(picture, f"{name} expected")]
        if not self.machine.display.startswith("vkms"):
            files.append(keep(seen, f"{name} found"))
        raise Failure(f"{name}: {problem}; {', '.join(files)}")

    def possessions(self):
        """What the process holds of the kernel's: open descriptors, mappings of the card, framebuffers of the card."""
        counts = self.machine.root(
            f"ls /proc/{self.program.identifier}/fd | wc -l; grep -c /dev/dri /proc/{self.program.identifier}/maps;"
            "grep -c '^framebuffer\\[' /sys/kernel/debug/dri/0/framebuffer; true"
        )
        return dict(zip(("descriptors", "mappings", "framebuffers"), map(int, counts.split()), strict=True))
