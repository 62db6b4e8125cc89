"""A program that cannot be kept running: the machine starts anew, and at last a screen says so. SSH depends on none of it."""

import os
import subprocess

from boots import expect, shown
from failure import WORK, Failure
from network import box

# Nobody to call: the screen says so, in a notice that can be told from a rescue.
BOX = '[identity]\nname = "Lobby"\n'

RESCUES = "/var/lib/parlor-system/rescues"


def text_is_shown(machine, picture):
    """Whether the screen has light text on black, and nothing else."""
    path = os.path.join(machine.folder, "screen.ppm")
    machine.screen(path)
    with open(path, "rb") as file:
        pixels = file.read().split(b"\n", 3)[3]
    light = sum(byte > 120 for byte in pixels[::3])
    dark = sum(byte < 16 for byte in pixels[::3])
    machine.screen(picture)
    return light * 3 > 3000 and dark * 3 > len(pixels) * 0.9


def rescued(machine, seconds):
    """Waits for the screen that says so."""
    machine.wait(lambda: machine.root("systemctl is-active parlor-rescue.service", check=False).strip() == "active", seconds, "the rescue begins")
    machine.wait(lambda: "cannot be used at the moment" in machine.root("cat /dev/vcs1"), 60, "the console says so")
    picture = os.path.join(WORK, "rescue.png")
    machine.wait(lambda: text_is_shown(machine, picture), 60, f"it is on the screen: {picture}")
    text = machine.root("cat /dev/vcs1")
    if "Lobby" not in text or "10.0.2.15" not in text:
        raise Failure(f"the screen does not say which box this is, and where: {text}")


def looked_after(machine, operator):
    """What an operator still has of it."""
    operator("status", code=69)
    operator("logs").index("parlor could not be kept running")
    if not operator.run("support-bundle -").stdout.startswith(b"\x1f\x8b"):
        raise Failure("there is no support bundle")


def screen():
    """A program that crashes again and again, after all starts of the machine: the screen says so, operators get in, and the picture is back with the program."""
    with box(BOX) as (machine, operator):
        shown(machine)
        # As if three starts had not helped.
        machine.root(f"systemctl stop parlor-health.timer parlor-health.service; echo 3 >{RESCUES}")
        machine.root(
            """mkdir -p /run/systemd/system/parlor.service.d
            printf '[Service]\\nExecStart=\\nExecStart=/bin/sh -c "kill -SEGV $$$$"\\n' >/run/systemd/system/parlor.service.d/broken.conf
            systemctl daemon-reload
            systemctl kill --signal KILL parlor.service"""
        )
        rescued(machine, 300)
        looked_after(machine, operator)
        machine.root("rm -r /run/systemd/system/parlor.service.d; systemctl daemon-reload")
        operator("restart app")
        shown(machine)
        expect("the rescue", machine.root("systemctl is-active parlor-rescue.service", check=False).strip(), "inactive")


def current_start(machine):
    """What tells the machine's starts apart, and how many of them did not help so far; None while it cannot be asked."""
    try:
        words = machine.root(f"cat /proc/sys/kernel/random/boot_id; cat {RESCUES} 2>/dev/null || echo 0", seconds=20, check=False).split()
    except subprocess.TimeoutExpired:
        # It goes down at this very moment.
        return None
    return (words[0], int(words[1])) if len(words) == 2 and words[1].isdigit() else None


def starts():
    """What no start of the machine mends is tried three times; the box is never dead, and forgets about it when it is well again."""
    with box(BOX) as (machine, operator):
        shown(machine)
        seen = [current_start(machine)[0]]
        # The program's folder is no folder: it cannot be started at all, whenever the machine is.
        machine.root("systemctl stop parlor-health.timer parlor-health.service; systemctl kill --signal KILL parlor.service; rm -rf /var/lib/parlor; touch /var/lib/parlor; sync")
        for count in (1, 2, 3):
            one = machine.wait(lambda: (it := current_start(machine)) and it[0] not in seen and it, 900, f"the machine starts anew, {count} of 3")
            expect("what is counted", one[1], count)
            seen.append(one[0])
        rescued(machine, 300)
        looked_after(machine, operator)
        machine.root("rm /var/lib/parlor")
        operator("restart app")
        shown(machine)
        machine.root("systemctl restart parlor-health.service")
        machine.wait(lambda: "gone" in machine.root(f"ls {RESCUES} 2>/dev/null || echo gone"), 180, "the box forgets about it")
