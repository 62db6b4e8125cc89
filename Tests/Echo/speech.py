"""Speech from Debian's packages: the voices of alsa-utils and espeak-ng, at 48 kHz, as floating-point samples of -1 to 1."""

import glob
import os
import subprocess
import wave

import numpy as np
from scipy.signal import resample_poly

RATE = 48_000

# Everyday sentences with all the sounds of English in them.
SENTENCES = [
    "Good morning, could you tell me where the main entrance of the building is?",
    "The bus to the harbour leaves every fifteen minutes from platform four.",
    "Please take a seat, somebody will be with you shortly.",
    "I have an appointment with Doctor Jenkins at half past nine.",
    "We thought the parcel would arrive on Thursday, yet it came today.",
    "Her brother fixed the old garden fence with a hammer and some nails.",
    "You can pick up the key at the reception, just show them your passport.",
    "A heavy storm blew down the big chestnut tree behind our house.",
    "Which of these forms do I have to fill in before I can go inside?",
    "The lift is broken, so visitors have to use the stairs on the left.",
    "Sugar, flour, butter and six fresh eggs make a very good cake.",
    "They should have called us earlier, now the shop is already closed.",
    "My daughter plays the violin, and her teacher is quite pleased with her.",
    "Turn right at the church, then go straight on until you see the bridge.",
    "The weather will be cloudy at first, with sunshine in the afternoon.",
    "Thank you for waiting, how may I help you this evening?",
]

VOICES = ["en-us+m3", "en-gb+f2", "en-us+f4", "en-gb+m7", "en-us+m1", "en-gb+f3"]


def read(path):
    with wave.open(path) as file:
        channels, rate = file.getnchannels(), file.getframerate()
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float64) / 32_768
    samples = samples.reshape(-1, channels).mean(axis=1)
    if rate != RATE:
        samples = resample_poly(samples, RATE // np.gcd(RATE, rate), rate // np.gcd(RATE, rate))
    return samples


def write(path, samples):
    whole = np.clip(np.round(samples * 32_768), -32_768, 32_767).astype("<i2")
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(whole.tobytes())


def level(samples):
    """Level while somebody speaks: of the blocks of 10 ms within 25 dB of the loudest."""
    blocks = samples[: len(samples) // 480 * 480].reshape(-1, 480)
    power = (blocks**2).mean(axis=1)
    return float(np.sqrt(power[power > power.max() * 10**-2.5].mean()))


def trimmed(samples):
    loud = np.nonzero(np.abs(samples) > np.abs(samples).max() * 0.01)[0]
    return samples[loud[0] : loud[-1] + 1]


class Speech:
    def __init__(self, work):
        self.work = os.path.join(work, "speech")
        os.makedirs(self.work, exist_ok=True)
        paths = [path for path in sorted(glob.glob("/usr/share/sounds/alsa/*.wav")) if "Noise" not in path]
        if not paths:
            raise SystemExit("the voices of alsa-utils are missing: Scripts/setup.sh test")
        self.recorded = [trimmed(read(path)) for path in paths]

    def prepare(self):
        """Has everything said once, so that several runs can share it."""
        for voice in VOICES:
            for number in range(len(SENTENCES)):
                self.spoken(voice, number)

    def spoken(self, voice, number):
        path = os.path.join(self.work, f"{voice.replace('+', '-')}-{number}.wav")
        if not os.path.exists(path):
            command = ["espeak-ng", "-v", voice, "-s", str(150 + 5 * (number % 5)), "-w", path + ".new", SENTENCES[number]]
            subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
            os.replace(path + ".new", path)
        return trimmed(read(path))

    def talk(self, seconds, seed, voice, loudness=-26.0):
        """A person who talks for so long with short pauses, at `loudness` dB of full scale; the voice "recorded" is that of alsa-utils."""
        random = np.random.default_rng(seed)
        wanted, pieces, count = int(seconds * RATE), [], 0
        while count < wanted:
            if voice == "recorded":
                piece = self.recorded[random.integers(len(self.recorded))]
            else:
                piece = self.spoken(voice, int(random.integers(len(SENTENCES))))
            pause = np.zeros(int(random.uniform(0.1, 0.4) * RATE))
            pieces += [piece / level(piece), pause]
            count += len(piece) + len(pause)
        samples = np.concatenate(pieces)[:wanted]
        return samples * 10 ** (loudness / 20)
