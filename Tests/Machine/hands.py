"""What people do in front of the box: `input-trial` says what comes of the kernel's devices."""

import json

from machine import Program, booted
from screens import Failure

PATIENCE = 30  # seconds
# A tenth of the way from the left, and from the top, on a picture of 1,000 by 500 pixels that is not turned.
TENTH = 3277


class Hands:
    """`with booted("vkms") as machine: hands = Hands(machine, "--call-key 59")`"""

    def __init__(self, machine, options=""):
        self.machine = machine
        self.program: Program = machine.program(f"exec input-trial {options}")
        self.heard("ready")

    def heard(self, *lines):
        """These lines come next."""
        for wanted in lines:
            line = self.program.line(PATIENCE)
            if line != wanted:
                raise Failure(f"wanted '{wanted}', got '{line}'; {self.program.said()}")

    def until(self, wanted):
        """Passes over all lines before this one, and returns them."""
        before = []
        while (line := self.program.line(PATIENCE)) != wanted:
            before.append(line)
        return before

    def do(self, command):
        """A command after which nothing has come but its acknowledgement."""
        self.program.send(command)
        self.heard(f"did {command}")


def touches():
    """A finger is where it is on the picture, however that is turned; the first touch of a dark screen only wakes it."""
    with booted("vkms") as machine:
        hands = Hands(machine)
        screen = machine.touchscreen()
        hands.until("added touchscreen")
        # The picture stays 1,000 by 500: a turned monitor is 500 by 1,000.
        for angle, x, y in ((0, 100, 50), (90, 100, 450), (180, 900, 450), (270, 900, 50)):
            hands.do(f"rotate {angle}")
            screen.down(TENTH, TENTH)
            hands.heard(f"touch 0 down {x} {y}")
            screen.up()
            hands.heard("touch 0 up")
        hands.do("rotate 0")
        screen.down(TENTH, TENTH)
        screen.down(2 * TENTH, TENTH, finger=1)
        screen.move(TENTH, 2 * TENTH)
        screen.up(finger=1)
        screen.up()
        hands.heard("touch 0 down 100 50", "touch 1 down 200 50", "touch 0 move 100 100", "touch 1 up", "touch 0 up")
        hands.do("blank on")
        screen.down(TENTH, TENTH)
        hands.heard("wake")
        hands.do("blank off")
        screen.move(TENTH, 2 * TENTH)
        screen.down(TENTH, TENTH, finger=1)
        screen.up(finger=1)
        screen.up()
        screen.down(TENTH, TENTH)
        hands.heard("touch 0 down 100 50")
        # Another virtual terminal is shown, and this one again.
        hands.program.send("suspend")
        if "touch 0 cancel" not in hands.until("did suspend") + hands.until("removed") + hands.until("removed"):
            raise Failure("the finger on a screen that was let go of stays down")
        hands.program.send("resume")
        hands.until("added touchscreen")
        screen.up()
        screen.down(TENTH, TENTH)
        hands.heard("touch 0 down 100 50")
        screen.program.kill()
        hands.heard("touch 0 cancel", "removed")


def devices():
    """Keyboards and pointers come and go at any time; a power button is no keyboard."""
    with booted("vkms") as machine:
        hands = Hands(machine, "--call-key 59")
        if hands.until("added "):
            raise Failure("there is more than a power button")
        machine.plug("usb-kbd", "keyboard")
        hands.heard("keyboard true", "added keyboard")
        for key in ("a", "f1", "volumeup"):
            machine.key(key, True)
            machine.key(key, False)
        machine.key("b", True)
        hands.heard("key 30 true", "key 30 false", "call", "volume up", "key 48 true")
        machine.unplug("keyboard")
        hands.heard("key 48 false", "keyboard false", "removed")
        machine.plug("usb-tablet", "tablet")
        hands.heard("added pointer")
        machine.pointer(TENTH, TENTH)
        machine.button(True)
        hands.heard("pointer 100 50", "button 272 true")
        machine.unplug("tablet")
        hands.heard("button 272 false", "removed")
        machine.plug("usb-mouse", "mouse")
        hands.heard("added pointer")
        move = lambda axis, value: {"type": "rel", "data": {"axis": axis, "value": value}}
        machine.control("input-send-event", events=[move("x", 2000), move("y", -2000)])
        # The mouse tells of a long way in pieces.
        hands.until("pointer 1000 0")
        for wheel, scroll in (("wheel-down", "scroll 0 60"), ("wheel-up", "scroll 0 -60")):
            machine.button(True, wheel)
            machine.button(False, wheel)
            if set(hands.until(scroll)) - {"pointer 1000 0"}:
                raise Failure("the pointer left the corner")


def permissions():
    """A device that may not be opened, and udev, are waited for; the log says what is missing."""
    with booted("vkms") as machine:
        machine.root("chmod 0 /dev/input/event*")
        hands = Hands(machine)
        machine.wait(lambda: "belong to the group input" in hands.program.said(), PATIENCE, "the missing permission is in the log")
        machine.root("chmod 660 /dev/input/event*")
        hands.heard("added ")
        hands.program.kill()
        machine.root("systemctl stop systemd-udevd.service systemd-udevd-control.socket systemd-udevd-kernel.socket; rm -f /run/udev/control")
        hands = Hands(machine)
        machine.wait(lambda: "udev does not run" in hands.program.said(), PATIENCE, "the missing udev is in the log")
        machine.root("systemctl start systemd-udevd-control.socket systemd-udevd-kernel.socket systemd-udevd.service")
        hands.heard("added ")
        screen = machine.touchscreen()
        hands.heard("added touchscreen")
        screen.down(TENTH, TENTH)
        hands.heard("touch 0 down 100 50")


def button():
    """A button on a GPIO line, however late its chip comes, however its contact bounces, and when the chip goes."""
    with booted("vkms") as machine:
        hands = Hands(machine, "--gpio /dev/gpiochip0:0")

        def logged(text):
            machine.wait(lambda: text in hands.program.said(), PATIENCE, f"the log says '{text}'")

        def press(*levels):
            machine.root("".join(f"echo {level} >/sys/module/test_button/parameters/pressed;" for level in levels))

        logged("there is no such chip")
        # A button that is stuck when the box starts has not been pressed.
        machine.root("modprobe test_button pressed=1")
        logged("no permission")
        machine.root("chgrp input /dev/gpiochip0; chmod 660 /dev/gpiochip0")
        logged("the call button is line 0")
        press(0)
        hands.until("added ")
        press(1)
        hands.heard("call")
        press(0, 1, 0, 1, 0)
        hands.do("blank on")
        press(1)
        hands.heard("wake", "call")
        # It ends here: this kernel gives a chip that was unplugged in use another number when it is back.
        machine.root("echo 0 >/sys/module/test_button/parameters/plugged")
        logged("the line is lost")
        hands.do("blank off")


BOX = """
[call]
whip = "http://127.0.0.1:9/whip"
start = "touch"
key = "KEY_F1"
[[camera]]
device = "synthetic"
[sound]
capture = "synthetic"
playback = "none"
[logs]
level = "info"
"""


def box():
    """`parlor run` on a display: a touch starts the call, the key ends it and starts it, volume keys change the volume, a touch lights a dark screen."""
    with booted("virtio") as machine:
        machine.root(f"cat >/run/parlor/parlor.toml <<'END'\n{BOX}\nEND")
        machine.parlor("mkdir /run/parlor/state")
        run = "exec parlor run --stage kms --config /run/parlor/parlor.toml --state /run/parlor/state --runtime /run/parlor"
        program = machine.program(run)

        def status():
            text = machine.parlor("parlor status --json --runtime /run/parlor", check=False)
            return json.loads(text) if text.startswith("{") else {}

        def until(what, condition):
            machine.wait(lambda: condition(status()), PATIENCE, what)

        calls = lambda answer: bool(answer.get("calls"))
        until("the box is up", lambda answer: answer.get("state") == "ready" and not calls(answer))
        screen = machine.touchscreen()
        machine.plug("usb-kbd", "keyboard")
        for device in ("Touchscreen", "Keyboard"):
            machine.wait(lambda: device in program.said(), PATIENCE, f"the box sees the {device}")

        def touch():
            screen.down(TENTH, TENTH)
            screen.up()

        def key(name):
            machine.key(name, True)
            machine.key(name, False)

        touch()
        until("a touch starts the call", calls)
        key("f1")
        until("the key ends the call", lambda answer: not calls(answer))
        key("f1")
        until("the key starts the call", calls)
        key("volumedown")
        machine.wait(lambda: "95 %" in machine.parlor("parlor volume --runtime /run/parlor", check=False), PATIENCE, "a key turns the volume down")
        machine.parlor("parlor call hangup --runtime /run/parlor; parlor blank on --runtime /run/parlor")
        until("the screen is dark", lambda answer: answer["stage"]["blanked"])
        touch()
        until("the first touch lights the screen", lambda answer: not answer["stage"]["blanked"])
        if calls(status()):
            raise Failure("the touch that lit the screen also started a call")
