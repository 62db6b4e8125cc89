"""Who owns the display: another program that has it first, and the console behind it."""

import rig
from machine import booted
from screens import Failure, screen
from trial import Trial


def taken_over():
    """A boot splash still holds the display: it is waited for, said, and followed."""
    with booted("virtio") as machine:
        splash = rig.mode_set(machine, "virtio_gpu")
        machine.wait(lambda: screen(machine).std() > 1, 20, "the splash is on the screen")
        stage = Trial(machine)
        stage.ask("scene call")
        status = stage.status()
        if "master" not in str(status.get("problem") or "") and "another" not in str(status.get("problem") or ""):
            raise Failure(f"nothing says that another program holds the display: {status}; {stage.program.said()}")
        splash.kill()
        stage.shown("taken over")
        if stage.status().get("problem"):
            raise Failure(f"the problem stays: {stage.status()}")
