"""Which slot is started: RAUC's way to the boot loader, beside a model of systemd-boot's rules."""

import functools
import os
import re
import subprocess
import tempfile

from failure import Failure, ROOT

SCRIPT = os.path.join(ROOT, "Image/overlay/usr/lib/parlor/rauc-boot")
NAME = re.compile(r"parlor-(\d+)-([ab])(?:\+(\d+)(?:-(\d+))?)?\.efi")


def first_of(kernels):
    """The kernel that systemd-boot 252 starts: those without tries left come last, then the highest name. None if there is none."""

    def order(one, other):
        (a, b) = (NAME.fullmatch(name) for name in (one, other))
        empty = (a[3] == "0") - (b[3] == "0")
        return empty or (int(b[1]) - int(a[1])) or -((a[2] > b[2]) - (a[2] < b[2]))

    return min(kernels, key=functools.cmp_to_key(order), default=None)


class Disk:
    """An EFI system partition, what RAUC does to it, and what systemd-boot does when the box is started."""

    def __init__(self, folder):
        self.folder = folder
        self.kernels = os.path.join(folder, "EFI/Linux")
        os.makedirs(self.kernels)
        self.file = os.path.join(folder, "kernel")
        with open(self.file, "w") as kernel:
            kernel.write("a kernel")
        os.link(self.file, os.path.join(self.kernels, "parlor-0001-a.efi"))

    def __call__(self, *arguments):
        answer = subprocess.run(
            ["sh", SCRIPT, *arguments], env={**os.environ, "PARLOR_ESP_FOLDER": self.folder}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        if answer.returncode:
            raise Failure(f"rauc-boot {' '.join(arguments)}: {answer.stderr}; {self.names()}")
        return answer.stdout.strip()

    def is_on_trial(self, slot):
        return subprocess.run(["sh", SCRIPT, "is-on-trial", slot], env={**os.environ, "PARLOR_ESP_FOLDER": self.folder}).returncode == 0

    def names(self):
        return sorted(os.listdir(self.kernels))

    def install(self, slot):
        """As RAUC does it."""
        self("set-state", slot, "bad")
        self("install", slot, self.file)
        self("set-primary", slot)

    def boot(self):
        """The slot that systemd-boot starts. A kernel that counts loses a try."""
        first = first_of(self.names())
        number, letter, left, done = NAME.fullmatch(first).groups()
        if left and int(left) > 0:
            new = f"parlor-{number}-{letter}+{int(left) - 1}-{int(done or 0) + 1}.efi"
            os.rename(os.path.join(self.kernels, first), os.path.join(self.kernels, new))
        return letter.upper()


def expect(what, found, wanted):
    if found != wanted:
        raise Failure(f"{what}: {found}, not {wanted}")


def with_disk(case):
    def run():
        with tempfile.TemporaryDirectory() as folder:
            case(Disk(folder))

    return run


@with_disk
def flashed(disk):
    """A box that was flashed has one slot, which is good and stays so."""
    expect("the primary slot", disk("get-primary"), "A")
    expect("A", disk("get-state", "A"), "good")
    expect("B", disk("get-state", "B"), "bad")
    disk("set-state", "A", "good")
    disk("set-primary", "A")
    for _ in range(5):
        expect("the slot", disk.boot(), "A")
    expect("the kernels", disk.names(), ["parlor-0001-a.efi"])


@with_disk
def good_update(disk):
    """An update is tried, becomes good, and then no number of restarts counts against it; so do the next ones."""
    for slot, other in ["BA", "AB", "BA"]:
        disk.install(slot)
        expect("the primary slot", disk("get-primary"), slot)
        expect("the slot", disk.boot(), slot)
        expect("whether they are on trial", [disk.is_on_trial(slot), disk.is_on_trial(other)], [True, False])
        expect(f"the other, {other}", disk("get-state", other), "good")
        disk("set-state", slot, "good")
        expect("whether it is on trial", disk.is_on_trial(slot), False)
        for _ in range(5):
            expect("the slot", disk.boot(), slot)
        expect(f"{slot}", disk("get-state", slot), "good")


@with_disk
def bad_update(disk):
    """An update that never becomes good is tried three times; then the old slot is back, and stays."""
    disk.install("B")
    expect("the slots", [disk.boot() for _ in range(6)], ["B", "B", "B", "A", "A", "A"])
    expect("B", disk("get-state", "B"), "bad")
    expect("what was given up", disk("given-up"), "B")
    expect("the primary slot", disk("get-primary"), "A")
    # And the next one gets its chance.
    disk.install("B")
    expect("what was given up", disk("given-up"), "")
    expect("the slot", disk.boot(), "B")
    disk("set-state", "B", "good")
    disk.install("A")
    expect("the slots", [disk.boot() for _ in range(5)], ["A", "A", "A", "B", "B"])


@with_disk
def back(disk):
    """Who goes back to the other slot by hand stays there."""
    disk.install("B")
    disk.boot()
    disk("set-state", "B", "good")
    disk("set-primary", "A")
    expect("the slots", [disk.boot() for _ in range(4)], ["A"] * 4)
    expect("B", disk("get-state", "B"), "good")
    disk("set-primary", "B")
    expect("the slots", [disk.boot() for _ in range(4)], ["B"] * 4)


@with_disk
def interrupted(disk):
    """A power cut in the middle of an update leaves the box with what it had."""
    disk("set-state", "B", "bad")
    disk("install", "B", disk.file)
    expect("the slots", [disk.boot() for _ in range(3)], ["A"] * 3)
    # In the middle of a rename both names may be there.
    os.link(disk.file, os.path.join(disk.kernels, "parlor-0002-b+3.efi"))
    with open(os.path.join(disk.kernels, "kernel.new"), "w") as half:
        half.write("half a ")
    salvaged = os.path.join(disk.folder, "FSCK0000.REC")
    os.link(disk.file, salvaged)
    disk.install("B")
    expect("whether parts of a kernel take room", os.path.exists(salvaged), False)
    expect("what is left", [name for name in disk.names() if not NAME.fullmatch(name)], [])
    expect("the slot", disk.boot(), "B")
    disk("set-state", "B", "good")
    expect("the slots", [disk.boot() for _ in range(4)], ["B"] * 4)


@with_disk
def demoted(disk):
    """What is marked bad is not started any more, also when it runs."""
    disk.install("B")
    disk.boot()
    disk("set-state", "B", "bad")
    expect("the slots", [disk.boot() for _ in range(2)], ["A"] * 2)
