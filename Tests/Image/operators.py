"""What an operator has of a box over SSH: verbs, and through them what systemd and polkit let a user without rights have done."""

import contextlib
import glob
import json
import os
import subprocess

import builds
from boots import expect
from failure import Failure
from machine import ImageMachine, flash

CONFIGURATION = """# The lobby's box
[identity]
name = "Lobby"
[call]
whip = "http://127.0.0.1:9/whip"   # nobody is there
token = "bearer-token"
start = "manual"
[display]
rotate = 0
[[camera]]
device = "synthetic"
[sound]
capture = "none"
playback = "none"
"""


class Operator:
    """Somebody with a key, on the other side of SSH."""

    def __init__(self, machine):
        self.machine = machine

    def run(self, line, data=b"", seconds=120):
        return subprocess.run(
            [*self.machine.ssh_command("operator"), line], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds, check=False)

    def __call__(self, line, data=b"", code=0, seconds=120):
        answer = self.run(line, data, seconds)
        if answer.returncode != code:
            raise Failure(f"{line}: {answer.returncode}, not {code}: {answer.stdout[-2000:].decode(errors='replace')} {answer.stderr.decode()}")
        return (answer.stdout or answer.stderr).decode(errors="replace")

    def status(self):
        answer = self.run("status --json")
        return json.loads(answer.stdout) if answer.returncode == 0 else {}


@contextlib.contextmanager
def box():
    """A box that was set up by the files on its partition, and its operator."""
    with open(builds.key() + ".pub") as file:
        key = file.read().strip() + " anna@example\n"
    image = builds.debug_image()
    disk = os.path.join(os.path.dirname(image), "operator.disk.img")
    flash(image, disk, {"parlor.toml": CONFIGURATION, "authorized_keys": key})
    try:
        with ImageMachine(image, disk=disk, key=builds.key()) as machine:
            machine.connect()
            operator = Operator(machine)
            machine.wait(lambda: operator.status().get("name") == "Lobby", 120, "the box answers its operator")
            yield machine, operator, image
    finally:
        os.remove(disk)


def verbs():
    """A box is looked after by its operator, and by nobody else."""
    with box() as (machine, operator, _):
        looks(operator)
        changes(machine, operator)
        rights(machine, operator)


def looks(operator):
    operator("metrics").index('parlor_info{name="Lobby"')
    if not operator.run("screenshot -").stdout.startswith(b"\x89PNG"):
        raise Failure("the screenshot is no PNG")
    if not operator.run("support-bundle -").stdout.startswith(b"\x1f\x8b"):
        raise Failure("the support bundle is not gzipped")
    expect("the name that is shown", operator("config get identity.name"), "Lobby\n")
    expect("the token that is shown", operator("config get call.token"), "(kept on the box)\n")
    log = operator("logs --lines 500")
    for text in ("operator (anna@example, SHA256:", "took a screenshot", "took a support bundle"):
        if text not in log:
            raise Failure(f"the log does not say: {text}: {log[-3000:]}")


def changes(machine, operator):
    if "applied" not in (answer := operator("config set display.rotate 180")):
        raise Failure(f"config set says {answer}")
    machine.wait(lambda: operator.status().get("stage", {}).get("rotation") == 180, 120, "the picture is turned")
    wanted = CONFIGURATION.replace("rotate = 0", "rotate = 180").replace("bearer-token", "(kept on the box)")
    expect("the configuration", operator("config get"), wanted)
    # The file goes out and comes back, and the secret is still there.
    operator("config apply -", wanted.replace("Lobby", "Foyer").encode())
    machine.wait(lambda: operator.status().get("name") == "Foyer", 120, "the box has its new name")
    if 'token = "bearer-token"' not in machine.root("cat /etc/parlor/parlor.toml"):
        raise Failure("the token is lost")
    operator("config set display.rotate 45", code=78)
    operator("config apply -", b"[call\n", code=78)
    expect("the name after wrong files", operator.status().get("name"), "Foyer")
    before = machine.root("systemctl show --property MainPID parlor.service")
    operator("restart app")
    machine.wait(lambda: operator.status().get("name") == "Foyer", 120, "the app is back")
    if machine.root("systemctl show --property MainPID parlor.service") == before:
        raise Failure("the app was not restarted")


def rights(machine, operator):
    for line in ("id", "sh -c id", "/usr/lib/openssh/sftp-server", "scp -t /tmp", "run", "screenshot /tmp/x", "install-update"):
        operator(line, code=77)
    # Nor has the user more rights by itself, if it ever came out of its shell.
    for line in ("stop ssh.service", "restart NetworkManager.service", "start poweroff.target", "stop parlor.service"):
        answer = machine.root(f"setpriv --reuid operator --regid operator --init-groups systemctl --no-ask-password {line} 2>&1; echo $?", check=False)
        if answer.split()[-1] == "0":
            raise Failure(f"the operator may: {line}")


def update_and_reset():
    """An operator brings an update, which the box restarts into by itself; and has it forget everything."""
    with box() as (machine, operator, image):
        operator("update -", b"no bundle" * 1000, code=65, seconds=300)
        with open(glob.glob(os.path.join(os.path.dirname(image), "*.raucb"))[0], "rb") as file:
            answer = operator("update -", file.read(), seconds=900)
        if "installed" not in answer and "restarting" not in answer:
            raise Failure(f"the update says {answer}")
        machine.wait(lambda: not machine.answers(), 120, "the machine restarts")
        machine.connect()
        expect("the slot", machine.root("/usr/lib/parlor/rauc-boot get-current").strip(), "B")
        machine.wait(lambda: operator.status().get("name") == "Lobby", 300, "the configuration has come along")

        machine.root("touch /var/lib/parlor-system/kept")
        operator("factory-reset", code=64)
        operator("factory-reset --yes")
        machine.wait(lambda: not machine.answers(), 120, "the machine restarts")
        machine.connect()
        if "kept" in machine.root("ls /var/lib/parlor-system").split():
            raise Failure("a factory reset keeps what there was")
