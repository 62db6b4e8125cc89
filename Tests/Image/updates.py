"""Updates by RAUC on the real boot loader: tried, and good or given up."""

import glob
import os

import builds
from boots import expect, settled, shown
from failure import Failure
from machine import ImageMachine

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


def bad():
    """An update whose kernel does not get anywhere is given up after three tries, by itself."""
    image = builds.debug_image()
    with ImageMachine(image, key=builds.key()) as machine:
        machine.connect()
        settled(machine)
        machine.root(f"rauc install {send(machine, image)}", seconds=300)
        # The file system is no longer the one that the kernel was made for.
        machine.root("dd if=/dev/zero of=/dev/disk/by-partlabel/root-b bs=1M count=1 conv=fsync 2>/dev/null; systemctl reboot", check=False)
        machine.wait(lambda: not machine.answers(), 60, "the machine goes down")
        machine.connect(900)
        expect("the slot", machine.root(CURRENT).strip(), "A")
        expect("the state of the other", machine.root("/usr/lib/parlor/rauc-boot get-state B").strip(), "bad")
