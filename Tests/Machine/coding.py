"""Coding through the kernel's stateful encoder and decoder: vicodec, a driver without hardware that speaks a format of its own (FWHT)."""

import json

from machine import booted
from screens import Failure


def trial(machine, name):
    """What coding-trial found."""
    return json.loads(machine.root(f"/parlor/coding-trial {name}", seconds=120))


def check(what, fine):
    if not fine:
        raise Failure(what)


def frames(options=""):
    with booted("virtio") as machine:
        machine.root(f"modprobe vicodec {options}; udevadm settle")

        found = trial(machine, "frames")
        check(f"every picture comes out, and says itself which it is: {found}", found["shown"] == found["codes"] == 60)
        check(f"the pictures look as they did: {found}", found["worst_psnr"] > 38)
        # The driver has a key frame of its own every sixteen.
        check(f"a key frame comes when it is asked for: {found}", found["key_frames"] == [0, 16, 20, 36, 52])
        check(f"a decoder begins at a key frame: {found}", (found["refused"], found["late"]) == (1, 44))

        found = trial(machine, "sizes")
        sizes = [size for size in ([640, 360], [800, 450], [642, 362], [1280, 720], [640, 360]) for _ in range(3)]
        check(f"each size comes out as it went in: {found}", [entry[:2] for entry in found] == sizes)
        check(f"another size begins with a key frame: {found}", [entry[2] for entry in found] == [True, False, False] * 5)
        check(f"the pictures of all sizes look as they did: {found}", min(entry[3] for entry in found) > 38)

        found = trial(machine, "broken")
        check(f"a damaged frame is refused: {found}", str(found[3]).startswith("malformed frame"))
        check(f"nothing is shown until the next key frame: {found}", found[4:6] == ["a key frame is required first"] * 2)
        check(f"all others are shown: {found}", len(found) == 9 and min(found[:3] + found[6:]) > 38)

        found = trial(machine, "imported")
        check(f"pictures in another device's memory are seen there: {found}", len(found) == 8 and min(entry[1] for entry in found) > 38)
        check(f"and without such memory it goes on: {found}", [index for index, entry in enumerate(found) if entry[0]] == [0, 5])

        found = trial(machine, "choices")
        check(f"four choices: {found}", len({(entry["codec"], entry["direction"]) for entry in found}) == 4)
        # FWHT is no format of calls.
        check(f"software codes calls, and says why: {found}", all(entry["reason"] == "no hardware offers it" for entry in found))
