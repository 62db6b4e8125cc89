"""What a display with a real vertical blank tells of time. On the exact machine: its clock counts instructions, so that the verdict is the same however
busy this one is."""

from machine import booted
from screens import Failure
from trial import Trial

SECONDS = 5
# Milliseconds beyond the refresh period from ready to shown, for 95 of 100 frames. The exact machine does an instruction a nanosecond, a fraction of what
# a real box does: with two planes the driver itself, which draws by the processor, needs more than four of them for a commit.
ALLOWANCES = {"call": 2, "page": 7}


def video(name, options, scene):
    """Thirty frames a second for some seconds: each is shown, in time."""
    with booted("vkms-exact") as machine:
        stage = Trial(machine, options)
        stage.ask(f"scene {scene}")
        before = stage.status()
        if not before["mode"].startswith("640x360@"):
            raise Failure(f"the mode is not as configured: {before}")
        period = 1000 / float(before["mode"].split("@")[1])
        played = stage.program.ask(f"play {SECONDS}", 600)
        after = stage.status()
        print(f"      {name}: {played}")
        # Some of the frames come before the first flip of the series, or after it was counted.
        if abs(played["shown"] - SECONDS * 30) > 2:
            raise Failure(f"of {played['frames']} frames, {played['shown']} were shown: {played}")
        if played["missed"]:
            raise Failure(f"{played['missed']} refreshes were missed: {played}")
        if played["ready_to_flip_ms"]["p95"] > period + ALLOWANCES[scene]:
            raise Failure(f"it took {played['ready_to_flip_ms']} ms from ready to shown, the period is {period:.2f} ms")
        # What is counted are the kernel's page flips: as many as frames, and no more than there were vertical blanks.
        flips = after["flips"] - before["flips"]
        if not played["shown"] <= flips <= SECONDS * 60 + 10:
            raise Failure(f"{flips} flips for {played['shown']} frames: {played}")
