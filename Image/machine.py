#!/usr/bin/env python3
"""Boots the image in a virtual machine, as a PC would: OVMF's UEFI, a disk, a monitor, a network.

    Image/machine.py [--image FILE] [--screen FILE] [--seconds N] [--disk FILE] [--stick FILE] [--port N] [--memory MIB] [--kvm]

The screen is in a window where there is a desktop; else, and with --screen, it is written to a PNG file (screen.png), twice a second. The machine's SSH is port 2222 of this one. The image
itself is never written to: what the machine writes stays in --disk, a file that is made when it isn't there, or is forgotten at the end.

QEMU runs without KVM, so that it works everywhere; --kvm makes it ten times as fast.
"""

import argparse
import atexit
import contextlib
import glob
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OVMF = "/usr/share/OVMF"

# Without KVM, so that it works everywhere. With vector instructions beyond these the kernel takes longer to start. Only of Intel's processors does Linux believe that their counters of
# time agree, as those of any PC do that Parlor runs on; else each look at the clock is one at a chip, which costs an emulated machine a lot.
PROCESSORS = ["-accel", "tcg,thread=multi", "-cpu", "qemu64,vendor=GenuineIntel", "-smp", "2"]
KVM_PROCESSORS = ["-accel", "kvm", "-cpu", "host", "-smp", "2"]
DEVICES = [
    *["-nodefaults", "-vga", "none"],
    *["-device", "virtio-vga,id=console,xres=1280,yres=720,edid=on", "-device", "virtio-rng-pci"],
    *["-device", "qemu-xhci,id=usb", "-device", "i6300esb"],
]

LOOK = 30  # how often a machine that is waited for is looked at, in seconds


class MachineError(Exception):
    """The machine itself did not do what it was told."""


class Late(MachineError):
    """What was waited for did not come."""


def newest_image():
    images = sorted(glob.glob(os.path.join(ROOT, ".build/image/*.img")), key=os.path.getmtime)
    if not images:
        raise MachineError("there is no image in .build/image: `make image` makes one")
    return images[-1]


def command(*arguments):
    answer = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if answer.returncode:
        raise MachineError(f"{' '.join(arguments)}: {answer.stdout}")
    return answer.stdout


def make_disk(image, path, size="6G"):
    """A disk that has been flashed with the image: larger, and what is written to it stays in `path`."""
    command("qemu-img", "create", "-q", "-f", "qcow2", "-b", os.path.abspath(image), "-F", "raw", path, size)


def partition_offset(image, name):
    """Where a partition of a raw disk begins, in bytes."""
    # What it says of a disk that is larger than its image is not for us.
    answer = subprocess.run(["sfdisk", "--json", image], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    table = json.loads(answer.stdout)["partitiontable"]
    return next(partition["start"] for partition in table["partitions"] if partition["name"] == name) * 512


def flash(image, path, files=None, size=6 << 30):
    """A raw disk that has been flashed with the image, and on whose PARLOR partition somebody has put `files`: a dictionary from name to content."""
    command("cp", "--sparse=always", image, path)
    with open(path, "r+b") as disk:
        disk.truncate(size)
    put_on_partition(path, files or {})


def put_on_partition(disk, files):
    """Puts files, a dictionary from name to content, on the PARLOR partition of a raw disk, as any PC could."""
    put_on_stick(f"{disk}@@{partition_offset(disk, 'parlor')}", files)


def put_on_stick(place, files):
    """Puts files on a FAT file system: a file, or a place in one as mtools has it."""
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        answer = subprocess.run(["mcopy", "-o", "-i", place, "-", f"::{name}"], input=data, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if answer.returncode:
            raise MachineError(f"{name} cannot be put there: {answer.stdout.decode()}")


def read_partition(disk, name):
    """What a file on the PARLOR partition of a raw disk holds."""
    return subprocess.run(["mtype", "-i", f"{disk}@@{partition_offset(disk, 'parlor')}", f"::{name}"], stdout=subprocess.PIPE, check=True).stdout


class ImageMachine:
    """A virtual PC. Its disk and its firmware's variables outlive `power_off` and `power_on`; all of it ends with the `with` that it was made by.

    `key` is the private SSH key of a debug image, `sticks` are files that are plugged in as USB sticks, `secure_variables` is a file of the firmware's variables with which it
    accepts signed boot loaders only, and `drive` describes the disk to QEMU in other words (its {disk} is the disk's path, {format} raw for one that `flash` made)."""

    def __init__(
        self, image=None, disk=None, key=None, sticks=(), memory=1024, display="none", port=None, secure_variables=None, options=(), processors=PROCESSORS,
        drive="if=none,id=system,file={disk},format={format},cache=unsafe",
    ):
        # Paths of sockets must be short.
        self.folder = tempfile.mkdtemp(prefix="parlor-image-")
        atexit.register(self.close)
        self.disk = disk or os.path.join(self.folder, "disk.qcow2")
        if not os.path.exists(self.disk):
            make_disk(image or newest_image(), self.disk)
        self.key, self.sticks, self.memory, self.display, self.drive = key, list(sticks), memory, display, drive
        self.secure = secure_variables is not None
        self.variables = os.path.join(self.folder, "variables.fd")
        shutil.copy(secure_variables or f"{OVMF}/OVMF_VARS_4M.fd", self.variables)
        self.options, self.processors = list(options), processors
        self.process = None
        if port is None:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
        self.port = port

    def __enter__(self):
        self.power_on()
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.power_off()
        shutil.rmtree(self.folder, ignore_errors=True)
        atexit.unregister(self.close)

    def arguments(self):
        code = "OVMF_CODE_4M.secboot.fd" if self.secure else "OVMF_CODE_4M.fd"
        machine = "q35,i8042=off,vmport=off" + (",smm=on" if self.secure else "")
        sticks = []
        for number, stick in enumerate(self.sticks):
            sticks += ["-drive", f"if=none,id=stick{number},file={stick},format=raw,cache=unsafe", "-device", f"usb-storage,bus=usb.0,drive=stick{number},removable=on"]
        return [
            *["qemu-system-x86_64", "-machine", machine, "-m", str(self.memory), *self.processors, *DEVICES, "-display", self.display],
            *["-drive", f"if=pflash,format=raw,unit=0,readonly=on,file={OVMF}/{code}"],
            *["-drive", f"if=pflash,format=raw,unit=1,file={self.variables}"],
            *["-drive", self.drive.format(disk=self.disk, format="raw" if self.disk.endswith(".img") else "qcow2"), "-device", "virtio-blk-pci,drive=system,bootindex=0"],
            *["-netdev", f"user,id=network,hostfwd=tcp:127.0.0.1:{self.port}-:22", "-device", "virtio-net-pci,netdev=network,romfile="],
            *["-serial", f"file:{self.folder}/serial.log", "-qmp", f"unix:{self.folder}/control,server=on,wait=off"],
            *sticks,
            *self.options,
        ]

    def power_on(self):
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(self.folder, "control"))
        log = os.path.join(self.folder, "qemu.log")
        with open(log, "w") as file:
            self.process = subprocess.Popen(self.arguments(), stdin=subprocess.DEVNULL, stdout=file, stderr=file)
        connection = socket.socket(socket.AF_UNIX)

        def connects():
            with contextlib.suppress(OSError):
                connection.connect(os.path.join(self.folder, "control"))
                return True

        self.wait(connects, 30, "QEMU's control socket is there")
        self.stream = connection.makefile("rw")
        self.stream.readline()
        self.control("qmp_capabilities")

    def power_off(self):
        """As if the plug were pulled."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def control(self, name, /, **arguments):
        """A command of QEMU's (QMP), and its answer."""
        self.stream.write(json.dumps({"execute": name, "arguments": arguments}) + "\n")
        self.stream.flush()
        while line := self.stream.readline():
            answer = json.loads(line)
            if "error" in answer:
                raise MachineError(f"{name}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]
        raise MachineError(f"{name}: QEMU has ended")

    def screen(self, path):
        """Writes what is on the monitor, as PNG or PPM after the name."""
        self.control("screendump", filename=os.path.abspath(path), format=os.path.splitext(path)[1][1:], device="console", head=0)

    def wait(self, condition, seconds, what):
        """Returns what the condition is, once it is true."""
        now = time.monotonic()
        deadline, look, place = now + seconds, now + LOOK, None
        while True:
            value = condition()
            if value:
                return value
            if self.process.poll() is not None:
                with open(os.path.join(self.folder, "qemu.log")) as log:
                    raise MachineError(f"QEMU ended: {log.read()}")
            if time.monotonic() > deadline:
                raise Late(f"waited {seconds} s in vain: {what}")
            if time.monotonic() > look:
                look, former, place = time.monotonic() + LOOK, place, self.firmware_spins()
                if place and place == former:
                    print("      the firmware is stuck before the kernel: reset", flush=True)
                    self.control("system_reset")
            time.sleep(0.2)

    def firmware_spins(self):
        """Where the firmware's code is busy with interrupts off; None when other code runs, or none.

        For more than moments it is so only while it wakes the second processor in vain, as it hands over to the kernel: a start-up interrupt that is lost is not sent again
        (tianocore/edk2, pull request 13164)."""
        text = self.control("human-monitor-command", **{"command-line": "info registers"})
        found = re.search(r"RIP=(\w+) RFL=(\w+) .*?CPL=(\d).* HLT=(\d)", text)
        if not found:
            return None
        place, flags, level, is_halted = int(found[1], 16), int(found[2], 16), int(found[3]), found[4] == "1"
        return place >> 8 if place < 1 << 32 and not flags & 1 << 9 and level == 0 and not is_halted else None

    def ssh_command(self, user, *options):
        return [
            *["ssh", "-F", "none", "-p", str(self.port), "-i", self.key, "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"],
            *["-o", "LogLevel=ERROR", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", *options, f"{user}@127.0.0.1"],
        ]

    def answers(self):
        """Whether something that speaks SSH is at the machine's port 22."""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as connection:
            connection.settimeout(5)
            return connection.recv(4) == b"SSH-"

    def connect(self, seconds=600):
        """Waits until root can log in (a debug image)."""
        self.wait(self.answers, seconds, "the machine's SSH answers")
        self.wait(lambda: subprocess.run([*self.ssh_command("root"), "true"], stderr=subprocess.DEVNULL).returncode == 0, 60, "root logs in")

    def root(self, script, seconds=60, data=b"", check=True):
        """Runs a shell script as root (a debug image); returns what it wrote."""
        answer = subprocess.run([*self.ssh_command("root"), script], input=data, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds)
        text = answer.stdout.decode(errors="replace")
        if check and answer.returncode:
            raise MachineError(f"in the machine, with {answer.returncode}: {script}\n{text}")
        return text

    def write(self, path, content):
        self.root(f"cat > {shlex.quote(path)}", data=content.encode() if isinstance(content, str) else content)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--image", help="the image (the newest in .build/image)")
    parser.add_argument("--screen", metavar="FILE", help="write the screen here, and open no window")
    parser.add_argument("--seconds", type=float, help="end after so long")
    parser.add_argument("--disk", help="keep what the machine writes here")
    parser.add_argument("--stick", action="append", default=[], help="the image of a USB stick to be plugged in")
    parser.add_argument("--port", type=int, default=2222, help="where the machine's SSH is")
    parser.add_argument("--memory", type=int, default=1024, help="MiB")
    parser.add_argument("--kvm", action="store_true", help="use this machine's processor")
    options = parser.parse_args()
    has_desktop = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    screen = options.screen or (None if has_desktop else "screen.png")
    machine = ImageMachine(
        image=options.image,
        disk=options.disk,
        sticks=options.stick,
        memory=options.memory,
        port=options.port,
        display="none" if screen else "gtk",
        processors=KVM_PROCESSORS if options.kvm else PROCESSORS,
    )
    with machine:
        print(f"machine: SSH is port {options.port}{f', the screen is {screen}' if screen else ''}; Ctrl-C switches it off", file=sys.stderr)
        end = time.monotonic() + (options.seconds or float("inf"))
        with contextlib.suppress(KeyboardInterrupt):
            while machine.process.poll() is None and time.monotonic() < end:
                if screen:
                    machine.screen(screen)
                time.sleep(0.5)


if __name__ == "__main__":
    try:
        main()
    except MachineError as problem:
        sys.exit(f"machine: {problem}")
