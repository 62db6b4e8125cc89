"""Who owns the display: another program that has it first, and the console behind it."""

import rig
from machine import booted
from screens import screen
from trial import Trial


def taken_over():
    """A boot splash still holds the display: it is waited for, said, and followed."""
    with booted("virtio") as machine:
        splash = rig.mode_set(machine, "virtio_gpu")
        machine.wait(lambda: screen(machine).std() > 1, 20, "the splash is on the screen")
        stage = Trial(machine)
        stage.ask("scene call")
        stage.until("it says that another program has the display", problem="busy")
        splash.kill()
        stage.shown("taken over")
        stage.until("the problem is gone", problem="")
