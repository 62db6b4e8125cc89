"""What a disk was told, as QEMU's blklogwrites wrote it down, and what of it is on the disk when the power goes.

The log has the format of Linux's dm-log-writes: a super block (magic, version, number of entries, size of sectors), then for each request a sector that describes it (first sector,
number of sectors, flags, length of other data) and, behind it, what was written."""

import bisect
import collections
import itertools
import os
import struct

SECTOR = 512
MAGIC = 0x6A736677736872
FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8


def drive(log):
    """How QEMU is told to write down what a machine's disk is told: for ImageMachine's `drive`. The disk has a cache, as the guest knows, and is asked to flush it."""
    return (
        "if=none,id=system,cache=writeback,driver=blklogwrites,log-sector-size=512,log-super-update-interval=1,"
        "file.driver=raw,file.file.driver=file,file.file.filename={disk},file.cache.no-flush=on,file.file.cache.no-flush=on,"
        f"log.driver=raw,log.file.driver=file,log.file.filename={log},log.cache.no-flush=on,log.file.cache.no-flush=on"
    )


# QEMU 7.2 writes requests for zeroes down in two steps, between which others may come, and cannot write down those that it has joined to very long ones.
OPTIONS = [word for name in ("discard", "write-zeroes", "request-merging") for word in ("-global", f"virtio-blk-device.{name}=off")]


class WriteLog:
    """The requests of a log, in their order. `read` adds those that have come since."""

    def __init__(self, path):
        self.file = open(path, "rb")
        self.entries = []  # (first sector, number of sectors, flags, where the data begins in the log)
        self.next = SECTOR

    def close(self):
        self.file.close()

    def read(self):
        """Takes in what has been written; returns the number of requests. The machine must stand still."""
        self.file.seek(0)
        magic, version, count, size = struct.unpack("<QQQI", self.file.read(28))
        if (magic, version, size) != (MAGIC, 1, SECTOR):
            raise ValueError(f"no log of writes: {magic:#x}, version {version}, sectors of {size} bytes")
        end = os.fstat(self.file.fileno()).st_size
        while self.next < end:
            self.file.seek(self.next)
            sector, sectors, flags, length = struct.unpack("<QQQQ", self.file.read(32))
            if not (sectors or flags):
                break
            if length or flags & (DISCARD | MARK):
                raise ValueError(f"request {len(self.entries)} is of an unexpected kind: flags {flags}, {length} bytes")
            self.entries.append((sector, sectors, flags, self.next + SECTOR))
            self.next += SECTOR + sectors * SECTOR
        # The number in the super block is brought up to date by flushes.
        if len(self.entries) < count:
            raise ValueError(f"the log has {len(self.entries)} requests and says that there are {count}")
        return len(self.entries)

    def data(self, entry):
        self.file.seek(entry[3])
        return self.file.read(entry[1] * SECTOR)

    def cuts(self, count, generator):
        """Places in the log at which the power goes, in order: each stretch between two flushes is as likely as any other, however much was written in it."""
        flushes = [number for number, entry in enumerate(self.entries) if entry[2] & FLUSH and number]
        stretches = [(start, end) for start, end in itertools.pairwise([0, *flushes, len(self.entries)]) if end > start]
        chosen = [stretches[number * len(stretches) // count] for number in range(count)] if count <= len(stretches) else generator.choices(stretches, k=count)
        return sorted(generator.randint(start + 1, end) for start, end in chosen)


class CutDisk:
    """A disk whose power goes again and again, always at a later request: `disk`, a copy of what it was at the beginning, is what it is then.

    Requests before the last flush are on the disk for certain; of those behind it the cache has written what it liked. `starts` are the first sectors of partitions."""

    def __init__(self, disk, log, starts):
        self.path, self.disk, self.log, self.starts = disk, open(disk, "r+b", buffering=0), log, sorted(starts)
        self.certain = 0  # requests whose writes are on the disk whatever happens
        self.undo = []
        self.writes = collections.Counter()  # how often each partition was written to

    def close(self):
        self.disk.close()

    def cut(self, count, generator):
        """Makes the disk what it is when the power goes after `count` requests. Returns in words what is lost."""
        self.restore()
        flush = next((number for number in range(count - 1, self.certain - 1, -1) if self.log.entries[number][2] & FLUSH), self.certain)
        for entry in self.log.entries[self.certain : flush]:
            self.write(entry[0], self.log.data(entry))
        self.certain = flush
        pending = [entry for entry in self.log.entries[flush:count] if entry[1]]
        kind = generator.choice(["nothing", "everything", "the last one torn", "some", "some", "some sectors"])
        share = generator.random()
        kept = 0
        for entry in pending:
            data = self.log.data(entry)
            for start, length in parts(entry, kind, share, entry is pending[-1], generator):
                kept += length
                self.keep(entry[0] + start, data[start * SECTOR : (start + length) * SECTOR])
        return f"request {count}, {len(pending)} writes in the cache, kept: {kind}, {kept} of {sum(entry[1] for entry in pending)} sectors"

    def write(self, sector, data):
        if data:
            os.pwrite(self.disk.fileno(), data, sector * SECTOR)
            self.writes[bisect.bisect(self.starts, sector)] += 1

    def keep(self, sector, data):
        if data:
            self.undo.append((sector, os.pread(self.disk.fileno(), len(data), sector * SECTOR)))
            self.write(sector, data)

    def restore(self):
        """Takes back what was not certain."""
        for sector, data in reversed(self.undo):
            self.write(sector, data)
        self.undo = []

    def state(self, start):
        """A number that changes whenever something is written to the partition that begins there."""
        return self.writes[bisect.bisect(self.starts, start)]


def parts(entry, kind, share, is_last, generator):
    """What of a write the disk's cache has written: (first sector, number of sectors), counted from the write's first."""
    length = entry[1]
    if kind == "everything" or entry[2] & FUA:
        return [(0, length)]
    if kind == "the last one torn":
        return [(0, generator.randint(0, length) if is_last else length)]
    if kind == "some":
        return [(0, length)] if generator.random() < share else []
    if kind == "some sectors":
        # Each for itself, if they are not too many.
        piece = max(1, length // 64)
        return [(start, min(piece, length - start)) for start in range(0, length, piece) if generator.random() < share]
    return []
