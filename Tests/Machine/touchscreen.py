"""Runs in the guest, as root: a touchscreen of the kernel's uinput, for ten fingers. Reads lines, answers each with a line:

    down FINGER X Y      move FINGER X Y      up FINGER      (X and Y of 0 ... 32767)
"""

import fcntl
import os
import struct
import sys

SYN, KEY, ABSOLUTE = 0, 1, 3
TOUCH = 0x14A
X, Y, SLOT, SLOT_X, SLOT_Y, TRACKING = 0x00, 0x01, 0x2F, 0x35, 0x36, 0x39


def uinput(number, size=4):
    """The number of a request that hands `size` bytes to the kernel."""
    return 1 << 30 | size << 16 | ord("U") << 8 | number


device = os.open("/dev/uinput", os.O_WRONLY)


def emit(kind, code, value):
    os.write(device, struct.pack("@qqHHi", 0, 0, kind, code, value))


for bit in (KEY, ABSOLUTE):
    fcntl.ioctl(device, uinput(100), bit)
fcntl.ioctl(device, uinput(101), TOUCH)
fcntl.ioctl(device, uinput(110), 1)  # the property of a direct device: one looks at what one touches
for code, maximum in ((X, 32767), (Y, 32767), (SLOT, 9), (SLOT_X, 32767), (SLOT_Y, 32767), (TRACKING, 65535)):
    fcntl.ioctl(device, uinput(103), code)
    fcntl.ioctl(device, uinput(4, 28), struct.pack("@Hxx6i", code, 0, 0, maximum, 0, 0, 100))
fcntl.ioctl(device, uinput(3, 92), struct.pack("@HHHH80sI", 3, 0x1234, 0x5678, 1, b"Touchscreen of the test", 0))
fcntl.ioctl(device, ord("U") << 8 | 1)
print("ready", flush=True)

fingers, identifier = set(), 0
for line in sys.stdin:
    action, finger, *position = line.split()
    emit(ABSOLUTE, SLOT, int(finger))
    if action == "down":
        identifier += 1
        emit(ABSOLUTE, TRACKING, identifier)
        if not fingers:
            emit(KEY, TOUCH, 1)
        fingers.add(finger)
    if action == "up":
        emit(ABSOLUTE, TRACKING, -1)
        fingers.discard(finger)
        if not fingers:
            emit(KEY, TOUCH, 0)
    else:
        x, y = map(int, position)
        for code, value in ((SLOT_X, x), (SLOT_Y, y), (X, x), (Y, y)):
            emit(ABSOLUTE, code, value)
    emit(SYN, 0, 0)
    print("done", flush=True)
