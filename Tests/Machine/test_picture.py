"""The numbered moving picture that camera_feeder.c gives, as planes of luma and of the two chroma components (4:2:2)."""

import io

import numpy as np
from PIL import Image

BLOCKS = 32
PATTERN = 0xA5


def strip_height(width):
    return 3 * width // BLOCKS


def planes(width, height, number):
    """What is below the strip of picture `number`; the strip's place is black."""
    y, x = np.mgrid[0:height, 0:width]
    luma = 64 + (x + y + 4 * number) % 128
    blue = np.broadcast_to(64 + 256 * np.arange(width // 2) // width, (height, width // 2))
    red = np.broadcast_to((64 + 128 * np.arange(height) // height)[:, None], (height, width // 2))
    return luma.astype(np.uint8), blue.astype(np.uint8), red.astype(np.uint8)


def checksum(data):
    remainder = 0xFFFF
    for byte in data:
        remainder ^= byte << 8
        for _ in range(8):
            remainder = (remainder << 1 ^ 0x1021 if remainder & 0x8000 else remainder << 1) & 0xFFFF
    return remainder


def strip(luma):
    """The number and the milliseconds that the picture's strip says; nothing when it can't be read."""
    width = luma.shape[1]
    edges = [position * width // BLOCKS for position in range(BLOCKS + 1)]
    words = []
    for row in range(3):
        middle = (edges[row] + edges[row + 1]) // 2
        bits = ["1" if luma[middle, (edges[column] + edges[column + 1]) // 2] > 126 else "0" for column in range(BLOCKS)]
        words.append(int("".join(bits), 2))
    number, low, rest = words
    milliseconds = (rest >> 24) << 32 | low
    data = number.to_bytes(4, "big") + milliseconds.to_bytes(5, "big")
    return (number, milliseconds) if rest & 0xFF == PATTERN and rest >> 8 & 0xFFFF == checksum(data) else None


def of_yuyv(data, width, height):
    pixels = np.frombuffer(data, np.uint8).reshape(height, width // 2, 4)
    luma = np.stack([pixels[:, :, 0], pixels[:, :, 2]], axis=2).reshape(height, width)
    return luma, pixels[:, :, 1], pixels[:, :, 3]


def of_jpeg(data):
    image = Image.open(io.BytesIO(data))
    image.draft("YCbCr", None)
    pixels = np.asarray(image.convert("YCbCr"))
    return pixels[:, :, 0], pixels[:, ::2, 1], pixels[:, ::2, 2]


def jpegs(data):
    """The pictures of a file that has one after the other."""
    parts = data.split(b"\xff\xd8\xff")
    return [b"\xff\xd8\xff" + part for part in parts[1:]]


def error(seen, number):
    """By how much the picture differs from picture `number`, at most on average over a plane, below the strip."""
    height, width = seen[0].shape
    top = strip_height(width) + 8  # a codec's blocks may reach over the edge
    return max(
        float(np.abs(found[top:].astype(int) - wanted[top:].astype(int)).mean()) for found, wanted in zip(seen, planes(width, height, number), strict=True)
    )
