"""Calls with a camera and a sound card that come and go."""

import json

from calls import OtherSide
from device_trial import PATIENCE
from gadgets import Camera, SoundCard
from machine import Late, booted
from screens import Failure

CONFIGURATION = """
[call]
whip = "%s"
whep = "%s"
token = "%s"
codec = "VP8"

[[camera]]
device = "any"
width = 640
height = 360
rate = 15

[sound]
# There is no room here, and an emulated processor has other things to do.
echo_cancellation = false
noise_suppression = false
automatic_gain = false
"""


def unplugged(cycles):
    """A call goes on while its devices are gone, and has them again when they are back."""
    with OtherSide() as other, booted("virtio") as machine:
        camera, card = Camera(machine), SoundCard(machine)
        camera.node()
        card.index()
        machine.write("/etc/parlor.toml", CONFIGURATION % (other.whip, other.whep, other.token))
        box = machine.program(
            "mkdir -p /tmp/state; exec parlor run --config /etc/parlor.toml --stage headless:640x360 --state /tmp/state --runtime /run/parlor 2>&1"
        )
        seen = {}

        def until(what, condition):
            def reached():
                text = machine.root("/parlor/parlor status --json --runtime /run/parlor", check=False)
                seen.update(json.loads(text) if text.startswith("{") else {})
                return condition(seen)

            try:
                machine.wait(reached, PATIENCE, what)
            except Late:
                raise Failure(f"{what}: {json.dumps({key: seen.get(key) for key in ('state', 'code', 'cameras', 'sound')})}; {box.said()}") from None

        in_call = lambda status: status.get("state") == "in-call"
        first = lambda status: (status.get("cameras") or [{}])[0].get("state")
        until("a call with a camera", lambda status: in_call(status) and first(status) == "running")
        for cycle in range(cycles):
            camera.unplug()
            card.unplug()
            until(f"the camera is gone, cycle {cycle}", lambda status: in_call(status) and first(status) == "absent")
            camera.plug()
            card.plug()
            until(f"the camera is back, cycle {cycle}", lambda status: in_call(status) and first(status) == "running")
        if len(other.sessions("whip")) != 1 or len(other.sessions("whep")) != 1:
            raise Failure(f"it called {len(other.endpoint.sessions)} times: the call did not live on")
        # The numbers on the camera's pictures are read at the other end.
        result = other.result("whip")
        if result["time_codes_read"] < 1:
            raise Failure(f"no picture of the camera arrived: {result['frames_shown']} shown")
