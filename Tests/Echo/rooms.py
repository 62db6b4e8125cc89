"""Calls in rooms that do not exist: what the loudspeaker plays, what the microphone hears, and who says what when."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.signal import butter, fftconvolve, sosfilt

from speech import RATE, VOICES, level


@dataclass
class Room:
    """A loudspeaker, a microphone and what lies between them."""

    decay: float = 0.15  # seconds until the echo has died away by 60 dB
    delay: float = 0.040  # seconds from the reference to the first sound at the microphone: devices, television sets
    gain: float = -6.0  # level of the echo against that of the reference, in dB
    distance: float = 6.0  # how much louder the direct sound is than all that comes after, in dB
    overdrive: float = 0.0  # how far the loudspeaker leaves the straight line: 0 not at all, 1 a cheap one at full volume
    seed: int = 1

    def response(self):
        random = np.random.default_rng(self.seed)
        count = int(RATE * (self.decay * 1.1 + 0.02))
        time = np.arange(count) / RATE
        tail = random.standard_normal(count) * 10 ** (-3 * time / self.decay)
        # High tones die away sooner.
        low = sosfilt(butter(2, 3_000, fs=RATE, output="sos"), tail)
        tail = low + (tail - low) * 10 ** (-3 * time / self.decay)
        tail[: int(0.001 * RATE)] = 0
        early = np.zeros(count)
        for _ in range(8):
            at = int(random.uniform(0.001, 0.02) * RATE)
            early[at] += random.choice([-1, 1]) * random.uniform(0.2, 0.6) * 10 ** (-3 * at / RATE / self.decay)
        response = tail / np.sqrt((tail**2).sum()) + early
        response /= np.sqrt((response**2).sum()) * 10 ** (self.distance / 20)
        response[0] += 1
        # The loudspeaker of a kiosk: little below 150 Hz and above 14 kHz, and a few resonances.
        response = sosfilt(butter(2, [150, 14_000], "bandpass", fs=RATE, output="sos"), response)
        for _ in range(3):
            f = random.uniform(300, 6_000)
            response = response + random.uniform(-0.5, 0.8) * sosfilt(butter(1, [f * 0.8, f * 1.25], "bandpass", fs=RATE, output="sos"), response)
        return response / np.sqrt((response**2).sum())

    def echo(self, far):
        driven = far
        if self.overdrive > 0:
            # Softly limited, a little more to one side.
            scale = 0.5 / self.overdrive
            driven = scale * np.tanh(far / scale + 0.1 * self.overdrive) - scale * np.tanh(0.1 * self.overdrive)
        heard = fftconvolve(driven, self.response())[: len(far)]
        level = np.sqrt((far**2).mean() / max((heard**2).mean(), 1e-20))
        return heard * level * 10 ** (self.gain / 20)


def delayed(samples, delay):
    """`samples`, each `delay` (an array, in seconds) later, between samples too."""
    position = np.arange(len(samples)) - delay * RATE
    whole = np.floor(position).astype(int)
    fraction = position - whole
    # Windowed sinc of 32 points, in 256 fractions of a sample.
    taps = np.arange(-15, 17)
    steps = np.arange(257) / 256
    kernel = np.sinc(taps[None, :] - steps[:, None]) * np.cos(np.pi * (taps[None, :] - steps[:, None]) / 34) ** 2
    kernel /= kernel.sum(axis=1, keepdims=True)
    row = np.round(fraction * 256).astype(int)
    result = np.zeros(len(samples))
    padded = np.concatenate([np.zeros(64), samples, np.zeros(64)])
    valid = (whole > -32) & (whole < len(samples))
    for index, tap in enumerate(taps):
        result[valid] += padded[whole[valid] + tap + 64] * kernel[row[valid], index]
    return result


@dataclass
class Scenario:
    """A call in parts: the far side talks alone; from `double` on the near side talks as well, until a second before `change`, when the room becomes another one."""

    name: str
    room: Room
    changed: Room
    far: str = "en-us+m3"
    near: str = "recorded"
    nearness: float = 0.0  # level of the near voice against that of the echo, in dB
    noise: float = -75.0  # dB of full scale
    drift: float = 3.0  # what remains of the clocks' difference, in millionths
    wander: float = 3.0  # how far that comes and goes within 20 s, in millionths
    has_echo: bool = True
    seed: int = 1

    # Seconds.
    settled = 10.0
    double = 16.0
    change = 26.0
    measured_again = 31.0
    end = 37.0

    def sounds(self, speech):
        """What is played, what is captured, and what of it the near voice is."""
        count = int(self.end * RATE)
        random = np.random.default_rng(self.seed)
        far = speech.talk(self.end, self.seed, self.far)
        captured = random.standard_normal(count) * 10 ** (self.noise / 20)
        if self.has_echo:
            time = np.arange(count) / RATE
            drift = 1e-6 * (self.drift * time + self.wander * 20 / (2 * np.pi) * np.sin(2 * np.pi * time / 20))
            change = int(self.change * RATE)
            captured[:change] += delayed(self.room.echo(far), self.room.delay + drift)[:change]
            captured[change:] += delayed(self.changed.echo(far), self.changed.delay + drift)[change:]
        near = np.zeros(count)
        start, stop = int(self.double * RATE), int((self.change - 1) * RATE)
        voice = speech.talk(self.change - 1 - self.double, self.seed + 100, self.near)
        near[start:stop] = Room(decay=0.2, distance=10, seed=self.seed + 50).echo(voice)
        near *= 10 ** ((-26 + self.room.gain + self.nearness) / 20) / level(near)
        return far, captured + near, near


def others():
    """The same kinds of rooms with other walls, other people and somewhat other ways."""
    voices = [*VOICES, "recorded"]
    result = []
    for turn in (1, 2, 3):
        random = np.random.default_rng(turn)
        for scenario in SCENARIOS:
            rooms = [
                replace(room, seed=room.seed + 1_000 * turn, delay=room.delay * random.uniform(0.8, 1.2), decay=min(0.3, room.decay * random.uniform(0.8, 1.3)))
                for room in (scenario.room, scenario.changed)
            ]
            far, near = random.choice(voices, 2, replace=False)
            result.append(
                replace(
                    scenario, name=f"{scenario.name}, {turn + 1}", room=rooms[0], changed=rooms[1], far=str(far), near=str(near),
                    nearness=scenario.nearness + random.uniform(-3, 3), drift=scenario.drift * random.choice([-1, 1]), seed=scenario.seed + 100 * turn,
                )
            )
    return result


SCENARIOS = [
    Scenario("small and dry", Room(decay=0.05, delay=0.010, seed=11), Room(decay=0.06, delay=0.012, seed=12), seed=1),
    Scenario("office", Room(decay=0.15, delay=0.040, seed=21), Room(decay=0.15, delay=0.055, seed=22), far="en-gb+f2", seed=2),
    Scenario("living room", Room(decay=0.30, delay=0.060, gain=-10, seed=31), Room(decay=0.30, delay=0.060, seed=32), near="en-gb+m7", seed=3),
    Scenario("television set", Room(decay=0.20, delay=0.150, seed=41), Room(decay=0.20, delay=0.190, seed=42), far="en-gb+m7", near="en-us+f4", seed=4),
    Scenario("slow television set", Room(decay=0.25, delay=0.250, gain=-3, seed=51), Room(decay=0.25, delay=0.150, seed=52), far="recorded", near="en-us+m1", seed=5),
    Scenario("cheap loudspeaker", Room(delay=0.030, gain=0, overdrive=0.5, seed=61), Room(delay=0.030, gain=0, overdrive=0.5, seed=62), near="en-gb+f3", seed=6),
    Scenario("overdriven loudspeaker", Room(delay=0.030, gain=0, overdrive=1.5, seed=101), Room(delay=0.045, gain=0, overdrive=1.5, seed=102), near="en-us+f4", seed=10),
    Scenario("noisy hall", Room(decay=0.30, delay=0.045, seed=71), Room(decay=0.30, delay=0.100, seed=72), noise=-68, nearness=6, seed=7),
    Scenario("far away", Room(decay=0.30, delay=0.080, gain=-18, distance=0, seed=111), Room(decay=0.30, delay=0.085, gain=-18, distance=0, seed=112), far="recorded", near="en-gb+f2", nearness=10, noise=-85, seed=11),
    Scenario("loud and close", Room(decay=0.10, delay=0.020, gain=6, distance=10, seed=81), Room(decay=0.15, delay=0.080, gain=6, seed=82), nearness=-6, far="en-us+f4", seed=8),
    Scenario("volume turned up", Room(decay=0.20, delay=0.035, gain=-12, seed=121), Room(decay=0.20, delay=0.035, gain=3, seed=121), far="en-us+f4", seed=12),
    Scenario("clocks adrift", Room(decay=0.20, delay=0.050, seed=91), Room(decay=0.20, delay=0.050, seed=92), drift=10, wander=10, near="en-us+m1", seed=9),
    Scenario("headphones", Room(), Room(), has_echo=False, far="en-gb+f2", near="en-gb+m7", seed=13),
]
