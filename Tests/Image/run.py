"""The image: built, booted as a PC would, looked at from outside and inside. Ends with `image: N passed, N failed`.

    .build/venv/bin/python Tests/Image/run.py [--only TEXT] [--short] [--kills N] [--list]

Needs root, to build the image. Pictures of failures are in .build/image-tests.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Rig"))

import boot_choice
import boots
import builds
import calls
import cases
import network
import operators
import power_cuts
import rescue
import site_files
import updates
from failure import Failure
from machine import MachineError

CASES = {
    "choice: a flashed box": boot_choice.flashed,
    "choice: good updates": boot_choice.good_update,
    "choice: bad updates": boot_choice.bad_update,
    "choice: back by hand": boot_choice.back,
    "choice: an interrupted update": boot_choice.interrupted,
    "choice: a slot that is marked bad": boot_choice.demoted,
    "build: what is in the image": builds.content,
    "boot: from a flashed disk to the picture, and again": boots.first_and_second,
    "update: installed, tried, good": updates.good,
    "call: from a flashed disk, with a browser on the other side": calls.from_flash,
    "operator: verbs, changes, and what is not for operators": operators.verbs,
    "power: cut at the first start": power_cuts.short,
}

# Those that take many minutes.
LONG_CASES = {
    "network: Wi-Fi by itself, and without a cable": network.wifi,
    "rescue: a screen that says so": rescue.screen,
    "build: twice the same": builds.reproducible,
    "build: sizes": builds.sizes,
    "boot: a data partition that is damaged": boots.damaged_data,
    "update: one that does not start": updates.does_not_boot,
    "update: one whose program crashes": updates.crashes,
    "update: one whose page never loads": updates.page_never_loads,
    "network: Wi-Fi with a login for each box": network.enterprise,
    "network: a Wi-Fi device without firmware": network.firmware,
    "network: no cable, and no time": network.cable_and_clock,
    "network: logs and addresses that change": network.elsewhere,
    "files: from Windows, from a stick, broken": site_files.partition_and_stick,
    "rescue: three starts before it": rescue.starts,
    "boot: signed, with Secure Boot": boots.secure,
    "operator: an update and a factory reset": operators.update_and_reset,
    "power: cut in 500 places": power_cuts.full,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="run the cases with this text in their names")
    parser.add_argument("--list", action="store_true", help="only say what there is")
    parser.add_argument("--short", action="store_true", help="without those that take many minutes")
    parser.add_argument("--kills", type=int, default=3, help="how often the power goes at random moments (3)")
    options = parser.parse_args()
    if not options.short:
        CASES.update(LONG_CASES)
        CASES[f"power: gone {options.kills} times"] = lambda: power_cuts.killed(options.kills)
    cases.run("image", CASES, options, (Failure, MachineError))


if __name__ == "__main__":
    main()
