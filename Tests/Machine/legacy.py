"""Drivers that change what is shown piece by piece, as the oldest do: those of these machines are asked for nothing newer."""

import numpy as np

from machine import booted
from monitors import mode_is
from screens import Failure
from trial import Trial


def calls(machine, action):
    """The calls to graphics drivers that are made meanwhile."""
    debug = "/sys/module/drm/parameters/debug"
    machine.root(f"dmesg --clear; echo 1 >{debug}")
    action()
    return machine.root(f"echo 0 >{debug}; dmesg")


def display(name):
    """Everything that a monitor can be asked for, and what can become of it."""
    with booted(name) as machine:
        stage = Trial(machine, "--modesetting legacy")
        for scene in ("page", "call"):
            stage.ask(f"scene {scene}")
            picture = stage.shown(f"{name} legacy {scene}")
            if len(np.unique(picture.reshape(-1, 3), axis=0)) < 3:
                raise Failure("the picture is of one colour: nothing was compared")
        before = stage.possessions()
        made = calls(machine, lambda: flips(stage))
        if "MODE_PAGE_FLIP" not in made or "MODE_ATOMIC" in made:
            raise Failure(f"flips are not made with the old calls: {made[-2000:]}")
        blanking(machine, stage, name)
        for mode, width, height in (("1024x768", 1024, 768), ("preferred", 1280, 720)):
            stage.ask(f"mode {mode}")
            mode_is(stage, width, height, f"the mode {mode}")
            stage.shown(f"{name} legacy {mode}")
        stage.ask("rotate 90")
        stage.until("it is turned", rotation=90)
        stage.shown(f"{name} legacy turned", 90)
        stage.ask("rotate 0")
        stage.until("it is upright", rotation=0)
        stage.shown(f"{name} legacy upright")
        if name == "virtio":
            hotplug(machine, stage)
        flips(stage)
        stage.shown(f"{name} legacy at the end")
        machine.wait(lambda: stage.possessions() == before, 20, "nothing is left over")


def flips(stage):
    before = stage.status()["flips"]
    played = stage.program.ask("play 1", 60)
    if played["shown"] < 1 or stage.status()["flips"] == before:
        raise Failure(f"frames are not shown by flips: {played}, {stage.status()}")


def blanking(machine, stage, name):
    power = lambda: machine.root("cat /sys/class/drm/card0-Virtual-1/dpms").strip()
    for _ in range(2):
        stage.ask("blank on")
        machine.wait(lambda: power() == "Off", 20, "the output is off")
        stage.ask("scene page")
        stage.ask("blank off")
        machine.wait(lambda: power() == "On", 20, "the output is on")
        stage.shown(f"{name} legacy after blanking")
    # What happens to the mode meanwhile is seen afterwards.
    stage.ask("blank on")
    stage.ask("mode 800x600")
    stage.ask("blank off")
    mode_is(stage, 800, 600, "the mode that was set while it was dark")
    stage.shown(f"{name} legacy, a mode set in the dark")


def hotplug(machine, stage):
    for width, height in ((1024, 768), (1280, 720)):
        machine.unplug_monitor()
        stage.until("no monitor", output="")
        machine.monitor(width, height)
        mode_is(stage, width, height, "the preferred mode of the monitor that came")
        stage.shown(f"virtio legacy, a monitor with {width}x{height}")
    machine.monitor(1920, 1080)
    mode_is(stage, 1920, 1080, "the mode of a monitor that was changed for another")
    stage.shown("virtio legacy, another monitor")
    machine.monitor(1280, 720)
    mode_is(stage, 1280, 720, "the first monitor again")
