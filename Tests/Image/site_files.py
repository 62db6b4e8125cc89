"""A site's files on the partition and on USB sticks, as people with other systems write them."""

import os

import builds
from boots import expect, shown
from failure import WORK, Failure
from machine import ImageMachine, command, flash, put_on_partition, put_on_stick, read_partition
from operators import Operator

# What Windows' editors make of a text.
BEGINNING, END = "\ufeff", "\r\n"

KEY = "a key of 16 characters or more"


def windows(*lines):
    return BEGINNING + "".join(line + END for line in lines)


def stick(path, files):
    """A USB stick as it is bought, with some files."""
    if os.path.exists(path):
        os.remove(path)
    command("mkfs.vfat", "-C", path, str(64 << 10))
    put_on_stick(path, files)
    return path


def report(machine):
    return read_partition(machine.disk, "parlor-report.txt").decode()


def said(text, *parts):
    for part in parts:
        if part not in text:
            raise Failure(f"the report does not say {part}: {text}")


def partition_and_stick():
    """A file with a mistake is refused by line; a stick sets up the box that never was; then neither a broken file nor a stick without the key changes anything."""
    with open(builds.key() + ".pub") as file:
        keys = windows("# Anna's", file.read().strip() + " anna@example")
    disk, path = os.path.join(WORK, "files.disk.img"), os.path.join(WORK, "stick.img")
    image = builds.debug_image()
    flash(image, disk, {"parlor.toml": windows("[identity]", 'name = "Lobby"', "[display]", "rotat = 90"), "authorized_keys": keys})
    machine = ImageMachine(image, disk=disk, key=builds.key())
    try:
        operator = Operator(machine)
        with machine:
            shown(machine)
            machine.connect()
            said(report(machine), "NOT APPLIED: the box is not set up.", "parlor.toml:4:1", "rotat", "did you mean rotate")
            machine.screen(os.path.join(WORK, "refused.png"))
            machine.power_off()

            machine.sticks = [stick(path, {"parlor.toml": windows("[identity]", 'name = "Foyer"'), "authorized_keys": keys, "provisioning.key": KEY})]
            machine.power_on()
            machine.connect()
            machine.wait(lambda: operator.status().get("name") == "Foyer", 120, "the stick has set the box up")
            # The lines end as they did.
            expect("the file on the partition", read_partition(disk, "parlor.toml").decode(), f'[identity]{END}name = "Foyer"{END}')
            said(read_partition(disk, "parlor.toml.before").decode(), "rotat")
            address = machine.root("cat /sys/class/net/enp0s6/address").strip().replace(":", "")
            said(command("mtype", "-i", path, f"::parlor-report-{address}.txt"), "APPLIED: the box runs with these files.")
            expect("the key on the stick, for the next box", command("mtype", "-i", path, "::provisioning.key"), KEY)
            if KEY in (there := read_partition(disk, "provisioning.key").decode()):
                raise Failure(f"the key is on the partition for everybody to read: {there}")
            machine.power_off()

            put_on_partition(disk, {"parlor.toml": windows("[identity", 'name = "Cellar"')})
            machine.sticks = [stick(path, {"parlor.toml": windows("[identity]", 'name = "Thief"'), "authorized_keys": keys, "provisioning.key": "another key of 16"})]
            machine.power_on()
            machine.connect()
            status = machine.wait(operator.status, 120, "the box answers its operator")
            expect("the name, and what is wrong", (status["name"], status["code"]), ("Foyer", "provision.refused"))
            said(report(machine), "NOT APPLIED: the box goes on with what it had before.", "parlor.toml:1:")
            operator("logs --lines 1000").index("it does not hold this box's provisioning.key")
    finally:
        for file in (disk, path):
            if os.path.exists(file):
                os.remove(file)
