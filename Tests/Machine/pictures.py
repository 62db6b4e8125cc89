"""What the display shows is what Parlor has computed, pixel by pixel."""

import numpy as np

from machine import booted
from screens import Failure
from trial import Trial

SCENES = ["page", "window", "call", "static", "black"]
# vkms blends with 16 bits for a colour: what is translucent on a plane of its own is finer than a picture with 8 bits can say.
OPAQUE_SCENES = ["window", "call", "static", "black"]


def scenes(display, options="", scenes=SCENES, planes=0):
    """Each scene looks as it must; one of them is on that many planes."""
    with booted(display) as machine:
        stage = Trial(machine, options)
        pictures = []
        most = 0
        for scene in scenes:
            stage.ask(f"scene {scene}")
            pictures.append(stage.shown(f"{display} {scene}"))
            most = max(most, stage.status()["planes"])
        colors = [len(np.unique(picture.reshape(-1, 3), axis=0)) for picture in pictures]
        if min(colors[:-1]) < 3 or colors[-1] != 1:
            raise Failure(f"the scenes have {colors} colours: nothing was compared")
        if most < planes:
            raise Failure(f"no scene was on {planes} planes")


def rotations(display):
    with booted(display) as machine:
        stage = Trial(machine)
        stage.ask("scene page")
        upright = stage.shown(f"{display} upright")
        for degrees in (90, 180, 270, 0):
            stage.ask(f"rotate {degrees}")
            status = stage.until(f"a rotation by {degrees}", rotation=degrees)
            stage.ask("scene page")
            shown = stage.shown(f"{display} turned by {degrees}", degrees)
            if shown.shape != upright.shape:
                raise Failure(f"the mode changed with the rotation: {status}")
            height, width = upright.shape[:2] if degrees % 180 == 0 else upright.shape[1::-1]
            if (status["width"], status["height"]) != (width, height):
                raise Failure(f"turned by {degrees}, the picture is of {width}x{height} pixels: {status}")
            if degrees and np.array_equal(shown, upright):
                raise Failure("the turned picture looks like the upright one: nothing was compared")


def blanking():
    """Switched off, the monitor gets no signal; switched on, it shows the picture of now."""
    with booted("virtio") as machine:
        stage = Trial(machine)
        stage.ask("scene static")
        stage.shown("before blanking")
        power = lambda: machine.root("cat /sys/class/drm/card0-Virtual-1/dpms").strip()
        stage.ask("blank on")
        stage.until("blanked", blanked=True)
        machine.wait(lambda: power() == "Off", 20, "the output is off")
        stage.ask("scene page")
        stage.ask("blank off")
        stage.until("not blanked", blanked=False)
        stage.shown("after blanking")
        if power() != "On":
            raise Failure(f"the kernel says that the output is {power()}")
