"""Reads the PNG files that parlor-page writes: 8 bits, red, green, blue, and alpha unless all is opaque."""

import struct
import zlib


class Picture:
    def __init__(self, path):
        data = open(path, "rb").read()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        position, packed = 8, b""
        while position < len(data):
            length, kind = struct.unpack("!I4s", data[position : position + 8])
            body = data[position + 8 : position + 8 + length]
            if kind == b"IHDR":
                self.width, self.height, depth, color = struct.unpack("!IIBB", body[:10])
                assert depth == 8 and color in (2, 6), (depth, color)
                self.bytes = 4 if color == 6 else 3
            elif kind == b"IDAT":
                packed += body
            position += 12 + length
        self.rows = self.unfilter(zlib.decompress(packed))

    def unfilter(self, data):
        size = self.bytes
        stride, rows, before = self.width * self.bytes, [], bytearray(self.width * self.bytes)
        for y in range(self.height):
            kind, row = data[y * (stride + 1)], bytearray(data[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
            if kind == 1:
                for i in range(size, stride):
                    row[i] = row[i] + row[i - size] & 255
            elif kind == 2:
                for i in range(stride):
                    row[i] = row[i] + before[i] & 255
            elif kind == 3:
                for i in range(stride):
                    row[i] = row[i] + ((row[i - size] if i >= size else 0) + before[i] >> 1) & 255
            elif kind == 4:
                for i in range(stride):
                    a, b, c = (row[i - size] if i >= size else 0), before[i], (before[i - size] if i >= size else 0)
                    p, q, r = abs(b - c), abs(a - c), abs(a + b - 2 * c)
                    row[i] = row[i] + (a if p <= q and p <= r else b if q <= r else c) & 255
            rows.append(row)
            before = row
        return rows

    def pixel(self, x, y):
        """Red, green, blue and alpha, the colours not multiplied by alpha."""
        return (*self.rows[y][x * self.bytes : (x + 1) * self.bytes], 255)[:4]
