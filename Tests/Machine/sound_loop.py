"""The way of sound through Parlor, measured from outside: into the microphone's end of one cable (snd-aloop), out of the loudspeaker's end of another."""

import json

import numpy as np

from device_trial import DeviceTrial
from gadgets import tool
from machine import booted
from screens import Failure
from sounds import RATE, found

# Sounds that can be told apart from what is around them, and from their own echoes: from 300 to 6000 Hz within 60 ms, some twice a second. Not at a steady pace,
# else each would be the echo of the one before, and taken out.
CHIRP = 2880
SPACING = RATE // 2


def chirps(seconds):
    """The sound, one channel; and where each chirp begins."""
    time = np.arange(CHIRP) / RATE
    length = CHIRP / RATE
    chirp = 12000 * np.sin(2 * np.pi * (300 * time + (6000 - 300) / (2 * length) * time**2)) * np.hanning(CHIRP)
    sound = np.zeros(int(seconds * RATE) // 480 * 480, np.int16)
    random, starts = np.random.default_rng(1), []
    start = SPACING
    while start < len(sound) - SPACING:
        sound[start : start + CHIRP] = chirp
        starts.append(start)
        start += int(SPACING * random.uniform(0.8, 1.4))
    return sound, starts, chirp


class Passing:
    """When the frames of a device passed, of what sound_probe.c tells: at the earliest that it was seen, since pointers are moved late, never early."""

    def __init__(self, points, window=5 * RATE):
        points = np.array(points, float)
        self.index, self.late = points[:, 0], points[:, 1] - points[:, 0] * 1e9 / RATE
        self.window = window

    def time(self, index):
        """Milliseconds at which the frame passed."""
        near = np.abs(self.index - index) < self.window
        return float((self.late[near].min() + index * 1e9 / RATE) / 1e6)


def delays(machine, seconds, playback, capture):
    """How long each chirp took from one device to the other, in milliseconds, none for one that was not heard; and how often the devices ran dry."""
    sound, starts, chirp = chirps(seconds)
    machine.put(tool("sound_probe.c", "-lasound"), "/usr/local/bin/sound-probe")
    machine.write("/tmp/sound", np.repeat(sound, 2).astype("<i2").tobytes())
    answer = machine.root(f"chmod +x /usr/local/bin/sound-probe; sound-probe {playback} {capture} /tmp/sound /tmp/recording", 120 * seconds)
    told = [json.loads(line) for line in answer.splitlines()]
    played = Passing([entry["played"] for entry in told if "played" in entry])
    recorded = Passing([entry["recorded"] for entry in told if "recorded" in entry])
    heard = np.frombuffer(machine.get("/tmp/recording"), "<i2")[::2]
    results = []
    for start in starts:
        # What is heard is looked for from when it was played to just before the next one can be.
        begin = int(start + (played.time(start) - recorded.time(start)) * RATE / 1000)
        piece = heard[max(0, begin - 480) : begin + SPACING * 7 // 10]
        place, alike = found(piece, chirp)
        results.append(recorded.time(max(0, begin - 480) + place) - played.time(start) if alike > 0.8 else None)
    return results, told[-1]["xruns"]


def cable():
    """Nothing stands between the ends of a cable: what measures, measured."""
    with booted("vkms-exact") as machine:
        machine.root("modprobe snd-aloop id=Cable && udevadm settle")
        found_delays, xruns = delays(machine, 4, "hw:Cable,0", "hw:Cable,1")
        # The pointers of such a cable move every 4 ms.
        if xruns or any(delay is None or not -1 < delay < 5 for delay in found_delays):
            raise Failure(f"{xruns} xruns, {found_delays}")


def loop(seconds):
    """Through all that is done to a voice, for so long: no gap after the first second, no growth of delay, and little of it."""
    with booted("vkms-exact") as machine:
        machine.root("modprobe snd-aloop enable=1,1 index=0,1 id=Microphone,Loudspeaker && udevadm settle")
        devices = DeviceTrial(machine, "--capture hw:Microphone,1 --playback hw:Loudspeaker,0 --processing on")
        for device in ("capture", "playback"):
            devices.until(f"{device} runs", device, state="running")
        devices.ask("loop on")
        # The first second has passed when the blocks that make it up have.
        devices.grows("a second of sound", lambda status: status["blocks"] // 100)
        before = devices.status()
        measured, xruns = delays(machine, seconds, "plughw:Microphone,0", "plughw:Loudspeaker,1")
        after = devices.status()
        print(f"      sound loop: {np.array([delay for delay in measured if delay is not None]).round(1).tolist()}")
        lost = sum(delay is None for delay in measured)
        if lost or xruns or after["capture"]["xruns"] > before["capture"]["xruns"] or after["playback"]["xruns"] > before["playback"]["xruns"]:
            raise Failure(f"{lost} of {len(measured)} sounds were not heard; {xruns} xruns of the probe; {before} became {after}")
        if max(measured) > 30:
            raise Failure(f"sound takes up to {max(measured):.1f} ms: {measured}")
        quarter = max(1, len(measured) // 4)
        growth = np.median(measured[-quarter:]) - np.median(measured[:quarter])
        if growth > 1:
            raise Failure(f"its delay grew by {growth:.1f} ms in {seconds} s: {measured}")
