"""What is on the disk of a box that lost its power: whether it starts, and with what."""

import glob
import json
import os
import shutil
import struct
import subprocess
import tomllib
import zlib

import boot_choice
from failure import ROOT, Failure

SECTOR = 512
PARLOR = os.path.join(ROOT, ".build/release/parlor")

class Partition:
    def __init__(self, name, start, sectors):
        self.name, self.start, self.sectors = name, start, sectors


def partitions(disk):
    """The partitions by the first table if it is whole, else by its copy at the end of the disk: so do firmware and, told `gpt`, Linux. And whether it is the first."""
    size = os.fstat(disk.fileno()).st_size // SECTOR
    for place in (1, size - 1):
        header = os.pread(disk.fileno(), SECTOR, place * SECTOR)
        length, checksum = struct.unpack_from("<I", header, 12)[0], struct.unpack_from("<I", header, 16)[0]
        if header[:8] != b"EFI PART" or not 92 <= length <= SECTOR:
            continue
        if zlib.crc32(header[:16] + bytes(4) + header[20:length]) != checksum or struct.unpack_from("<Q", header, 24)[0] != place:
            continue
        at, count, width, checksum = struct.unpack_from("<QIII", header, 72)
        table = os.pread(disk.fileno(), count * width, at * SECTOR)
        if zlib.crc32(table) != checksum:
            continue
        found = {}
        for number in range(count):
            entry = table[number * width : (number + 1) * width]
            if any(entry[:16]):
                name = entry[56:128].decode("utf-16-le").rstrip("\0")
                first, last = struct.unpack_from("<QQ", entry, 32)
                found[name] = Partition(name, first, last - first + 1)
        return found, place == 1
    raise Failure("no table of partitions is whole")


def copy_out(disk, partition, path):
    """Writes a partition to a file, with holes where it has them."""
    source, (at, end) = disk.fileno(), (partition.start * SECTOR, (partition.start + partition.sectors) * SECTOR)
    with open(path, "wb") as file:
        file.truncate(end - at)
        while at < end:
            try:
                start = min(os.lseek(source, at, os.SEEK_DATA), end)
            except OSError:
                break
            at = min(os.lseek(source, start, os.SEEK_HOLE), end) if start < end else end
            position = start
            while position < at:
                count = os.copy_file_range(source, file.fileno(), min(at - position, 64 << 20), position, position - partition.start * SECTOR)
                if not count:
                    raise Failure(f"the partition {partition.name} ends early")
                position += count


def run(*arguments, environment=None):
    answer = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "MTOOLS_SKIP_CHECK": "1", **(environment or {})})
    return answer.returncode, answer.stdout.decode(errors="replace")


def short(text, lines=8):
    return " | ".join(text.strip().splitlines()[-lines:])


def mend(path):
    """Has a FAT file system mended as the box does it before it is written to, where the mark says that it was in use; returns what is wrong then."""
    with open(path, "rb") as file:
        is_dirty = file.read(66)[65] & 1
    if is_dirty:
        run("fsck.fat", "-a", path)
    code, text = run("fsck.fat", "-n", path)
    return [f"a FAT file system that was {'mended' if is_dirty else 'not in use'} is not whole: {short(text)}"] if code else []


def fat_names(path, folder="/"):
    """The files below a folder of a FAT file system, as seen from it."""
    code, text = run("mdir", "-b", "-/", "-i", path, f"::{folder}")
    if code:
        raise Failure(f"{folder} cannot be listed: {short(text)}")
    return [line[2:].removeprefix(folder).lstrip("/") for line in text.splitlines() if line.startswith("::") and not line.endswith("/")]


def fat_read(path, name):
    answer = subprocess.run(["mtype", "-i", path, f"::{name}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "MTOOLS_SKIP_CHECK": "1"})
    return answer.stdout if answer.returncode == 0 else None


def same(one, first, other, second, length):
    """Whether two files have the same bytes, `length` of them from `first` and `second` on."""
    for start in range(0, length, 1 << 20):
        count = min(1 << 20, length - start)
        if os.pread(one.fileno(), count, first + start) != os.pread(other.fileno(), count, second + start):
            return False
    return True


class Checks:
    """Looks at disks of boxes that lost their power. `image` is what they were flashed with, `bundle` a folder with the content of the update that they were given."""

    def __init__(self, folder, image, bundle):
        self.folder, self.bundle = folder, bundle
        self.image = open(image, "rb")
        self.original, _ = partitions(self.image)
        self.kernels = {}
        for letter in "ab":
            with open(os.path.join(bundle, f"kernel-{letter}.efi"), "rb") as file:
                self.kernels[letter] = file.read()
        self.root_size = os.path.getsize(os.path.join(bundle, "rootfs.img"))
        esp = os.path.join(folder, "esp.img")
        copy_out(self.image, self.original["esp"], esp)
        self.fixed = {name: fat_read(esp, name) for name in fat_names(esp) if not name.startswith("EFI/Linux/")}
        self.known = {}

    def close(self):
        self.image.close()

    def once(self, cut, partition, check):
        """What a check says of a partition, which need not be looked at again as long as nothing is written to it."""
        state = (cut.state(partition.start), partition.sectors)
        if self.known.get(check, (None,))[0] != state:
            path = os.path.join(self.folder, f"{partition.name}.img")
            copy_out(cut.disk, partition, path)
            self.known[check] = (state, check(path))
        return self.known[check][1]

    def starts(self, cut):
        """All that is wrong with how the box would start. `is_first_table` tells afterwards whether the first table of partitions is whole."""
        found, self.is_first_table = partitions(cut.disk)
        if list(found) != list(self.original) or any(found[name].start != self.original[name].start for name in found):
            return [f"the partitions are {list(found)}"]
        self.partitions = found
        problems = list(self.once(cut, found["esp"], self.boot_loader))
        if not problems and (letter := self.letter) == "b":
            root = found["root-b"]
            state = cut.state(root.start)
            if self.known.get("root-b", (None,))[0] != state:
                whole = same(cut.disk, root.start * SECTOR, self.image, self.original["root-a"].start * SECTOR, self.root_size)
                self.known["root-b"] = (state, [] if whole else ["slot B is started, but is not whole"])
            problems += self.known["root-b"][1]
        return problems

    def boot_loader(self, path):
        """Whether the boot loader is whole, and the kernel that it would take."""
        problems, self.letter = [], None
        try:
            names = fat_names(path)
        except Failure as failure:
            return [*problems, f"esp: {failure}"]
        problems += [f"esp: {name} is not what it was" for name, content in self.fixed.items() if fat_read(path, name) != content]
        kernels = [name.removeprefix("EFI/Linux/") for name in names if name.startswith("EFI/Linux/") and name.lower().endswith(".efi")]
        if odd := [name for name in kernels if not boot_choice.NAME.fullmatch(name)]:
            return [*problems, f"esp: kernels of other names: {odd}"]
        first = boot_choice.first_of(kernels)
        if not first:
            return [*problems, "esp: no kernel"]
        self.letter = boot_choice.NAME.fullmatch(first)[2]
        if fat_read(path, f"EFI/Linux/{first}") != self.kernels[self.letter]:
            problems.append(f"esp: {first} is started of {kernels}, but is not whole")
        # The next update's turn.
        problems += [f"esp: {problem}" for problem in mend(path)]
        if not problems and fat_read(path, f"EFI/Linux/{first}") != self.kernels[self.letter]:
            problems.append(f"esp: {first} is not whole any more once the file system is mended")
        return problems

    def kept(self, cut, least, versions, identity):
        """All that is wrong with what the box remembers: files of `versions`, dictionaries of what the configuration says, that of number `least` (nothing when it is None) or the one after
        it; and `identity`, files below the box's folder by their names."""
        problems = []
        root = os.path.join(self.folder, "root")
        shutil.rmtree(root, ignore_errors=True)
        partition_folder = os.path.join(root, "run/parlor-provision/partition")
        os.makedirs(partition_folder)
        os.makedirs(os.path.join(root, "var/lib"))
        data, own = (self.once(cut, self.partitions[name], check) for name, check in (("parlor-data", self.data), ("parlor", self.site)))
        problems += data[0] + own[0]
        if data[1]:
            shutil.copytree(data[1], os.path.join(root, "var/lib/parlor-system"), symlinks=True)
        for name, content in own[1].items():
            path = os.path.join(partition_folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)
        allowed = versions[:1] if least is None else versions[least : least + 2]
        store = os.path.join(root, "var/lib/parlor-system")
        if least is not None:
            problems += self.configuration(store, allowed)
        for name, content in identity.items():
            try:
                with open(os.path.join(store, name)) as file:
                    there = file.read()
            except OSError as error:
                there = str(error)
            if there != content:
                problems.append(f"{name} is {there!r}, not {content!r}")
        # The box's next start.
        code, text = run(PARLOR, "provision", "--root", root)
        if code:
            problems.append(f"the next start: provisioning ends with {code}: {short(text)}")
        problems += [f"the next start: {problem}" for problem in self.configuration(store, allowed, is_settled=True)]
        for name in glob.glob("**", root_dir=partition_folder, recursive=True):
            path = os.path.join(partition_folder, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    if b"bearer-token" in file.read():
                        problems.append(f"the next start: {name} on the partition still has the secret")
        return problems

    def data(self, path):
        """The data partition as the box itself takes it into use, and then looked at strictly; and where its files lie afterwards, None if there are none."""
        problems = []
        code, text = run("e2fsck", "-p", path)
        if code >= 4:
            problems.append(f"data: the box has to guess: {short(text)}")
            run("e2fsck", "-f", "-y", path)
        code, text = run("e2fsck", "-f", "-n", path)
        if code:
            problems.append(f"data: {short(text)}")
        folder = os.path.join(self.folder, "data")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        run("debugfs", "-R", f"rdump /lib/parlor-system {folder}", path)
        there = os.path.join(folder, "parlor-system")
        return problems, there if os.path.exists(there) else None

    def site(self, path):
        """The PARLOR partition, and what is on it."""
        problems = [f"parlor: {problem}" for problem in mend(path)]
        try:
            names = fat_names(path)
        except Failure as failure:
            return [*problems, f"parlor: {failure}"], {}
        contents = {name: fat_read(path, name) for name in names}
        problems += [f"parlor: {name} cannot be read" for name, content in contents.items() if content is None]
        return problems, {name: content for name, content in contents.items() if content is not None}

    def configuration(self, store, allowed, is_settled=False):
        """Whether the configuration that is kept is one of those that are allowed, with the record of its grants: of just these when it `is_settled`."""
        file = os.path.join(store, "current/parlor.toml")
        try:
            with open(file, "rb") as opened:
                content = tomllib.load(opened)
            with open(os.path.join(store, "grants.json")) as opened:
                grants = json.load(opened)
        except (OSError, ValueError) as error:
            return [f"the configuration cannot be read: {error}"]
        if content not in allowed:
            return [f"the configuration is {content}, not one of {[version['identity']['name'] for version in allowed]}"]
        problems = []
        code, text = run(PARLOR, "check", "--config", file)
        if code:
            problems.append(f"the configuration is not valid: {short(text)}")
        recorded = [{key: grant[key] for key in ("origin", "camera", "microphone")} for grant in grants]
        is_right = recorded == content["grants"] if is_settled else all(grant in recorded for grant in content["grants"])
        if not is_right or any("since" not in grant or "source" not in grant for grant in grants):
            problems.append(f"the record of grants is {recorded}")
        return problems
