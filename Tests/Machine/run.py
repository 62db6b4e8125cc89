"""Parlor on real kernel drivers, in a virtual machine. Ends with `machine: N passed, N failed`.

    .build/venv/bin/python Tests/Machine/run.py [--only TEXT] [--short] [--list]

Each case starts a machine of its own, which runs already (machine.py). Pictures of failures are in .build/machine/shots.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Rig"))

import cameras
import cases
import capture
import clock
import coding
import device_calls
import devices
import hands
import legacy
import mastery
import media_rig
import monitors
import pictures
import rig
import self_test
import service
import sound_devices
import sound_loop
from machine import MachineError
from screens import Failure

CASES = {
    "rig: libraries": rig.libraries,
    "hands: touches": hands.touches,
    "hands: keyboards and pointers come and go": hands.devices,
    "hands: permissions": hands.permissions,
    "hands: a button on a GPIO line": hands.button,
    "hands: the box": hands.box,
    "pictures on virtio": lambda: pictures.scenes("virtio"),
    "pictures on bochs": lambda: pictures.scenes("bochs"),
    "pictures on vkms": lambda: pictures.scenes("vkms", "--mode 640x360@60", pictures.OPAQUE_SCENES, planes=2),
    "turned pictures on virtio": lambda: pictures.rotations("virtio"),
    "blanking": pictures.blanking,
    "a monitor is unplugged and plugged in": monitors.unplugged_and_plugged,
    "a monitor is plugged in later": monitors.plugged_in_later,
    "another monitor is plugged in": monitors.another_monitor,
    "a monitor without a description": monitors.without_description,
    "a connector that is not there": monitors.absent_connector,
    "two monitors": monitors.two_monitors,
    "the chosen monitor of two": monitors.chosen_monitor,
    "legacy modesetting on virtio": lambda: legacy.display("virtio"),
    "legacy modesetting on bochs": lambda: legacy.display("bochs"),
    "legacy modesetting on two monitors": lambda: monitors.two_monitors("--modesetting legacy"),
    "device memory without a copy": devices.without_a_copy,
    "device memory with fences": devices.with_fences,
    "device memory that is refused": devices.refused,
    "coding: frames through vicodec": coding.frames,
    "coding: frames through vicodec, planes apart": lambda: coding.frames("multiplanar=1"),
    "camera: each format of a USB camera": cameras.usb,
    "camera: one that codes itself": cameras.coding,
    "camera: one that hangs, and damaged pictures": cameras.hung,
    "camera: an HDMI input with faults": cameras.hdmi,
    "camera: one that is taken": cameras.busy,
    "camera: one that comes late": cameras.late,
    "camera: how old pictures are, in time": capture.age,
    "sound: a USB card, both ways": sound_devices.usb,
    "sound: a card that comes late, under another number": sound_devices.late_and_renumbered,
    "sound: a better card arrives": sound_devices.better_card_arrives,
    "sound: a card that is taken": sound_devices.busy,
    "sound: through Parlor, in time": lambda: sound_loop.loop(2),
    "a splash still has the display": mastery.taken_over,
    "the console behind the display": service.console,
    "the status of the display": service.status,
}

# What the others stand on, looked at by itself: where one of these fails, so do others.
RIG_CASES = {
    "rig: a picture on virtio": lambda: rig.picture("virtio", "virtio_gpu"),
    "rig: a picture on bochs": lambda: rig.picture("bochs", "bochs-drm"),
    "rig: a checksum on vkms": rig.vkms_checksum,
    "rig: monitors come and go": rig.monitors,
    "rig: a second monitor": rig.second_monitor,
    "rig: keyboards and touches": rig.input_devices,
    "rig: a USB camera": media_rig.usb_camera,
    "rig: a USB sound card": media_rig.usb_sound_card,
    "rig: a sound cable": media_rig.sound_cable,
    "rig: sound cards": media_rig.sound_cards,
    "rig: an HDMI input": media_rig.hdmi_input,
    "rig: coding hardware": media_rig.coding_hardware,
}

# Those that take minutes, on a machine whose clock counts instructions; and the self-test, whose chirp an ordinary machine may play too late.
LONG_CASES = {
    "check: the self-test of camera and sound": self_test.devices,
    "video under a page, in time": lambda: clock.video("video under a page", "--mode 640x360@60", "page"),
    "video of a call, in time": lambda: clock.video("video of a call", "--mode 640x360@60", "call"),
    "sound between the ends of a cable, in time": sound_loop.cable,
    "sound through Parlor for 60 s, in time": lambda: sound_loop.loop(60),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="run the cases with this text in their names")
    parser.add_argument("--list", action="store_true", help="only say what there is")
    parser.add_argument("--short", action="store_true", help="without those that take minutes, and those of what the others stand on")
    parser.add_argument("--changes", type=int, default=20, help="how many changes in a row (20)")
    parser.add_argument("--cycles", type=int, default=5, help="how often a camera and a sound card are unplugged (5)")
    options = parser.parse_args()
    if not options.short:
        CASES.update(RIG_CASES | LONG_CASES)
    CASES[f"{options.changes} changes in a row"] = lambda: monitors.many_changes(options.changes)
    CASES[f"camera: unplugged and plugged in {options.cycles} times"] = lambda: cameras.replugged(options.cycles)
    CASES[f"sound: unplugged and plugged in {options.cycles} times"] = lambda: sound_devices.replugged(options.cycles)
    CASES[f"call: camera and sound card unplugged and plugged in {options.cycles} times"] = lambda: device_calls.unplugged(options.cycles)
    cases.run("machine", CASES, options, (Failure, MachineError))


if __name__ == "__main__":
    main()
