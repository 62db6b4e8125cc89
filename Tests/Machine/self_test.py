"""An operator's self-test of the devices: `parlor check --devices`, by itself and in the box that runs."""

import json

from device_trial import PATIENCE
from gadgets import Camera
from machine import booted
from screens import Failure

# The loudspeaker is at one end of a cable, the microphone at the other.
CONFIGURATION = """
[[camera]]
device = "any"
width = 640
height = 360

[sound]
playback = "hw:Cable,0"
capture = "hw:Cable,1"
"""


def devices():
    # On a machine whose clock waits for its work: what a test of devices says of one that is too slow is true, and not what is asked here.
    with booted("vkms-exact") as machine:
        machine.root("modprobe snd-aloop id=Cable && udevadm settle")
        camera = Camera(machine)
        camera.node()
        machine.write("/etc/parlor.toml", CONFIGURATION)

        def check(where=""):
            # The exit code is 69 when anything failed: the clock of this machine is set by nobody.
            text = machine.root(f"/parlor/parlor check --devices --json --config /etc/parlor.toml {where}; [ $? = 69 ]", 10 * PATIENCE)
            return {item["name"]: item for item in json.loads(text)["devices"]}

        def verify(items):
            wrong = [items[name] for name in ("camera[0]", "microphone", "speaker") if items[name]["verdict"] != "ok"]
            if wrong or items["clock"]["verdict"] != "failed":
                raise Failure(f"the self-test says: {json.dumps(list(items.values()))}")
            # What the cable does not change is as loud as it was played.
            if not -20 < items["speaker"]["figures"]["level_db"] < 0 or not 0 < items["speaker"]["figures"]["delay_ms"] < 500:
                raise Failure(f"the chirp: {items['speaker']}")
            if not items["camera[0]"]["figures"]["brightness_percent"] > 1:
                raise Failure(f"the picture: {items['camera[0]']}")

        verify(check())
        box = machine.program(
            "mkdir -p /tmp/state; exec parlor run --config /etc/parlor.toml --stage headless:640x360 --state /tmp/state --runtime /run/parlor 2>&1"
        )
        machine.wait(lambda: "running" in machine.root("/parlor/parlor status --json --runtime /run/parlor 2>&1; true"), PATIENCE, "the box runs")
        # The box holds the devices: it makes the test itself.
        verify(check("--runtime /run/parlor"))
        camera.unplug()
        machine.wait(lambda: check("--runtime /run/parlor")["camera[0]"]["verdict"] == "failed", 10 * PATIENCE, f"it is missed; {box.said()}")
