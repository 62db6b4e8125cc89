"""Monitors that come, go and change, at any moment (REPORTS.md, Display)."""

import random
import time

import numpy as np

from machine import Late, booted
from screens import Failure, keep, screen
from trial import PATIENCE, Trial


def prepared(machine, options=""):
    stage = Trial(machine, options)
    stage.ask("scene call")
    return stage


def mode_is(stage, width, height, what):
    def size():
        return stage.status()["mode"].split("@")[0] == f"{width}x{height}"

    try:
        stage.machine.wait(size, 30, what)
    except Late:
        raise Failure(f"{what}: the mode is not {width}x{height}; status {stage.status()}; {stage.program.said()}") from None


def unplugged_and_plugged():
    with booted("virtio") as machine:
        stage = prepared(machine)
        mode_is(stage, 1280, 720, "the preferred mode at the start")
        stage.shown("before it is unplugged")
        for _ in range(3):
            machine.unplug_monitor()
            stage.until("no monitor", output="")
            machine.monitor(1280, 720)
            mode_is(stage, 1280, 720, "the preferred mode after it was plugged in again")
            stage.shown("plugged in again")
        if not stage.program.running():
            raise Failure(f"the stage ended: {stage.program.said()}")


def plugged_in_later():
    with booted("virtio") as machine:
        machine.unplug_monitor()
        machine.wait(lambda: "disconnected" in machine.root("cat /sys/class/drm/card0-Virtual-1/status"), 20, "no monitor")
        stage = prepared(machine)
        stage.until("it runs without a monitor", output="")
        machine.monitor(1024, 768)
        mode_is(stage, 1024, 768, "the mode of the monitor that came later")
        stage.shown("plugged in later")


def another_monitor():
    """The monitor's description is read again, not remembered."""
    with booted("virtio") as machine:
        stage = prepared(machine)
        for width, height in ((1024, 768), (1920, 1080), (1280, 720)):
            machine.monitor(width, height)
            mode_is(stage, width, height, "the preferred mode of another monitor")
            stage.ask("scene page")
            stage.shown(f"{width}x{height}")


def without_description():
    """A monitor without EDID: 1024x768 is what the kernel guesses; the site knows better."""
    with booted("bochs-no-edid") as machine:
        stage = prepared(machine, "--mode 1280x720")
        mode_is(stage, 1280, 720, "the configured mode")
        stage.shown("the configured mode")


def absent_connector():
    with booted("virtio") as machine:
        stage = prepared(machine, "--connector HDMI-A-9")
        problem = stage.status()["problem"]
        if "HDMI-A-9" not in problem or "Virtual-1" not in problem:
            raise Failure(f"nothing says which connector is missing and which there is: {stage.status()}; {stage.program.said()}")


def halved(stage, name, head):
    """Waits until a monitor of 800x600 shows the picture of one of 1600x900: at half its size, between black bars."""
    deadline = time.monotonic() + PATIENCE
    while True:
        picture = stage.picture(name)
        if picture.shape == (900, 1600, 3):
            expected = np.zeros((600, 800, 3), int)
            expected[75:525] = (picture.reshape(450, 2, 800, 2, 3).sum(axis=(1, 3), dtype=int) + 2) // 4
            seen = screen(stage.machine, head)
            # Whether halves are rounded up is up to whoever scales.
            if seen.shape == expected.shape and np.abs(seen - expected).max() <= 2:
                return
        if time.monotonic() > deadline:
            raise Failure(f"{name}: {keep(screen(stage.machine, head), name)}; the picture is {keep(picture, f'{name} whole')}; {stage.status()}")
        time.sleep(0.1)


def two_monitors(options=""):
    """The same picture on both, each as it can; whichever is there alone has it for itself."""
    with booted("virtio-two") as machine:
        machine.monitor(1600, 900, head=0)
        machine.monitor(800, 600, head=1)
        stage = prepared(machine, options)

        def both(what):
            stage.until(what, output="Virtual-1 Virtual-2")
            mode_is(stage, 1600, 900, what)
            picture = stage.shown(f"{what}, the first", head=0)
            if len(np.unique(picture.reshape(-1, 3), axis=0)) < 3:
                raise Failure("the picture is of one colour: nothing was compared")
            halved(stage, f"{what}, the second", head=1)

        both("two monitors")
        machine.unplug_monitor(head=0)
        stage.until("the first is unplugged", output="Virtual-2")
        mode_is(stage, 800, 600, "the second decides the size")
        stage.shown("the second monitor alone", head=1)
        machine.unplug_monitor(head=1)
        stage.until("both are unplugged", output="")
        machine.monitor(800, 600, head=1)
        stage.until("the second is back", output="Virtual-2")
        stage.shown("the second monitor, back alone", head=1)
        machine.monitor(1600, 900, head=0)
        both("both are back")
        # The second goes first this time, and the order in which they come is the other one.
        machine.unplug_monitor(head=1)
        stage.until("the second is unplugged", output="Virtual-1")
        stage.shown("the first monitor alone", head=0)
        machine.unplug_monitor(head=0)
        stage.until("both are unplugged again", output="")
        machine.monitor(1600, 900, head=0)
        stage.until("the first is back", output="Virtual-1")
        stage.shown("the first monitor, back alone", head=0)
        machine.monitor(800, 600, head=1)
        both("both are back again")

        enabled = lambda: machine.root("cat /sys/class/drm/card0-Virtual-2/enabled").strip()
        stage.ask("outputs one")
        stage.until("one monitor is wanted", output="Virtual-1")
        stage.shown("one of two", head=0)
        machine.wait(lambda: enabled() == "disabled", 20, "the second is switched off")
        stage.ask("outputs all")
        both("both are wanted again")
        stage.ask("blank on")
        machine.wait(lambda: machine.root("cat /sys/class/drm/card0-Virtual-*/dpms").split() == ["Off", "Off"], 20, "both are dark")
        stage.ask("blank off")
        both("both are bright again")


def chosen_monitor():
    with booted("virtio-two") as machine:
        machine.monitor(1024, 768, head=1)
        stage = prepared(machine, "--connector Virtual-2")
        mode_is(stage, 1024, 768, "the mode of the chosen monitor")
        stage.shown("the chosen monitor", head=1)


def many_changes(count, seed=None):
    """Random changes in a row. At the end: the right picture, the same process, and it holds what it held before."""
    seed = random.randrange(1 << 32) if seed is None else seed
    dice = random.Random(seed)
    with booted("virtio") as machine:
        stage = prepared(machine)
        stage.shown("before the changes")
        # Everything that is made at its first use has been made.
        stage.ask("rotate 90")
        stage.ask("rotate 0")
        stage.shown("before the changes, turned and back")
        before = stage.possessions()
        changes = []

        def settle():
            machine.monitor(1280, 720)
            for command in ("blank off", "rotate 0", "mode preferred", "scene call"):
                stage.ask(command)
            mode_is(stage, 1280, 720, "the preferred mode after all changes")
            return stage.shown("after the changes")

        def change():
            kind = dice.choice(["unplug", "plug", "mode", "rotate", "blank", "scene"])
            if kind == "unplug":
                machine.unplug_monitor()
            elif kind == "plug":
                kind += " %dx%d" % (size := dice.choice([(1280, 720), (1024, 768), (800, 600), (1920, 1080)]))
                machine.monitor(*size)
            else:
                values = {
                    "mode": ["preferred", "1024x768", "800x600", "1280x720"],
                    "rotate": ["0", "90", "180", "270"],
                    "blank": ["on", "off"],
                    "scene": ["call", "page", "static", "black"],
                }
                kind += f" {dice.choice(values[kind])}"
                stage.ask(kind)
            changes.append(kind)
            time.sleep(dice.choice([0, 0, 0.05, 0.3]))

        try:
            for _ in range(count):
                change()
            picture = settle()
            if len(np.unique(picture.reshape(-1, 3), axis=0)) < 3:
                raise Failure("the picture is of one colour: nothing was compared")
            try:
                machine.wait(lambda: stage.possessions() == before, 20, "nothing is left over")
            except Late:
                raise Failure(f"it held {before}, and holds {stage.possessions()}") from None
        except Exception as error:
            raise Failure(f"seed {seed}, after {', '.join(changes)}: {error}") from error
