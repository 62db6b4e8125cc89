"""From a camera's driver to an encoder: how old pictures are when they come there. On the exact machine: its clock counts instructions, so that the verdict is
the same however busy this one is."""

import json

from gadgets import Camera
from machine import booted
from screens import Failure
from vivid import HDMIInput


def measured(machine, what, pictures):
    """What parlor-bench says of the only camera that is there."""
    answer = machine.parlor(f"parlor-bench capture --camera any --runs {pictures} --json 2>/tmp/said; true", 300)
    try:
        figures = json.loads(answer)
    except ValueError:
        raise Failure(f"{what}: {answer} {machine.root('cat /tmp/said')}") from None
    for figure in figures:
        print(f"      {what}: {figure['metric']}: {figure['value']:.1f} {figure['unit']}")
    bounds = [figure for figure in figures if figure.get("bound")]
    broken = [figure for figure in bounds if not figure["bound"]["is_kept"]]
    if len(bounds) != 2 or broken:
        raise Failure(f"{what}: {broken or figures}")
    return figures


def age():
    """At most a conversion and a tenth of a picture's time, and never a picture's time, for 1280x720 at 60/s through a cable and what USB carries."""
    with booted("vkms-exact") as machine:
        HDMIInput(machine)
        measured(machine, "an HDMI input", 20)
    with booted("vkms-exact") as machine:
        Camera(machine).node()
        figures = measured(machine, "a USB camera", 10)
        if not any("buffer ready" in figure["metric"] for figure in figures):
            raise Failure(f"the driver's time should be that of the first packet: {figures}")
