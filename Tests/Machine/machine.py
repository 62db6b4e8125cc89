"""A virtual machine with real kernel drivers, and what stands around it: monitors, keyboards, a look at its screen.

    python3 Tests/Machine/machine.py run [--display NAME] [--root] [--screen FILE] [-- COMMAND…]

starts a machine, runs the command in it as the user parlor (a login shell when there is none), and shows what it writes. --screen keeps what is on
the first screen at the end. The programs of .build/release are in the machine at /parlor, or those of PARLOR_PROGRAMS (a folder).

QEMU runs without KVM, so that it works everywhere. The guest is built once (guest.sh); it is booted once for each set of devices and then stopped,
its memory written to a file: every further machine starts from that file, within two or three seconds.
"""

import argparse
import atexit
import contextlib
import fcntl
import glob
import hashlib
import json
import os
import select
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from remote_framebuffer import set_desktop_size

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WORK = os.path.join(ROOT, ".build/machine")
PROGRAMS = ["parlor", "parlor-bench", "stage-trial", "input-trial", "coding-trial", "device-trial"]
PROGRAMS_SIZE = 256 << 20

# What differs between machines: the display, and sound cards. "console" is the name that QEMU's screendump and VNC know the device by.
DISPLAYS = {
    "virtio": ["-device", "virtio-vga,id=console,xres=1280,yres=720,edid=on"],
    # Two sound cards: "Headset", whose microphone hears nothing, and "Loudspeaker", of whose sound a file is made (loudspeaker.wav in the folder).
    "virtio-sound": [
        *["-device", "virtio-vga,id=console,xres=1280,yres=720,edid=on"],
        *["-device", "intel-hda,id=headset", "-device", "hda-duplex,bus=headset.0,audiodev=silence"],
        *["-device", "intel-hda,id=loudspeaker", "-device", "hda-output,bus=loudspeaker.0,audiodev=loudspeaker"],
    ],
    "virtio-two": ["-device", "virtio-vga,id=console,xres=1280,yres=720,edid=on,max_outputs=2"],
    "bochs": ["-device", "bochs-display,id=console,xres=1280,yres=720,edid=on"],
    "bochs-no-edid": ["-device", "bochs-display,id=console,edid=off"],
    "vkms": [],
    "vkms-exact": [],
}

# How the processors are made. "exact": the guest's clock counts the guest's instructions, a nanosecond each, so that what it measures does not
# depend on what else this machine does. One processor, with vector instructions (with AVX, the kernel would not start).
PROCESSORS = ["-accel", "tcg,thread=multi", "-cpu", "qemu64", "-smp", "2"]
EXACT_PROCESSORS = [
    *["-accel", "tcg,thread=single", "-cpu", "qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt", "-smp", "1"],
    *["-icount", "shift=0,align=off,sleep=off", "-rtc", "clock=vm"],
]

# A machine without a keyboard, as a kiosk is; keyboards and pointers are plugged in. The tablet is there for the touches of a test.
DEVICES = [
    *["-machine", "pc,i8042=off,vmport=off", "-m", "1024"],
    *["-nodefaults", "-vga", "none", "-display", "none"],
    *["-device", "virtio-rng-pci", "-device", "virtio-net-pci,netdev=network,romfile="],
    *["-device", "virtio-blk-pci,drive=system", "-device", "virtio-blk-pci,drive=programs"],
    *["-device", "qemu-xhci,id=usb"],
]


class MachineError(Exception):
    """The machine itself did not do what it was told."""


class Late(MachineError):
    """What was waited for did not come."""


def say(text):
    print(f"machine: {text}", file=sys.stderr, flush=True)


def guest_folder():
    """Where the guest is; it is built when it isn't there yet."""
    answer = subprocess.run([os.path.join(HERE, "guest.sh")], stdout=subprocess.PIPE, text=True)
    if answer.returncode:
        raise MachineError("the guest could not be built")
    return answer.stdout.strip()


@contextlib.contextmanager
def exclusively():
    """Two runs that both miss the same booted machine must not make it at the same time."""
    os.makedirs(WORK, exist_ok=True)
    with open(os.path.join(WORK, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def booted_folder(display):
    """Where the memory and disk of a booted machine with this display are; it is booted when they aren't there yet."""
    with exclusively():
        guest = guest_folder()
        version = subprocess.run(["qemu-system-x86_64", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
        key = hashlib.sha256("\0".join([version, kernel_options(display), SETTLED, preparation(display), *devices(display)]).encode()).hexdigest()[:8]
        folder = os.path.join(guest, f"booted-{display}-{key}")
        if os.path.exists(os.path.join(folder, "memory")):
            return folder
        say(f"boots a guest with display '{display}', once")
        started = time.monotonic()
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        disk = os.path.join(folder, "disk.qcow2")
        command("qemu-img", "create", "-q", "-f", "qcow2", "-b", "../root.ext4", "-F", "raw", disk)
        with Machine(display, guest=guest, disk=disk) as machine:
            machine.connect(600)
            machine.root(f"{preparation(display)}\n{SETTLED}", seconds=300)
            machine.disconnect()
            machine.save(os.path.join(folder, "memory"))
        say(f"booted in {time.monotonic() - started:.0f} s")
        return folder




def devices(display):
    return [*(EXACT_PROCESSORS if display.endswith("-exact") else PROCESSORS), *DEVICES, *DISPLAYS[display]]


def preparation(display):
    """What else a machine needs, once it is booted."""
    if display.startswith("vkms"):
        return "modprobe vkms enable_overlay=1"
    if display.endswith("-sound"):
        # Which of two cards the kernel finds first is left to chance, and with it how it names them.
        return (
            "systemctl is-system-running --wait >/dev/null; udevadm settle; for card in /sys/class/sound/card[0-9]*; do"
            " if [ -d $card/pcmC*D0c ]; then printf Headset; else printf Loudspeaker; fi >$card/id; done"
        )
    return ""


def kernel_options(display):
    options = "root=/dev/vda rootfstype=ext4 rw console=ttyS0 quiet mitigations=off"
    # The exact clock jumps over the time in which the guest does nothing: hours, while it waits for a word from outside. So it never rests.
    return options + " idle=poll" if display.endswith("-exact") else options


# Quiet: all that starts has started, and the kernel has written what it had to write.
SETTLED = "systemctl is-system-running --wait >/dev/null; udevadm settle; sync; true"


def command(*arguments):
    answer = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if answer.returncode:
        raise MachineError(f"{' '.join(arguments)}: {answer.stdout}")


def programs_image():
    """A disk with the programs under test. All such disks are of one size, since the machine has seen the size when it was booted."""
    folder = os.environ.get("PARLOR_PROGRAMS") or os.path.join(ROOT, ".build/release")
    programs = [path for path in (os.path.join(folder, name) for name in PROGRAMS) if os.path.exists(path)]
    key = hashlib.sha256("".join(f"{path} {os.stat(path).st_mtime_ns}\0" for path in programs).encode()).hexdigest()[:12]
    path = os.path.join(WORK, f"programs-{key}.img")
    with exclusively():
        if not os.path.exists(path):
            # Machines that are just being started may still want those of today.
            for old in glob.glob(os.path.join(WORK, "programs-*.img")):
                if time.time() - os.stat(old).st_mtime > 24 * 3600:
                    os.remove(old)
            with tempfile.TemporaryDirectory() as stage:
                for program in programs:
                    command("strip", "-o", os.path.join(stage, os.path.basename(program)), program)
                with open(path + ".part", "wb") as image:
                    image.truncate(PROGRAMS_SIZE)
                command("mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-d", stage, path + ".part")
            os.rename(path + ".part", path)
    return path


def booted(display):
    """A machine that has the display and runs already, with the programs at /parlor."""
    return Machine(display, restored=booted_folder(display))


class Machine:
    """One running QEMU. Ends with the `with` that it was started by."""

    def __init__(self, display, restored=None, guest=None, disk=None):
        self.display = display
        # Paths of sockets must be short.
        self.folder = tempfile.mkdtemp(prefix="parlor-machine-")
        self.guest = guest or os.path.dirname(restored)
        self.connected = False
        if restored:
            disk = os.path.join(self.folder, "disk.qcow2")
            command("qemu-img", "create", "-q", "-f", "qcow2", "-b", os.path.join(restored, "disk.qcow2"), "-F", "qcow2", disk)
            programs = programs_image()
        else:
            programs = os.path.join(self.folder, "programs.img")
            with open(programs, "wb") as image:
                image.truncate(PROGRAMS_SIZE)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        heads = []
        if DISPLAYS[display]:
            for head in range(2 if display == "virtio-two" else 1):
                heads += ["-vnc", f"unix:{self.folder}/screen-{head},display=console,head={head}"]
        sound = []
        if display.endswith("-sound"):
            sound = ["-audiodev", "none,id=silence", "-audiodev", f"wav,id=loudspeaker,path={self.folder}/loudspeaker.wav,out.frequency=48000"]
        start = ["-incoming", f"exec:cat {shlex.quote(os.path.join(restored, 'memory'))}"] if restored else []
        self.log = open(os.path.join(self.folder, "qemu.log"), "w+")
        self.process = subprocess.Popen(
            [
                *["qemu-system-x86_64", *devices(display), *heads, *sound],
                *["-netdev", f"user,id=network,hostfwd=tcp:127.0.0.1:{self.port}-:22"],
                *["-drive", f"id=system,if=none,file={disk},format=qcow2,cache=unsafe"],
                *["-drive", f"id=programs,if=none,file={programs},format=raw,readonly=on"],
                *["-kernel", f"{self.guest}/vmlinuz", "-initrd", f"{self.guest}/initrd", "-append", kernel_options(display)],
                *["-serial", f"file:{self.folder}/serial.log", "-qmp", f"unix:{self.folder}/control,server=on,wait=off", *start],
            ],
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
        )
        atexit.register(self.stop)
        try:
            self.control = Control(os.path.join(self.folder, "control"), self)
            if restored:
                self.wait(lambda: self.control("query-status")["status"] == "paused", 60, "the machine is restored")
                self.control("cont")
                self.connect(60)
                # The clock stood still, and what the kernel has read of the disk of the programs was another disk.
                self.root(
                    f"date -s @{time.time():.0f} >/dev/null; blockdev --flushbufs /dev/vdb; mount -o ro /dev/vdb /parlor;"
                    "mkdir -p /run/parlor; chown parlor: /run/parlor"
                )
                # QEMU takes an unplugged monitor for the state it starts from, and would not tell the guest of the first one it is told.
                if display.startswith("virtio"):
                    self.monitor(1280, 720)
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.disconnect()
        self.process.kill()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        atexit.unregister(self.stop)

    def wait(self, condition, seconds, what):
        """Returns what the condition is, once it is true."""
        deadline = time.monotonic() + seconds
        while True:
            value = condition()
            if value:
                return value
            if self.process.poll() is not None:
                raise MachineError(f"QEMU ended: {self.logged('qemu.log')}")
            if time.monotonic() > deadline:
                raise Late(f"waited {seconds} s in vain: {what}\n{self.logged('serial.log')}")
            time.sleep(0.05)

    def logged(self, name):
        with contextlib.suppress(OSError), open(os.path.join(self.folder, name), errors="replace") as log:
            return log.read()[-3000:]
        return ""

    def save(self, path):
        """Writes the memory to a file and stops the machine. The disk is as it was at that moment."""
        self.control("migrate-set-parameters", **{"max-bandwidth": 1 << 34})
        self.control("stop")
        self.control("migrate", uri=f"exec:cat > {shlex.quote(path + '.part')}")
        status = lambda: self.control("query-migrate").get("status")
        if self.wait(lambda: status() in ("completed", "failed") and status(), 120, "the memory is saved") != "completed":
            raise MachineError("the memory could not be saved")
        self.control("quit")
        self.process.wait(30)
        os.rename(path + ".part", path)

    # The guest, over ssh.

    def ssh(self, *options):
        return [
            *["ssh", "-F", "none", "-p", str(self.port), "-i", f"{self.guest}/id_ed25519", "-S", f"{self.folder}/ssh"],
            *["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "BatchMode=yes"],
            *["-o", "ConnectTimeout=20", *options, "root@127.0.0.1"],
        ]

    def connect(self, seconds):
        def answers():
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.settimeout(1)
                return connection.recv(4) == b"SSH-"

        self.wait(answers, seconds, "the guest's ssh answers")
        master = self.ssh("-o", "ControlMaster=yes", "-o", "ControlPersist=yes", "-f", "-N")
        log_in = lambda: subprocess.run(master, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
        self.wait(log_in, seconds, "logging in")
        self.connected = True

    def disconnect(self):
        if self.connected:
            subprocess.run(self.ssh("-O", "exit"), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.connected = False

    def root(self, script, seconds=60, data=None, check=True):
        """Runs a shell script as root; returns what it wrote."""
        answer = subprocess.run(
            [*self.ssh(), script], input=data if data is not None else b"", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds
        )
        text = answer.stdout.decode(errors="replace")
        if check and answer.returncode:
            raise MachineError(f"in the guest, with {answer.returncode}: {script}\n{text}")
        return text

    def as_parlor(self, script):
        """A root's script that runs this one as the user parlor, with its groups and no others, and with the real-time priorities that its service has."""
        return (
            "ulimit -r 20; exec setpriv --reuid=parlor --regid=parlor --init-groups --"
            f" env XDG_RUNTIME_DIR=/run/parlor HOME=/home/parlor PATH=/parlor:/usr/bin:/bin sh -c {shlex.quote(script)}"
        )

    def parlor(self, script, seconds=60, check=True):
        """Runs a shell script as the user parlor; returns what it wrote."""
        return self.root(self.as_parlor(script), seconds, check=check)

    def program(self, script):
        """Starts a program as the user parlor, its input and output connected to ours, line by line."""
        return Program(self, self.as_parlor(script))

    def touchscreen(self):
        return Touchscreen(self)

    def put(self, source, path):
        with open(source, "rb") as file:
            self.write(path, file.read())

    def write(self, path, content):
        """Writes a file of the guest, bytes or text, as root."""
        data = content.encode() if isinstance(content, str) else content
        self.root(f"mkdir -p {shlex.quote(os.path.dirname(path))}; cat > {shlex.quote(path)}", data=data)

    def get(self, path):
        answer = subprocess.run([*self.ssh(), f"cat {shlex.quote(path)}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=60)
        if answer.returncode:
            raise MachineError(f"the guest has no {path}")
        return answer.stdout

    # What stands around the guest.

    def screen(self, path, head=0):
        """Writes what is on a monitor, as PNG or PPM after the name. A monitor that is switched off shows QEMU's own text."""
        kind = os.path.splitext(path)[1][1:]
        self.control("screendump", filename=os.path.abspath(path), format=kind, device="console", head=head)

    def monitor(self, width, height, head=0):
        """Plugs a monitor with this preferred mode into a virtio output, in place of the one before."""
        set_desktop_size(os.path.join(self.folder, f"screen-{head}"), width, height)

    def unplug_monitor(self, head=0):
        set_desktop_size(os.path.join(self.folder, f"screen-{head}"), 0, 0)

    def plug(self, driver, name):
        """Plugs in `usb-kbd`, `usb-mouse` or `usb-tablet`."""
        self.control("device_add", driver=driver, id=name, bus="usb.0")

    def unplug(self, name):
        self.control("device_del", id=name)

    def key(self, code, down):
        self.control("input-send-event", events=[{"type": "key", "data": {"down": down, "key": {"type": "qcode", "data": code}}}])

    def pointer(self, x, y):
        """Moves the tablet; both of 0 ... 32767."""
        axis = lambda name, value: {"type": "abs", "data": {"axis": name, "value": value}}
        self.control("input-send-event", events=[axis("x", x), axis("y", y)])

    def button(self, down, button="left"):
        self.control("input-send-event", events=[{"type": "btn", "data": {"down": down, "button": button}}])


class Touchscreen:
    """A touchscreen, plugged in as long as the machine runs; coordinates are of 0 ... 32767, from the top left corner of the unturned glass."""

    def __init__(self, machine):
        machine.put(os.path.join(HERE, "touchscreen.py"), "/run/touchscreen.py")
        machine.root("modprobe uinput")
        self.program = Program(machine, "exec python3 /run/touchscreen.py")
        self.program.line()

    def touch(self, action):
        self.program.send(action)
        self.program.line()

    def down(self, x, y, finger=0):
        self.touch(f"down {finger} {x} {y}")

    def move(self, x, y, finger=0):
        self.touch(f"move {finger} {x} {y}")

    def up(self, finger=0):
        self.touch(f"up {finger}")


class Control:
    """QEMU's own control socket (QMP): a call with the command's name and arguments returns its answer."""

    def __init__(self, path, machine):
        self.machine = machine
        self.connection = socket.socket(socket.AF_UNIX)

        def connects():
            with contextlib.suppress(OSError):
                self.connection.connect(path)
                return True

        machine.wait(connects, 30, "QEMU's control socket is there")
        self.stream = self.connection.makefile("rw")
        self.stream.readline()
        self("qmp_capabilities")

    def __call__(self, name, **arguments):
        with contextlib.suppress(ConnectionError):
            self.stream.write(json.dumps({"execute": name, "arguments": arguments}) + "\n")
            self.stream.flush()
            while line := self.stream.readline():
                answer = json.loads(line)
                if "error" in answer:
                    raise MachineError(f"{name}: {answer['error']['desc']}")
                if "return" in answer:
                    return answer["return"]
        raise MachineError(f"{name}: QEMU has ended: {self.machine.logged('qemu.log')}")


class Program:
    """A program in the guest that reads lines and answers each with one line."""

    def __init__(self, machine, script):
        self.machine = machine
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [*machine.ssh(), f"echo $$; {script}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, bufsize=0
        )
        self.buffer = b""
        self.identifier = int(self.line(20))  # of the process, in the guest

    def line(self, seconds=30):
        """The next line the program writes."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not data:
                raise MachineError(f"the program {'ended' if ready else f'said nothing for {seconds} s'}: {self.said()}")
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def send(self, text):
        # The answer that doesn't come will say more of a program that has ended.
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(text.encode() + b"\n")

    def ask(self, text, seconds=30):
        """Sends a line; the answer, a JSON value."""
        self.send(text)
        answer = self.line(seconds)
        try:
            return json.loads(answer)
        except ValueError:
            raise MachineError(f"'{text}' was answered with '{answer}'") from None

    def said(self):
        """What it wrote to its standard error so far."""
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")[-3000:]

    def running(self):
        return self.process.poll() is None

    def kill(self, signal="KILL"):
        self.machine.root(f"kill -{signal} {self.identifier}", check=False)
        self.process.wait(20)

    def end(self, seconds=20):
        """Closes its input and waits for its end; the exit code."""
        self.process.stdin.close()
        return self.process.wait(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "boot"], help="run a command; or only make the booted machine, when it is not there yet")
    parser.add_argument("--display", choices=DISPLAYS, default="virtio")
    parser.add_argument("--root", action="store_true", help="as root")
    parser.add_argument("--screen", metavar="FILE", help="a PNG of the screen at the end")
    arguments = sys.argv[1:]
    split = arguments.index("--") if "--" in arguments else len(arguments)
    options, words = parser.parse_args(arguments[:split]), arguments[split + 1 :]
    try:
        if options.action == "boot":
            print(booted_folder(options.display))
            return
        started = time.monotonic()
        with booted(options.display) as machine:
            say(f"ready after {time.monotonic() - started:.1f} s")
            script = shlex.join(words) if len(words) > 1 else "".join(words) or "bash -l"
            terminal = ["-t"] if sys.stdin.isatty() else []
            status = subprocess.run([*machine.ssh(*terminal), script if options.root else machine.as_parlor(script)]).returncode
            if options.screen:
                machine.screen(options.screen)
        sys.exit(status)
    except MachineError as error:
        sys.exit(f"machine: {error}")


if __name__ == "__main__":
    main()
