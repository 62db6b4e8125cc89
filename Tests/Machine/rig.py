"""The machine itself, without Parlor: what the other cases rely on."""

import shlex
import time

import numpy as np

from machine import booted
from screens import Failure, checksum, displayed_checksum, keep, screen


def connector(machine, driver):
    """The first connected connector's number and its first mode."""
    lines = machine.root(f"modetest -M {driver} -c").splitlines()
    for line in lines:
        fields = line.split()
        if len(fields) > 3 and fields[2] == "connected":
            identifier = fields[0]
        if line.strip().startswith("#0 "):
            return identifier, fields[1]
    raise Failure(f"{driver} has no connected monitor")


def mode_set(machine, driver, mode=None, options=""):
    """A stock program shows a test picture, as the ordinary user."""
    identifier, preferred = connector(machine, driver)
    return machine.program(f"exec modetest -M {driver} {options} -s {identifier}:{mode or preferred}")


def libraries():
    with booted("virtio") as machine:
        missing = machine.root("for program in /parlor/[a-z]*-trial /parlor/parlor; do ldd $program; done | grep 'not found' | sort -u; true")
        if missing:
            raise Failure(f"the packages of guest.sh lack libraries of the programs:\n{missing}")


def picture(display, driver):
    with booted(display) as machine:
        console = screen(machine)
        mode_set(machine, driver)
        deadline = time.monotonic() + 20
        while len(np.unique((shot := screen(machine)).reshape(-1, 3), axis=0)) < 10:
            if time.monotonic() > deadline:
                raise Failure(f"no test picture on the screen: {keep(shot, f'rig {display}')}")
            time.sleep(0.2)
        if shot.shape != (720, 1280, 3) or np.array_equal(shot, console):
            raise Failure(f"the screen has the shape {shot.shape}")


def vkms_checksum():
    with booted("vkms") as machine:
        mode_set(machine, "vkms", "640x480", "-F plain")
        grey = checksum(np.full((480, 640, 3), 0x77, np.uint8))
        machine.wait(lambda: displayed_checksum(machine) == grey, 20, "vkms shows a grey picture")


def monitors():
    with booted("virtio") as machine:
        status = "echo detect >/sys/class/drm/card0-Virtual-1/status; cat /sys/class/drm/card0-Virtual-1/status; head -n 1 /sys/class/drm/card0-Virtual-1/modes"
        seen = lambda: machine.root(status).split()
        machine.wait(lambda: seen() == ["connected", "1280x720"], 10, "the monitor it starts with")
        machine.unplug_monitor()
        machine.wait(lambda: seen() == ["disconnected"], 10, "no monitor")
        machine.monitor(1024, 768)
        machine.wait(lambda: seen() == ["connected", "1024x768"], 10, "another monitor")


def second_monitor():
    with booted("virtio-two") as machine:
        status = "for output in 1 2; do echo detect >/sys/class/drm/card0-Virtual-$output/status; cat /sys/class/drm/card0-Virtual-$output/status; done"
        seen = lambda: machine.root(status).split()
        machine.wait(lambda: seen() == ["connected", "disconnected"], 10, "one monitor")
        machine.monitor(800, 600, head=1)
        machine.wait(lambda: seen() == ["connected", "connected"], 10, "two monitors")
        machine.unplug_monitor()
        machine.wait(lambda: seen() == ["disconnected", "connected"], 10, "the second one alone")


# Says every event of an input device, as type, code and value.
LISTENER = """
import os, struct, sys
device = os.open(sys.argv[1], os.O_RDONLY)
print("listens", flush=True)
while True:
    for event in struct.iter_unpack("@qqHHi", os.read(device, 24 * 64)):
        print(*event[2:], flush=True)
"""


def device(machine, name):
    """The node of the input device whose name has this in it."""
    search = f'for node in /sys/class/input/event*; do grep -q "{name}" $node/device/name && echo /dev/input/$(basename $node); done; true'
    return machine.wait(lambda: machine.root(search).strip(), 20, f"the input device {name}")


def input_devices():
    names = "grep -h ^N: /proc/bus/input/devices"
    with booted("vkms") as machine:
        if "Keyboard" in machine.root(names):
            raise Failure("there is a keyboard before one is plugged in")
        machine.plug("usb-kbd", "keyboard")
        keyboard = machine.program(f"python3 -c {shlex.quote(LISTENER)} {device(machine, 'Keyboard')}")
        keyboard.line()
        machine.key("a", True)
        heard(keyboard, "1 30 1")
        machine.unplug("keyboard")
        machine.wait(lambda: "Keyboard" not in machine.root(names), 20, "it is unplugged")
        touchscreen = machine.touchscreen()
        touches = machine.program(f"python3 -c {shlex.quote(LISTENER)} {device(machine, 'Touchscreen')}")
        touches.line()
        touchscreen.down(1000, 2000)
        for event in ("1 330 1", "3 53 1000", "3 54 2000", "0 0 0"):
            heard(touches, event)
        touchscreen.up()
        heard(touches, "1 330 0")


def heard(listener, event):
    """Reads events up to this one."""
    while listener.line() != event:
        pass
