"""The power goes, at any moment: what the box then has on its disk, and how it comes back."""

import contextlib
import glob
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import tomllib

import builds
import write_log
from boots import expect
from disk_checks import Checks
from failure import WORK, Failure
from machine import ImageMachine, MachineError, flash, put_on_partition
from operators import Operator

SEED = 20
ROOM = 300 << 20  # of the disk, behind the image


def version(number):
    """The site's configuration, which is changed again and again. Each has other grants."""
    return f"""[identity]
name = "Box {number}"
[call]
whip = "http://127.0.0.1:9/whip"   # nobody is there
token = "bearer-token-{number}"
start = "manual"
[[camera]]
device = "synthetic"
[sound]
capture = "none"
playback = "none"
[[grants]]
origin = "https://calls.example.org"
camera = true
microphone = true
[[grants]]
origin = "https://number-{number}.example.org"
camera = true
microphone = {"true" if number % 2 else "false"}
"""


def identity_of(machine):
    """The files that tell a box from all others, and have to stay."""
    return {name: machine.root(f"cat /var/lib/parlor-system/{name}") for name in ("machine-id", "ssh/ssh_host_ed25519_key")}


VERSIONS = [tomllib.loads(version(number)) for number in range(100)]


def say(text):
    """What long work tells people who wait; no part of the result."""
    if sys.stderr.isatty():
        print(f"\r\033[K      {text}", end="", file=sys.stderr, flush=True)


class Recording:
    """What the disk of a box was told from its first start on: `marks` are what the box had said so far, by the number of requests."""

    def __init__(self, folder, image):
        self.folder, self.image = folder, image
        self.disk, self.file = (os.path.join(folder, name) for name in ("disk.img", "writes.log"))
        self.marks = []  # (number of requests, number of the version, files that identify the box)

    def flash(self, disk):
        with open(builds.key() + ".pub") as file:
            files = {"parlor.toml": version(0), "authorized_keys": file.read()}
        flash(self.image, disk, files, size=os.path.getsize(self.image) + ROOM)

    @contextlib.contextmanager
    def box(self):
        """The box, switched on for the first time, and its operator."""
        self.flash(self.disk)
        with open(self.file, "wb"):
            pass
        with ImageMachine(disk=self.disk, key=builds.key(), drive=write_log.drive(self.file), options=write_log.OPTIONS) as machine:
            self.log = write_log.WriteLog(self.file)
            self.identity = {}
            yield machine, Operator(machine)
            machine.control("stop")
            self.log.read()
            machine.control("quit")
            machine.process.wait()
        os.remove(self.disk)

    def mark(self, machine, number):
        """The box has said that it has this version."""
        machine.control("stop")
        self.marks.append((self.log.read(), number, dict(self.identity)))
        machine.control("cont")

    def wait_for_version(self, machine, operator, number):
        machine.wait(lambda: operator.status().get("name") == f"Box {number}", 300, f"the box has its version {number}")
        self.mark(machine, number)

    def change(self, machine, operator, number):
        operator("config apply -", version(number).encode())
        self.wait_for_version(machine, operator, number)

    def first_start(self, machine, operator):
        """First boot, provisioning, and a change by the operator."""
        machine.connect()
        self.identity = identity_of(machine)
        self.wait_for_version(machine, operator, 0)
        machine.wait(lambda: "active" in machine.root("systemctl is-active parlor-grow-data.service", check=False).split(), 120, "the data partition is as large as the disk")
        self.change(machine, operator, 1)

    def life(self, machine, operator):
        """Changes, right and wrong; an update, into which the box restarts; another change, some time, another restart."""
        operator("config set display.rotate 45", code=78)
        self.change(machine, operator, 2)
        say("the update")
        with open(glob.glob(os.path.join(os.path.dirname(self.image), "*.raucb"))[0], "rb") as file:
            operator("update -", file.read(), seconds=1800)
        self.restarted(machine, operator, 2)
        expect("the slot", machine.root("/usr/lib/parlor/rauc-boot get-current").strip(), "B")
        machine.wait(lambda: "1" in machine.root("/usr/lib/parlor/rauc-boot is-on-trial; echo $?", check=False).split(), 600, "the update is marked good")
        self.mark(machine, 2)
        self.change(machine, operator, 3)
        time.sleep(20)
        operator("reboot")
        self.restarted(machine, operator, 3)

    def restarted(self, machine, operator, number):
        machine.wait(lambda: not machine.answers(), 300, "the machine goes down")
        machine.connect()
        self.wait_for_version(machine, operator, number)


def record(folder, *parts):
    """Records a life of a box, in parts."""
    recording = Recording(folder, builds.debug_image())
    say("a box is started and its writes recorded")
    with recording.box() as (machine, operator):
        for part in parts:
            part(recording, machine, operator)
    return recording


def replay(recording, count, booted=0):
    """Cuts the power in `count` places of what was recorded, looks at what is on the disk, and boots `booted` of the disks."""
    generator = random.Random(SEED)
    log, folder = recording.log, recording.folder
    bundle = os.path.join(folder, "bundle")
    builds.run("unsquashfs", "-q", "-n", "-d", bundle, glob.glob(os.path.join(os.path.dirname(recording.image), "*.raucb"))[0])
    recording.flash(recording.disk)
    checks = Checks(folder, recording.image, bundle)
    cut = write_log.CutDisk(recording.disk, log, [partition.start for partition in checks.original.values()])
    places = log.cuts(count, generator)
    to_boot = set(generator.sample(range(count), booted))
    problems, started, tables = [], 0, 0
    for number, place in enumerate(places):
        say(f"power cut {number + 1} of {count}, {len(problems)} with problems")
        lost = cut.cut(place, generator)
        known = [mark for mark in recording.marks if mark[0] <= place]
        least, identity = (known[-1][1], known[-1][2]) if known else (None, {})
        found = checks.starts(cut) + checks.kept(cut, least, VERSIONS, identity)
        # Of those for which the copy of the table of partitions stands in, one is booted in any case.
        tables += not checks.is_first_table
        if booted and not found and (number in to_boot or (tables == 1 and not checks.is_first_table)):
            found += boots(cut, os.path.join(folder, "boot.img"), least, identity)
            started += 1
        if found:
            problems.append(f"{lost}: " + "; ".join(found))
    cut.close()
    checks.close()
    writes = sum(1 for entry in log.entries if entry[1])
    print(f"      {count} power cuts in {writes} writes with {len(log.entries) - writes} flushes ({tables} with half a table of partitions); {started} booted", flush=True)
    if problems:
        path = os.path.join(WORK, "power-cuts.txt")
        with open(path, "w") as file:
            file.write("\n".join(problems) + "\n")
        raise Failure(f"{len(problems)} of {count} power cuts leave something wrong ({path}): {problems[0]}")


def boots(cut, disk, least, identity):
    """What is wrong with a box that is switched on again."""
    builds.run("cp", "--sparse=always", cut.path, disk)
    try:
        with ImageMachine(disk=disk, key=builds.key()) as machine:
            return comes_back(machine, [0] if least is None else [least, least + 1], identity)[0]
    except MachineError as error:
        return [f"switched on again: {error}"]
    finally:
        os.remove(disk)


def comes_back(machine, allowed, identity):
    """All that is wrong with a box that has been switched on, and ought to have one of these versions; and which it has."""
    machine.connect(900)
    operator = Operator(machine)
    names = {f"Box {number}": number for number in allowed}
    status = machine.wait(lambda: next((status for status in [operator.status()] if status.get("name") in names), None), 300, f"the box has one of the names {list(names)}")
    number, problems = names[status["name"]], []
    state = machine.root("systemctl is-system-running --wait", seconds=300, check=False).strip()
    if state != "running":
        problems.append(f"the system is {state}: {machine.root('systemctl --failed --no-legend')}")
    if "FAILED" in (log := machine.root("cat /run/parlor-data.log; [ ! -e /run/parlor-data.failed ] || echo FAILED")):
        problems.append(f"the data partition: {log}")
    for name, content in identity.items():
        if (there := machine.root(f"cat /var/lib/parlor-system/{name}", check=False)) != content:
            problems.append(f"{name} is {there!r}, not {content!r}")
    recorded = [{key: grant[key] for key in ("origin", "camera", "microphone")} for grant in status["grants"]]
    if not all(grant.get("since") for grant in status["grants"]) or recorded != VERSIONS[number]["grants"]:
        problems.append(f"the box that is called {status['name']} has the grants {status['grants']}")
    return problems, number


def work():
    """A folder for disks, gone at the end; several cases may run at once."""
    os.makedirs(WORK, exist_ok=True)
    return tempfile.TemporaryDirectory(prefix="power-", dir=WORK)


def short():
    """The power goes at the first start: what was reported is kept, and the box starts."""
    with work() as folder:
        replay(record(folder, Recording.first_start), 30)


def full():
    """The power goes in 500 moments of first start, changes, update and restarts: what was reported is kept, and the box starts; ten of these disks are booted."""
    with work() as folder:
        replay(record(folder, Recording.first_start, Recording.life), 500, booted=10)


class Killed:
    """A box that is killed again and again, on the same disk."""

    def __init__(self, machine, operator, bundle):
        self.machine, self.operator, self.bundle = machine, operator, bundle
        self.generator = random.Random(SEED)
        self.version = 0  # what it has for certain
        self.asked = [0]  # what it may have by now
        self.identity = {}

    def kill_after(self, longest, doing):
        """Does something until the box is killed, at a moment within so many seconds; at the latest when it is done."""
        seconds = self.generator.uniform(0, longest)
        timer = threading.Timer(seconds, self.machine.process.kill)
        timer.start()
        try:
            doing()
        except (MachineError, Failure, subprocess.TimeoutExpired, OSError):
            if self.machine.process.poll() is None:
                raise
        finally:
            timer.join()
        return f"{seconds:.1f} s"

    def next(self):
        self.asked.append(max(self.asked) + 1)
        return self.asked[-1]

    def start(self):
        """Killed at a start, at which it finds another file on its partition."""
        self.machine.power_off()
        put_on_partition(self.machine.disk, {"parlor.toml": version(self.next())})
        self.machine.power_on()
        return "a start, after " + self.kill_after(90, lambda: self.machine.process.wait())

    def change(self):
        """Killed while an operator changes one thing after the other."""

        def changes():
            while self.machine.process.poll() is None:
                number = self.next()
                if self.operator.run("config apply -", version(number).encode()).returncode == 0:
                    self.version, self.asked = number, [number]

        return "changes, after " + self.kill_after(30, changes)

    def update(self):
        """Killed while an update is installed."""
        if not self.machine.root("ls /var/tmp/update.raucb", check=False).startswith("/var"):
            with open(self.bundle, "rb") as file:
                self.machine.root("cat >/var/tmp/update.raucb; sync", data=file.read(), seconds=1800)

        def install():
            self.machine.root("rauc install /var/tmp/update.raucb", seconds=1800)
            self.machine.process.wait()

        return "an update, after " + self.kill_after(60, install)

    def check(self):
        self.machine.power_off()
        self.machine.power_on()
        problems, self.version = comes_back(self.machine, self.asked, self.identity)
        self.asked = [self.version]
        return problems


def killed(kills):
    """The power goes at random moments, on the same disk: the box comes back each time, with its configuration, its grants and its identity."""
    image = builds.debug_image()
    with work() as folder:
        recording = Recording(folder, image)
        recording.flash(recording.disk)
        with ImageMachine(disk=recording.disk, key=builds.key()) as machine:
            box = Killed(machine, Operator(machine), glob.glob(os.path.join(os.path.dirname(image), "*.raucb"))[0])
            did = [box.start, box.change, box.update]
            for number in range(kills):
                act = did[number % len(did)]
                say(f"kill {number + 1} of {kills}: {act.__doc__}")
                what = act()
                if problems := box.check():
                    raise Failure(f"kill {number + 1}, in {what}: {'; '.join(problems)}")
                if not box.identity:
                    box.identity = identity_of(machine)
        print(f"      killed {kills} times", flush=True)
