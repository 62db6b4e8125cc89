"""Monitors that come, go and change, at any moment (REPORTS.md, Display)."""

import random
import time

import numpy as np

from machine import Late, booted
from screens import Failure
from trial import Trial


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


def two_monitors():
    with booted("virtio-two") as machine:
        machine.monitor(1280, 720, head=1)
        stage = prepared(machine)
        stage.shown("the first monitor", head=0)
        stage.shown("the second monitor", head=1)
        machine.unplug_monitor(head=0)
        stage.shown("the second monitor alone", head=1)
        machine.monitor(1280, 720, head=0)
        stage.shown("the first monitor again", head=0)
        stage.shown("the second monitor still", head=1)


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
