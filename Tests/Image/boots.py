"""The image on a PC: from a flashed disk to the picture."""

import json
import os
import re
import shutil
import subprocess
import tempfile

import builds
from failure import HERE, WORK, Failure
from machine import OVMF, ImageMachine, Late, command, flash

# TCP and UDP ports that are open, besides those of connections: SSH; and the answers to the request for an address.
ALLOWED_PORTS = {("tcp", 22), ("udp", 68), ("udp", 546)}

# What the whole box uses while nothing happens, in MiB.
MOST_MEMORY = 160

# Names of people and places are written in many ways.
WRITTEN = "AäЖΩעא中这日あ한"

# The colour of a notice.
NOTICE = (16, 33, 51)

LISTENING = """for kind in tcp udp; do for file in /proc/net/$kind /proc/net/${kind}6; do
  [ ! -e $file ] || awk -v kind=$kind 'NR > 1 && ($4 == "0A" || kind == "udp") { print kind, $2 }' $file
done; done"""


def listening(machine):
    """The ports on which others can reach the machine, by what the kernel says."""
    found = set()
    for line in machine.root(LISTENING).splitlines():
        kind, address = line.split()
        host, port = address.rsplit(":", 1)
        if host not in ("0100007F", "00000000000000000000000001000000"):
            found.add((kind, int(port, 16)))
    return found


def scanned(machine):
    """The TCP ports that answer when somebody tries them all, at an address that others reach."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "scan")
        command("cc", "-O2", "-static", "-o", program, os.path.join(HERE, "scan.c"))
        with open(program, "rb") as file:
            machine.write("/var/tmp/scan", file.read())
    address = "ip -4 -brief address show scope global | awk '{ sub(\"/.*\", \"\", $3); print $3; exit }'"
    return [int(line) for line in machine.root(f"chmod +x /var/tmp/scan; /var/tmp/scan $({address}); rm /var/tmp/scan", seconds=300).split()]


def shown(machine, seconds=600):
    """Waits until Parlor has the display, by what is on the screen: its notice fills a good part of it, and is neither the firmware's picture nor text."""
    path = os.path.join(machine.folder, "screen.ppm")

    def is_there():
        machine.screen(path)
        with open(path, "rb") as file:
            kind, size, _, pixels = file.read().split(b"\n", 3)
        width, height = map(int, size.split())
        # The middle of the notice's box, left of its text.
        at = 3 * (height // 2 * width + width // 2 - 370)
        return (width, height) == (1280, 720) and all(abs(a - b) < 4 for a, b in zip(pixels[at : at + 3], NOTICE))

    try:
        machine.wait(is_there, seconds, "Parlor's notice is on the screen")
    except Late:
        kept = os.path.join(WORK, "not-shown.png")
        machine.screen(kept)
        raise Failure(f"Parlor's notice is not on the screen: {kept}") from None


def expect(what, found, wanted):
    if found != wanted:
        raise Failure(f"{what}: {found!r}, not {wanted!r}")


def settled(machine):
    state = machine.root("systemctl is-system-running --wait", seconds=300, check=False).strip()
    if state != "running":
        raise Failure(f"the system is {state}: {machine.root('systemctl --failed --no-legend; journalctl --no-pager --boot --priority err | tail -n 20')}")


def hardened(machine, *units):
    """What `systemd-analyze security` makes of Parlor's units is below 3.0."""
    for unit in units:
        verdict = machine.root(f"systemd-analyze security --no-pager {unit} | tail -n 1")
        if float(re.search(r"(\d+\.\d)", verdict)[1]) >= 3:
            raise Failure(verdict)


def first_and_second():
    """A flashed disk starts from slot A, read-only and checked, shows Parlor's picture, uses the whole disk, listens for SSH alone, and is the same box after a power cut."""
    with ImageMachine(builds.debug_image(), key=builds.key()) as machine:
        shown(machine)
        machine.connect()
        settled(machine)
        hardened(machine, "parlor.service")
        expect("the slot", machine.root("/usr/lib/parlor/rauc-boot get-current").strip(), "A")
        expect("RAUC's slot", "\n".join(line for line in machine.root("rauc status --output-format=shell").splitlines() if line.startswith("RAUC_SYSTEM_BOOTED")), "RAUC_SYSTEM_BOOTED_BOOTNAME='A'")
        expect("dm-verity", machine.root("dmsetup status root").split()[3], "V")
        expect("the root file system", machine.root("findmnt -no FSTYPE,OPTIONS / | cut -d , -f 1").split(), ["squashfs", "ro"])
        if "Read-only" not in machine.root("touch /etc/x /usr/x 2>&1", check=False):
            raise Failure("the system can be written to")
        size = int(machine.root("df --output=size --block-size=1M /var | tail -n 1"))
        if size < 4000:
            raise Failure(f"the data partition has {size} MiB of a disk of 6 GiB")
        for sign in WRITTEN:
            if not machine.root(f"fc-list :charset={ord(sign):x}").strip():
                raise Failure(f"no font has {sign}")
        ports = listening(machine)
        if not ports <= ALLOWED_PORTS or ("tcp", 22) not in ports:
            raise Failure(f"open ports: {sorted(ports)}")
        expect("the ports that answer", scanned(machine), [22])
        # As free(1) counts it, in MiB.
        used = int(machine.root("free -m | awk '/^Mem:/ { print $3 }'"))
        if used > MOST_MEMORY:
            raise Failure(f"{used} MiB of memory are used")
        for user in ("root", "operator", "parlor"):
            answer = subprocess.run(
                [*machine.ssh_command(user, "-o", "PreferredAuthentications=password,keyboard-interactive", "-o", "PubkeyAuthentication=no"), "true"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            )
            if answer.returncode != 255 or "Permission denied (publickey)" not in answer.stdout:
                raise Failure(f"{user} may log in without a key: {answer.stdout}")
        identity = machine.root("cat /etc/machine-id; ssh-keygen -lf /var/lib/parlor-system/ssh/ssh_host_ed25519_key.pub")
        expect("the identifier's length", len(identity.split()[0]), 32)
        machine.root("echo kept >/var/lib/parlor-system/kept; sync")

        machine.power_off()
        machine.power_on()
        shown(machine)
        machine.connect()
        settled(machine)
        expect("the identity after a power cut", machine.root("cat /etc/machine-id; ssh-keygen -lf /var/lib/parlor-system/ssh/ssh_host_ed25519_key.pub"), identity)
        expect("what was kept", machine.root("cat /var/lib/parlor-system/kept").strip(), "kept")
        if "not cleanly" in (log := machine.root("cat /run/parlor-data.log")):
            raise Failure(f"the data partition: {log}")


def damaged_data():
    """A data partition that nobody can repair leaves the box without memory, but not dark."""
    image = builds.debug_image()
    disk = os.path.join(os.path.dirname(image), "damaged.disk.img")
    flash(image, disk)
    try:
        with ImageMachine(disk=disk, key=builds.key()) as machine:
            machine.connect()
            settled(machine)
            machine.power_off()
            table = json.loads(builds.run("sfdisk", "--json", disk))["partitiontable"]
            data = next(partition for partition in table["partitions"] if partition["name"] == "parlor-data")
            # As if the disk had forgotten the whole partition, with all copies of what e2fsck could begin with.
            command("fallocate", "--punch-hole", "--offset", str(data["start"] * 512), "--length", str(data["size"] * 512), disk)
            machine.power_on()
            shown(machine)
            machine.connect()
            expect("the mark", machine.root("ls /run/parlor-data.failed").strip(), "/run/parlor-data.failed")
    finally:
        os.remove(disk)


def secure():
    """With keys of one's own the firmware takes them at the first start, starts the signed image and nothing else."""
    keys = tempfile.mkdtemp(prefix="parlor-keys-")
    output = os.path.join(WORK, "secure")
    try:
        for name in ("update", "secure-boot"):
            command(
                *["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-subj", f"/CN=a site's {name}"],
                *["-keyout", f"{keys}/{name}.key", "-out", f"{keys}/{name}.crt"],
            )
        shutil.copy(f"{keys}/update.crt", f"{keys}/update-ca.crt")
        image = builds.build(
            output, "--flavour", "direct", "--quick", "--debug-key", builds.key() + ".pub",
            environment={"PARLOR_KEYS": keys, "PARLOR_SECURE_BOOT_ENROLL": "force"},
        )
        variables = os.path.join(output, "variables.fd")
        with ImageMachine(image, key=builds.key(), secure_variables=f"{OVMF}/OVMF_VARS_4M.fd") as machine:
            machine.connect(600)
            state = machine.root("for name in SecureBoot SetupMode; do od -An -tu1 -j4 /sys/firmware/efi/efivars/$name-8be4df61-93ca-11d2-aa0d-00e098032b8c; done").split()
            expect("Secure Boot, and the mode in which anybody may set keys", state, ["1", "0"])
            shutil.copy(machine.variables, variables)
        with ImageMachine(builds.debug_image(), secure_variables=variables) as machine:

            def said():
                with open(os.path.join(machine.folder, "serial.log"), errors="replace") as log:
                    return "Access Denied" in log.read()

            machine.wait(said, 120, "the firmware refuses an image that nobody signed")
    finally:
        shutil.rmtree(keys)
        shutil.rmtree(output, ignore_errors=True)
