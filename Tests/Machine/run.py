"""Parlor on real kernel drivers, in a virtual machine. Ends with `machine: N passed, N failed`.

    .build/venv/bin/python Tests/Machine/run.py [--only TEXT] [--list]

Each case starts a machine of its own, which runs already (machine.py). Pictures of failures are in .build/machine/shots.
"""

import argparse
import sys
import time
import traceback

import rig
from machine import MachineError
from screens import Failure

CASES = {
    "rig: a picture on virtio": lambda: rig.picture("virtio", "virtio_gpu"),
    "rig: a picture on bochs": lambda: rig.picture("bochs", "bochs-drm"),
    "rig: a checksum on vkms": rig.vkms_checksum,
    "rig: monitors come and go": rig.monitors,
    "rig: a second monitor": rig.second_monitor,
    "rig: keyboards and touches": rig.input_devices,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="run the cases with this text in their names")
    parser.add_argument("--list", action="store_true", help="only say what there is")
    options = parser.parse_args()
    passed = failed = 0
    for name, case in CASES.items():
        if options.only and options.only not in name:
            continue
        if options.list:
            print(name)
            continue
        started = time.monotonic()
        try:
            case()
            passed += 1
            print(f"pass  {name}  ({time.monotonic() - started:.0f} s)", flush=True)
        except (Failure, MachineError) as failure:
            failed += 1
            print(f"FAIL  {name}: {failure}", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL  {name}: {traceback.format_exc()}", flush=True)
    if options.list:
        return
    print(f"machine: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
