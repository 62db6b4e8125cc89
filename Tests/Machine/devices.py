"""Frames in another device's memory: shown from there where the display can, and given back."""

import numpy as np

from machine import Late, booted
from screens import Failure, checksum, displayed_checksum
from trial import PATIENCE, Trial

WIDTH, HEIGHT = 640, 360


def memory(index):
    """What lies in buffer `index` (Trial/DeviceCamera.swift)."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    return np.stack([x + 50 * index, 3 * y, x ^ y], axis=2).astype(np.uint8)


def prepared(machine, options=""):
    """A stage that can show such frames."""
    machine.root("modprobe vgem; udevadm settle")
    card = machine.root("basename $(ls -d /sys/devices/platform/vgem/drm/card*)").strip()
    stage = Trial(machine, f"--memory /dev/dri/{card} {options}")
    machine.wait(lambda: stage.status()["mode"], PATIENCE, "a mode is set")
    return stage


def shows(stage, index, what):
    expected = checksum(memory(index))
    try:
        stage.machine.wait(lambda: displayed_checksum(stage.machine) == expected, PATIENCE, what)
    except Late:
        raise Failure(f"{what} is not shown: {stage.status()}; {stage.program.said()}") from None


def without_a_copy():
    with booted("vkms") as machine:
        stage = prepared(machine, f"--mode {WIDTH}x{HEIGHT}@60")
        stage.ask("scene window")
        stage.shown("before frames in a device's memory")
        before = stage.possessions()["framebuffers"]
        stage.ask("scene device")
        shows(stage, 0, "the first frame's memory")
        for _ in range(12):
            # The camera has four buffers: without those that were shown before there would soon be none.
            index = stage.ask("next")["index"]
            shows(stage, index, f"the memory of buffer {index}")
        status = stage.status()
        if status["copied"] or status["imported"] != 13 or status["planes"] != 1:
            raise Failure(f"13 frames were shown from where they were: {status}")
        stage.until("of the camera's frames, the one on the screen is held", held=1)
        played = stage.program.ask("play 2", 60)
        status = stage.status()
        # The last one may have come onto the screen after it was counted.
        if not 0 < played["shown"] <= status["imported"] - 13 <= played["frames"] or status["copied"]:
            raise Failure(f"frames of a video were shown otherwise: {played}, {status}")
        # Something else is shown: all frames go back, and nothing is left of their memory.
        stage.ask("scene window")
        stage.shown("after frames in a device's memory")
        stage.until("no frame is held", held=0)
        machine.wait(lambda: stage.possessions()["framebuffers"] == before, 20, "no framebuffer is left over")


def with_fences():
    """Not shown before it is complete."""
    with booted("vkms") as machine:
        stage = prepared(machine, f"--mode {WIDTH}x{HEIGHT}@60")
        stage.ask("scene device")
        shows(stage, 0, "the first frame's memory")
        index = stage.ask("next finished")["index"]
        shows(stage, index, "a frame that is complete already")
        before = stage.ask("next unfinished")
        other = displayed_checksum(machine)
        finished = stage.ask("finish")
        if finished["expired"]:
            raise Failure("this machine is too slow for the kernel's patience of ten seconds")
        if finished["flips"] != before["flips"] or other != checksum(memory(index)):
            raise Failure(f"it was shown before it was complete: {before}, {finished}")
        shows(stage, before["index"], "the frame that is complete now")


def refused():
    """virtio-gpu takes no memory of others: the frames' own pixels are shown."""
    with booted("virtio") as machine:
        stage = prepared(machine)
        stage.ask("scene device")
        stage.shown("the first frame")
        for _ in range(6):
            stage.ask("next")
            stage.shown("another frame")
        stage.until("of the camera's frames, the newest is held", held=1)
        status = stage.status()
        if status["imported"] or status["problem"]:
            raise Failure(f"{status}; {stage.program.said()}")
