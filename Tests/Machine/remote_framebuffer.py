"""The one message of the remote framebuffer protocol (RFC 6143) that the machine tests need: a client asks for another size of the desktop,
which QEMU's virtio-gpu hands on to its guest as a monitor with that preferred mode; 0 by 0 is no monitor."""

import socket
import struct

EXTENDED_DESKTOP_SIZE = -308


def set_desktop_size(path, width, height):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(path)
        stream = connection.makefile("rwb")

        def send(data):
            stream.write(data)
            stream.flush()

        stream.read(12)
        send(b"RFB 003.008\n")
        kinds = stream.read(stream.read(1)[0])
        assert 1 in kinds, "the server wants a password"
        send(b"\x01")
        assert stream.read(4) == bytes(4)
        send(b"\x01")  # shared
        (name_length,) = struct.unpack("!20xI", stream.read(24))
        stream.read(name_length)
        send(struct.pack("!BxHi", 2, 1, EXTENDED_DESKTOP_SIZE))
        send(struct.pack("!BxHHBxIHHHHI", 251, width, height, 1, 0, 0, 0, width, height, 0))
        # The server answers in order: once it has answered this one, it has taken the one before.
        send(struct.pack("!BBHHHH", 3, 0, 0, 0, 1, 1))
        stream.read(1)
