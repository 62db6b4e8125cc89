"""Pictures as arrays of rows, columns, and red, green, blue; and the two ways to see what a display shows."""

import os
import zlib

import numpy as np
from PIL import Image

from machine import WORK

SHOTS = os.path.join(WORK, "shots")


class Failure(Exception):
    """What a user would complain about."""


def read(path):
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def keep(picture, name):
    """Keeps a picture to be looked at; its path."""
    os.makedirs(SHOTS, exist_ok=True)
    path = os.path.join(SHOTS, name.replace(" ", "-").replace("/", "-") + ".png")
    Image.fromarray(picture).save(path)
    return path


def turned(picture, degrees):
    """The picture turned clockwise."""
    return np.rot90(picture, -degrees // 90)


def screen(machine, head=0):
    path = os.path.join(machine.folder, "screen.ppm")
    machine.screen(path, head)
    return read(path)


def differences(seen, picture):
    """What differs, in words; nothing when the pictures are the same, pixel by pixel."""
    if seen.shape != picture.shape:
        return f"the screen has {size(seen)} pixels, the picture {size(picture)}"
    if np.array_equal(seen, picture):
        return None
    rows, columns = np.nonzero((seen != picture).any(axis=2))
    return (
        f"{len(rows)} pixels differ, from {columns.min()},{rows.min()} to {columns.max()},{rows.max()}, "
        f"by up to {np.abs(seen.astype(int) - picture.astype(int)).max()}"
    )


def size(picture):
    return f"{picture.shape[1]}x{picture.shape[0]}"


def checksum(picture):
    """What vkms says of the picture: CRC-32 without inversions, of 16-bit alpha, red, green and blue of each pixel (vkms_composer.c of Linux 6.1)."""
    wide = np.empty((*picture.shape[:2], 4), "<u2")
    wide[..., 0] = 0xFFFF
    wide[..., 1:] = picture.astype("<u2") * 257
    return zlib.crc32(wide.tobytes(), 0xFFFFFFFF) ^ 0xFFFFFFFF


def displayed_checksum(machine):
    """The checksum of a frame that vkms shows from now on; none while it shows nothing."""
    # The first entry may be of the frame before.
    lines = machine.root("timeout 20 head -n 3 /sys/kernel/debug/dri/0/crtc-0/crc/data 2>/dev/null", check=False).splitlines()
    return int(lines[-1].split()[1], 16) if lines else None
