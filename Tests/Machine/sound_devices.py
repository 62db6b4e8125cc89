"""Microphones and loudspeakers on real drivers: heard and played, unplugged, late, taken."""

import numpy as np

from device_trial import PATIENCE, DeviceTrial
from gadgets import SoundCard
from machine import booted
from screens import Failure
from sounds import SPEECH, file, found, pieces, samples

NAME = "Test Card"


def speech(machine):
    """Speech to be played over and over, with a pause: as two channels in /tmp/speech.wav; one channel of it."""
    spoken = samples(machine.get(SPEECH))[0]
    machine.write("/tmp/speech.wav", file(np.tile(np.concatenate([spoken, np.zeros(12000, spoken.dtype)]), (2, 1))))
    return spoken


def until_whole(machine, record, spoken, where):
    """Records until every piece of the speech was in it. A machine that stands still for a moment loses sound: it is listened to again."""
    parts = pieces(spoken)
    best = [0.0] * len(parts)
    for _ in range(8):
        recorded = record()
        best = [max(before, min(found(channel, part)[1] for channel in recorded)) for before, part in zip(best, parts, strict=True)]
        # A clock that is still being found stretches sound a little, which tells in its sharpest parts.
        if min(best) > 0.9:
            return
    raise Failure(f"{where}: not all of the speech is in it, its pieces are alike by {[round(value, 3) for value in best]}")


def spoken_into(machine, card="UAC2Gadget"):
    """Somebody speaks into the microphone, over and over."""
    # The gadget's end breaks down with the host's.
    return machine.program(f"while :; do aplay -q -D hw:{card} /tmp/speech.wav 2>/dev/null || sleep 0.2; done")


def from_loudspeaker(machine, card="UAC2Gadget"):
    """Three and a half seconds of what the card's loudspeaker plays."""
    machine.root(f"rm -f /tmp/heard.wav; timeout {PATIENCE} arecord -q -D hw:{card} -f S16_LE -r 48000 -c 2 -d 4 /tmp/heard.wav", PATIENCE + 10, check=False)
    return samples(machine.get("/tmp/heard.wav"))


def from_microphone(devices):
    """Some seconds of what Parlor hears."""
    devices.ask("record /run/parlor/heard.wav")
    before = devices.status()["blocks"]
    devices.machine.wait(lambda: devices.status()["blocks"] > before + 350, PATIENCE, "3.5 s of sound")
    devices.ask("recorded")
    return samples(devices.machine.get("/run/parlor/heard.wav"))


def usb():
    """What is played is heard, both ways, unaltered."""
    with booted("virtio") as machine:
        SoundCard(machine).index()
        spoken = speech(machine)
        devices = DeviceTrial(machine, "--capture any --playback any")
        for device in ("capture", "playback"):
            devices.until(f"{device} runs", device, state="running", name=NAME)
        devices.ask("play /tmp/speech.wav")
        until_whole(machine, lambda: from_loudspeaker(machine), spoken, "from the loudspeaker")
        devices.ask("play off")
        spoken_into(machine)
        until_whole(machine, lambda: from_microphone(devices), spoken, "from the microphone")


def replugged(cycles):
    """The card goes and comes back, again and again: sound goes on each time, and nothing is left over."""
    with booted("virtio") as machine:
        card = SoundCard(machine)
        card.index()
        spoken = speech(machine)
        devices = DeviceTrial(machine, "--capture any --playback any")
        before = None
        for cycle in range(cycles):
            for device in ("capture", "playback"):
                devices.until(f"{device} runs, cycle {cycle}", device, state="running")
                devices.grows(f"{device} flows, cycle {cycle}", lambda status: status[device]["frames"])
            if cycle == 2:
                before = devices.possessions()
            card.unplug()
            for device in ("capture", "playback"):
                devices.until(f"{device} is gone, cycle {cycle}", device, state="absent")
            devices.grows("silence in place of sound", lambda status: status["blocks"])
            card.plug()
        for device in ("capture", "playback"):
            devices.until(f"{device} runs", device, state="running")
        spoken_into(machine)
        until_whole(machine, lambda: from_microphone(devices), spoken, "from the microphone, after all")
        after = devices.possessions()
        if after["descriptors"] > before["descriptors"] or after["threads"] > before["threads"] or after["memory"] > before["memory"] + 4096:
            raise Failure(f"something is left over of {cycles} cards: {before} became {after}")


def late_and_renumbered():
    """The named card comes after the program was started, and after another one took its number."""
    with booted("virtio") as machine:
        card = SoundCard(machine)
        first = card.index()
        card.unplug()
        devices = DeviceTrial(machine, "--capture Card --playback Card")
        for device in ("capture", "playback"):
            absent = devices.until(f"{device} isn't there", device, state="absent")
            if "no " not in absent["reason"]:
                raise Failure(f"what is missing is not told: {absent}")
        machine.root(f"modprobe snd-aloop index={first} id=Cable && udevadm settle")
        card.plug()
        if card.index() == first:
            raise Failure("the card has its old number")
        for device in ("capture", "playback"):
            devices.until(f"{device} runs", device, state="running", name=NAME)
            devices.grows(f"{device} flows", lambda status: status[device]["frames"])


def better_card_arrives():
    """Who takes any card changes to the one that was just plugged in, and back when it goes."""
    with booted("virtio-sound") as machine:
        devices = DeviceTrial(machine, "--capture any --playback any")
        for device in ("capture", "playback"):
            devices.until(f"{device} runs on the card that is built in", device, state="running")
        card = SoundCard(machine)
        for device in ("capture", "playback"):
            devices.until(f"{device} runs on the USB card", device, state="running", name=NAME)
        card.unplug()
        for device in ("capture", "playback"):
            devices.machine.wait(lambda: devices.status(device)["state"] == "running" and devices.status(device)["name"] != NAME, PATIENCE, "back")
            devices.grows(f"{device} flows", lambda status: status[device]["frames"])


def busy():
    """Another program has the card: that is said, and the card is taken as soon as it is free."""
    with booted("virtio") as machine:
        number = SoundCard(machine).index()
        other = machine.program(f"exec arecord -q -D hw:{number} -f S16_LE -r 48000 -c 2 /dev/null")
        machine.wait(lambda: "RUNNING" in machine.root(f"cat /proc/asound/card{number}/pcm0c/sub0/status"), PATIENCE, "the other program records")
        devices = DeviceTrial(machine, "--capture Card --playback Card")
        devices.until("the microphone is taken", "capture", state="busy")
        devices.until("the loudspeaker is not", "playback", state="running")
        other.kill()
        devices.until("the microphone is free", "capture", state="running")
        devices.grows("it is heard", lambda status: status["capture"]["frames"])
