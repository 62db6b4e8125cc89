"""The picture and the sound that the peers send each other, and how what arrives is measured.

Every picture carries a time code, so that each one received is compared with the very picture that was sent.
"""

import binascii
import math
import mmap
import os
import wave
from dataclasses import dataclass

import numpy as np

RATE = 30
SAMPLE_RATE = 48000

# The time code, as Sources/Media/Camera/TimeCode.swift draws it: at the top three rows of 32 square blocks, white for 1, the highest bit
# first: the picture's number; the lower 32 bits of its time in milliseconds; the upper 8 bits, a CRC-16 of number and time, and a pattern.
COLUMNS, ROWS, PATTERN = 32, 3, 0b1010_0101
BLACK, WHITE = 32, 220


def edges(width, count):
    return [position * width // COLUMNS for position in range(count + 1)]


@dataclass(frozen=True)
class TimeCode:
    index: int
    milliseconds: int

    def bits(self):
        time = self.milliseconds & 0xFF_FFFF_FFFF
        check = binascii.crc_hqx(self.index.to_bytes(4, "big") + time.to_bytes(5, "big"), 0xFFFF)
        words = (self.index, time & 0xFFFF_FFFF, time >> 32 << 24 | check << 8 | PATTERN)
        return np.unpackbits(np.array(words, ">u4").view(np.uint8)).reshape(ROWS, COLUMNS)

    def draw(self, luma):
        columns, rows = edges(luma.shape[1], COLUMNS), edges(luma.shape[1], ROWS)
        values = np.where(self.bits(), WHITE, BLACK).astype(np.uint8)
        luma[: rows[-1]] = values.repeat(np.diff(rows), 0).repeat(np.diff(columns), 1)

    @staticmethod
    def read(luma):
        """The code at the top of a picture of any size, or nothing where none can be read."""
        columns, rows = edges(luma.shape[1], COLUMNS), edges(luma.shape[1], ROWS)
        if rows[-1] > luma.shape[0] or columns[1] < 4:
            return None
        margin = columns[1] // 4  # the edges are smeared by scaling and coding
        means = np.array([[luma[top + margin : bottom - margin, left + margin : right - margin].mean()
                           for left, right in zip(columns, columns[1:])] for top, bottom in zip(rows, rows[1:])])
        words = np.packbits(means > (means.min() + means.max()) / 2).view(">u4").tolist()
        code = TimeCode(words[0], words[2] >> 24 << 32 | words[1])
        return code if np.array_equal(np.packbits(code.bits()).view(">u4").tolist(), words) else None


def strip_height(width):
    """Rows at the top that belong to the time code and not to the picture, and a few that a codec smears."""
    return edges(width, ROWS)[-1] + 8


class Camera:
    """The pictures of Sources/Media/Camera/SyntheticCamera.swift, made a second time: each is a function of its number alone."""

    def __init__(self, width=640, height=360):
        self.width, self.height = width, height
        self.margin = (width // 8 & ~1, height // 8 & ~1)
        wide, high = width + self.margin[0], height + self.margin[1]
        x, y = np.arange(wide), np.arange(high)
        columns = 34 * np.sin(x / 61) + 12 * np.sin(x / 13 + 1)
        rows = 30 * np.cos(y / 47) + 10 * np.sin(y / 11)
        self.luma = (118 + columns + rows[:, None] + texture(wide, high)).astype(np.uint8)
        narrow, low = np.arange(wide // 2) * 2, np.arange(high // 2) * 2
        self.u = np.broadcast_to(128 + 0.4 * columns[np.where(narrow < width, narrow, narrow // 2)], (high // 2, wide // 2)).astype(np.uint8)
        self.v = np.broadcast_to((128 - 0.4 * rows[np.where(low < height, low, low // 2)])[:, None], (high // 2, wide // 2)).astype(np.uint8)

    @staticmethod
    def swing(phase, span):
        """To and fro between 0 and `span` once per turn, in even steps."""
        return int((0.5 - 0.5 * math.cos(2 * math.pi * phase)) * span) & ~1

    def picture(self, index):
        """Luma and chroma of one frame: a panned landscape, a disc, a square, and the time code."""
        t, swing, width, height = index / 30, self.swing, self.width, self.height
        x, y = swing(t / 11, self.margin[0]), swing(t / 17, self.margin[1])
        luma = self.luma[y : y + height, x : x + width].copy()
        u, v = (plane[y // 2 : (y + height) // 2, x // 2 : (x + width) // 2].copy() for plane in (self.u, self.v))
        radius = height // 8
        x, y = radius + swing(t / 5, width - 2 * radius), height // 3 + swing(t / 3.7, height // 2)
        for row in range(-radius, radius):
            half = int(math.sqrt(radius * radius - row * row))
            luma[y + row : y + row + 1, x - half : x + half] = 190
            if row % 2 == 0:
                columns = slice((x - half) // 2, (x + half) // 2)
                u[(y + row) // 2 : (y + row) // 2 + 1, columns], v[(y + row) // 2 : (y + row) // 2 + 1, columns] = 100, 180
        side = height // 9 & ~1
        x, y = swing(0.25 + t / 7.3, width - side), height - side - swing(t / 4.1, height // 4)
        luma[y : y + side, x : x + side] = 70
        columns = slice(x // 2, (x + side) // 2)
        u[y // 2 : (y + side) // 2, columns], v[y // 2 : (y + side) // 2, columns] = 170, 100
        TimeCode(index, index * 1000 // RATE).draw(luma)
        strip = (edges(width, ROWS)[-1] + 1) // 2
        u[:strip], v[:strip] = 128, 128
        return luma, u, v


def texture(width, height):
    """0 to 3 for each pixel, from the generator of Sources/Base/RandomSource.swift with seed 20: one draw a row is not used."""
    mask = (1 << 64) - 1
    state, seed = [], 20
    for _ in range(4):
        seed = (seed + 0x9E37_79B9_7F4A_7C15) & mask
        z = (seed ^ seed >> 30) * 0xBF58_476D_1CE4_E5B9 & mask
        z = (z ^ z >> 27) * 0x94D0_49BB_1331_11EB & mask
        state.append(z ^ z >> 31)

    def draw():
        a, b, c, d = state
        five = b * 5 & mask
        result = (five << 7 | five >> 57) * 9 & mask
        c, d = c ^ a, d ^ b
        state[:] = a ^ d, b ^ c, c ^ b << 17 & mask, (d << 45 | d >> 19) & mask
        return result

    words = np.array([[draw() for _ in range((width + 31) // 32 + 1)][1:] for _ in range(height)], np.uint64)
    return (words[:, :, None] >> np.arange(0, 64, 2, np.uint64) & np.uint64(3)).reshape(height, -1)[:, :width].astype(np.float64)


def write_camera(path, seconds=12, width=640, height=360):
    """The first pictures of the camera as a Y4M file, made once."""
    if os.path.exists(path):
        return
    camera = Camera(width, height)
    with open(path + ".part", "wb") as file:
        file.write(f"YUV4MPEG2 W{width} H{height} F{RATE}:1 Ip A1:1 C420jpeg\n".encode())
        for index in range(seconds * RATE):
            file.write(b"FRAME\n" + b"".join(plane.tobytes() for plane in camera.picture(index)))
    os.rename(path + ".part", path)


def write_microphone(path, seconds=12):
    """A 440 Hz tone at -24 dBov with a click of 10 ms at the start of each second, as a WAV file."""
    if os.path.exists(path):
        return
    t = np.arange(seconds * SAMPLE_RATE)
    samples = 3000 * np.sin(2 * np.pi * 440 * t / SAMPLE_RATE)
    length = SAMPLE_RATE // 100
    click = t % SAMPLE_RATE < length
    phase = t[click] % SAMPLE_RATE
    samples[click] += 16000 * np.sin(np.pi * (phase + 0.5) / length) ** 2 * np.sin(2 * np.pi * 2000 * phase / SAMPLE_RATE)
    with wave.open(path + ".part", "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(samples.round().astype("<i2").tobytes())
    os.rename(path + ".part", path)


class Y4M:
    """The luma planes of a Y4M file, without reading it whole. A header in mid-file changes the size from there on."""

    def __init__(self, path):
        self.frames = []  # (offset, width, height, chroma bytes)
        with open(path, "rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if os.path.getsize(path) else b""
        offset, width, height, chroma = 0, 0, 0, 0
        while (end := self.data.find(b"\n", offset, offset + 256)) >= 0:
            fields = self.data[offset:end].split()
            offset = end + 1
            if fields[0] == b"YUV4MPEG2":
                named = {field[:1]: field[1:] for field in fields[1:]}
                width, height = int(named[b"W"]), int(named[b"H"])
                chroma = 0 if named.get(b"C") == b"mono" else 2 * ((width + 1) // 2) * ((height + 1) // 2)
            elif offset + width * height + chroma > len(self.data):
                break  # cut off when its writer was stopped
            else:
                self.frames.append((offset, width, height, chroma))
                offset += width * height + chroma

    def __len__(self):
        return len(self.frames)

    def luma(self, index):
        offset, width, height, _ = self.frames[index]
        return np.frombuffer(self.data, np.uint8, width * height, offset).reshape(height, width)

    def planes(self, index):
        """All three planes in one array, as FFmpeg lays out yuv420p."""
        offset, width, height, chroma = self.frames[index]
        return np.frombuffer(self.data, np.uint8, width * height + chroma, offset).reshape(height * 3 // 2, width)


class Recorder:
    """Writes luma planes of any size to a Y4M file."""

    def __init__(self, path):
        self.file = open(path, "wb") if path else None
        self.size = None
        self.count = 0

    def add(self, luma):
        """`luma`: a contiguous array of height × width bytes."""
        self.count += 1
        if self.file is None:
            return
        if luma.shape != self.size:
            self.size = luma.shape
            self.file.write(f"YUV4MPEG2 W{luma.shape[1]} H{luma.shape[0]} F{RATE}:1 Ip A1:1 Cmono\n".encode())
        self.file.write(b"FRAME\n")
        self.file.write(luma.tobytes())

    def close(self):
        if self.file:
            self.file.close()


class SoundRecorder:
    """Writes 16-bit mono samples of any rate to a WAV file of 48 kHz."""

    def __init__(self, path):
        self.path, self.file = path, None

    def add(self, samples, rate):
        if self.path is None:
            return
        if self.file is None:
            self.file = wave.open(self.path, "wb")
            self.file.setnchannels(1)
            self.file.setsampwidth(2)
            self.file.setframerate(SAMPLE_RATE)
        if rate != SAMPLE_RATE:
            count = len(samples) * SAMPLE_RATE // rate
            samples = np.interp(np.arange(count) * rate / SAMPLE_RATE, np.arange(len(samples)), samples)
        self.file.writeframes(samples.astype("<i2").tobytes())

    def close(self):
        if self.file:
            self.file.close()


def measure_video(sent_path, received_path):
    """What a viewer saw: how many pictures, how many with a readable time code, and how like the ones sent they were.

    The likeness is the PSNR of luma over all pictures from the second second on, when the sender's rate has settled.
    """
    sent, received = Y4M(sent_path), Y4M(received_path)
    codes, errors, worst, previous, backwards, sizes = 0, [], math.inf, None, 0, {}
    first = None
    for i in range(len(received)):
        luma = received.luma(i)
        sizes[f"{luma.shape[1]}x{luma.shape[0]}"] = sizes.get(f"{luma.shape[1]}x{luma.shape[0]}", 0) + 1
        code = TimeCode.read(luma)
        if code is None:
            continue
        codes += 1
        index = code.index
        if previous is not None and index < previous and previous - index < RATE:
            backwards += 1
        previous = index
        first = index if first is None else first
        if index - first < RATE or index >= len(sent):
            continue
        source = sent.luma(index)
        if source.shape != luma.shape:
            continue
        top = strip_height(luma.shape[1])
        error = float(np.mean((source[top:].astype(np.int16) - luma[top:]) ** 2.0))
        errors.append(error)
        worst = min(worst, psnr(error))
    return {
        "frames": len(received),
        "time_codes": codes,
        "compared": len(errors),
        "luma_psnr_db": round(psnr(sum(errors) / len(errors)), 2) if errors else None,
        "worst_psnr_db": round(worst, 2) if errors else None,
        "backwards": backwards,
        "sizes": sizes,
    }


def psnr(mean_square_error):
    return 99.0 if mean_square_error <= 0 else min(99.0, 10 * math.log10(255**2 / mean_square_error))


def measure_audio(path):
    """What a listener heard: seconds of sound, the tone's pitch and level, and the clicks."""
    if not os.path.exists(path) or os.path.getsize(path) <= 44:
        return {"seconds": 0, "tone_hz": None, "level_dbov": None, "clicks": 0, "click_gap_ms": None}
    with wave.open(path, "rb") as file:
        rate, channels = file.getframerate(), file.getnchannels()
        raw = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    samples = raw.reshape(-1, channels).mean(1) / 32768 if channels > 1 else raw / 32768
    block = rate // 500
    level = np.sqrt(np.mean(samples[: len(samples) // block * block].reshape(-1, block) ** 2, 1))
    loud, clicks, last = level > 0.15, [], -math.inf
    for i in np.flatnonzero(loud):
        if i - last > 100:
            clicks.append(i * 2)
        last = i
    gaps = np.diff(clicks)
    tone = samples[-2 * rate :]
    spectrum = np.abs(np.fft.rfft(tone * np.hanning(len(tone))))
    quiet = level[(level > 0.001) & ~loud]
    return {
        "seconds": round(len(samples) / rate, 2),
        "tone_hz": round(float(np.argmax(spectrum)) * rate / max(1, len(tone)), 1),
        "level_dbov": round(20 * math.log10(float(np.median(quiet))), 1) if len(quiet) else None,
        "clicks": len(clicks),
        "click_gap_ms": float(np.median(gaps)) if len(gaps) else None,
    }
