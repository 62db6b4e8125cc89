"""Sound as arrays of samples, one row for each channel; and what is to be heard in it."""

import io
import wave

import numpy as np

from screens import Failure

RATE = 48000
# 1.4 s of speech, 48 kHz, one channel; every guest has it.
SPEECH = "/usr/share/sounds/alsa/Front_Center.wav"


def samples(data):
    """The samples of a WAV file of 16 bits, also of one that is still being written."""
    file = io.BytesIO(data)
    file.seek(12)
    channels = None
    while len(head := file.read(8)) == 8:
        size = int.from_bytes(head[4:], "little")
        if head[:4] == b"fmt ":
            channels = int.from_bytes(file.read(size)[2:4], "little")
        elif head[:4] == b"data":
            sound = np.frombuffer(file.read(), "<i2")
            return sound[: len(sound) // channels * channels].reshape(-1, channels).T
        else:
            file.seek(size, io.SEEK_CUR)
    raise Failure("a WAV file without sound")


def file(sound):
    """A WAV file of these samples."""
    content = io.BytesIO()
    with wave.open(content, "wb") as target:
        target.setnchannels(len(sound))
        target.setsampwidth(2)
        target.setframerate(RATE)
        target.writeframes(np.ascontiguousarray(sound.T, "<i2").tobytes())
    return content.getvalue()


def likeness(sound, wanted):
    """How alike the sound is to the wanted one, from each sample on (1: the same but for its loudness)."""
    sound, wanted = sound.astype(float), wanted.astype(float)
    if len(sound) < len(wanted):
        return np.zeros(1)
    size = 1 << (len(sound) + len(wanted)).bit_length()
    product = np.fft.irfft(np.fft.rfft(sound, size) * np.conj(np.fft.rfft(wanted, size)), size)[: len(sound) - len(wanted) + 1]
    energy = np.cumsum(np.concatenate([[0], sound**2]))
    energy = energy[len(wanted) :] - energy[: -len(wanted)]
    return np.abs(product) / np.sqrt((energy + len(wanted)) * wanted.dot(wanted))


def found(sound, wanted):
    """Where the wanted sound is, in samples, and how alike it is there."""
    alike = likeness(sound, wanted)
    begin = int(np.argmax(alike))
    return begin, float(alike[begin])


def pieces(spoken, length=2400):
    """The loud ones of so many samples each."""
    parts = [spoken[start : start + length] for start in range(0, len(spoken) - length + 1, length)]
    loudest = max(np.abs(part).max() for part in parts)
    return [part for part in parts if np.abs(part).max() > loudest / 4]


def heard(recorded, original, where):
    """Every channel of what was recorded has the original in it, whole and unaltered."""
    for channel in recorded:
        likeness = found(channel, original[0])[1] if len(channel) >= original.shape[1] else 0
        if likeness < 0.999:
            raise Failure(f"{where}: the sound is not what was played: {likeness:.4f} alike, {len(channel) / RATE:.2f} s, peak {np.abs(channel).max(initial=0)}")
