"""Updates by RAUC on the real boot loader: tried, and good or given up."""

import glob
import json
import os
import re

import builds
from boots import expect, settled, shown
from calls import CONFIGURATION
from failure import WORK, Failure
from machine import ImageMachine, flash
from site_on_host import Site

BOOT_ID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
CURRENT = "/usr/lib/parlor/rauc-boot get-current"


def send(machine, image):
    """Puts the bundle that was built with the image onto the machine; its path there."""
    bundle = glob.glob(os.path.join(os.path.dirname(image), "*.raucb"))[0]
    with open(bundle, "rb") as file:
        machine.root("cat >/var/tmp/update.raucb", data=file.read(), seconds=300)
    return "/var/tmp/update.raucb"


def restart(machine):
    machine.root("systemctl reboot", check=False)
    machine.wait(lambda: not machine.answers(), 60, "the machine goes down")
    machine.connect()


def taken(image, update, patience, change=lambda machine: None, disk=None):
    """Has a box take the bundle that was built with `update`, waits for the old slot to be back by itself, and looks at what the box then says of it."""
    with ImageMachine(image, disk=disk, key=builds.key(), memory=2048) as machine:
        machine.connect()
        settled(machine)
        machine.root(f"rauc install {send(machine, update)}", seconds=600)
        change(machine)
        machine.root("systemctl reboot", check=False)
        machine.wait(lambda: not machine.answers(), 60, "the machine goes down")

        def back():
            if not machine.answers():
                return False
            slot = machine.root(CURRENT, check=False).strip()
            if slot == "B":
                # A machine that goes down meanwhile answers with something else.
                seen.update(line for line in machine.root("cat /proc/sys/kernel/random/boot_id", check=False).split() if BOOT_ID.fullmatch(line))
            return slot == "A"

        seen = set()
        machine.wait(back, patience, "the old slot is back")
        print(f"      starts of the new slot that answered: {len(seen)}", flush=True)
        expect("the state of the other", machine.root("/usr/lib/parlor/rauc-boot get-state B").strip(), "bad")
        if disk is None:
            shown(machine)
        status = machine.wait(lambda: (said := told(machine)).get("update") and said, 120, "the box tells what became of the update")
        expect("what became of the update", [status["update"]["state"], status["update"]["slot"], status["slot"]], ["given-up", "B", "A"])
        return seen


def told(machine):
    """What the box says of itself."""
    answer = machine.root("parlor status --json", check=False)
    return json.loads(answer) if answer.startswith("{") else {}


def good():
    """An update goes to the slot that does not run, is started on trial, and stays once it is marked good; a bundle that was changed is refused."""
    image = builds.debug_image()
    with ImageMachine(image, key=builds.key()) as machine:
        machine.connect()
        settled(machine)
        machine.root("echo kept >/var/lib/parlor-system/kept")
        bundle = send(machine, image)
        # In the middle of the file system: a kernel of the other slot would not be looked at.
        machine.root(f"cp {bundle} /var/tmp/other.raucb; printf x | dd of=/var/tmp/other.raucb bs=1 seek=100000000 conv=notrunc 2>/dev/null")
        answer = machine.root("rauc install /var/tmp/other.raucb && echo installed", seconds=300, check=False)
        if "installed" in answer.splitlines():
            raise Failure("a bundle that was changed is installed")
        expect("the primary slot after a bad bundle", machine.root("/usr/lib/parlor/rauc-boot get-primary").strip(), "A")
        machine.root(f"rm /var/tmp/other.raucb; rauc install {bundle}", seconds=300)
        restart(machine)
        expect("the slot", machine.root(CURRENT).strip(), "B")
        expect("what was kept", machine.root("cat /var/lib/parlor-system/kept").strip(), "kept")
        machine.root("rauc status mark-good")
        shown(machine)
        # Neither restarts nor power cuts count against it any more.
        machine.power_off()
        machine.power_on()
        machine.connect()
        expect("the slot after a power cut", machine.root(CURRENT).strip(), "B")
        expect("its state", machine.root("/usr/lib/parlor/rauc-boot get-state B; /usr/lib/parlor/rauc-boot get-state A").split(), ["good", "good"])


def does_not_boot():
    """An update whose kernel does not get anywhere is given up after three tries, by itself."""
    image = builds.debug_image()
    # The file system is no longer the one that the kernel was made for.
    if taken(image, image, 900, lambda machine: machine.root("dd if=/dev/zero of=/dev/disk/by-partlabel/root-b bs=1M count=1 conv=fsync 2>/dev/null")):
        raise Failure("the broken slot was started")


def crashes():
    """An update whose program does not stay up."""
    image = builds.debug_image()
    update = builds.debug_image(
        name="crashing", overlay={"/etc/systemd/system/parlor.service.d/test.conf": "[Service]\nExecStart=\nExecStart=/usr/bin/false\n"})
    expect("how often the new slot was started", len(taken(image, update, 1800)), 3)


def page_never_loads():
    """An update whose program runs, and whose page never comes."""
    image = builds.debug_image("page")
    update = builds.debug_image("page", name="without-a-page", overlay={
        "/etc/systemd/system/parlor-page.service.d/test.conf": "[Service]\nExecStart=\nExecStart=/usr/bin/sleep infinity\n",
        # Ten minutes each would be long here.
        "/etc/systemd/system/parlor-health.service.d/test.conf": "[Service]\nExecStart=\nExecStart=/usr/bin/parlor confirm --patience 120\n",
    })
    with open(builds.key() + ".pub") as file:
        key = file.read()
    disk = os.path.join(os.path.dirname(image), "update.disk.img")
    with Site(os.path.join(WORK, "update")) as site:
        with open(site.authority) as file:
            flash(image, disk, {"parlor.toml": CONFIGURATION.format(origin=site.origin), "authorized_keys": key, "site.pem": file.read()})
        try:
            expect("how often the new slot was started", len(taken(image, update, 1800, disk=disk)), 3)
        finally:
            os.remove(disk)
