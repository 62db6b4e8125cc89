"""Call pages in the real page host, on the headless stage. Ends with `pages: N passed, N failed`.

    .build/venv/bin/python Tests/PageCalls/run.py [--only TEXT] [--keep]

Each scenario runs `parlor run` with a configuration of its own, does what a visitor would, and looks at the picture.
"""

import argparse
import asyncio
import os
import shutil
import sys
import time
import traceback

from cycles import cycles
from failures import FAILURES
from janus_demos import DEMONSTRATIONS
from kiosk import ROOT, Failure, Kiosk
from mirror import mirror
from samples import SAMPLES
from sites import Site

HERE = os.path.dirname(os.path.abspath(__file__))


async def sample(name, directory):
    async with Site(os.path.join(HERE, "pages"), {"/webrtc-adapter": "/usr/share/javascript/webrtc-adapter"}) as site:
        page = SAMPLES[name]
        async with Kiosk(directory, f"{site.origin}/{page.page}", granted=[site.origin]) as kiosk:
            await page.run(kiosk)


def scenarios():
    for name in SAMPLES:
        yield f"sample {name}", lambda directory, name=name: sample(name, directory)
    yield from DEMONSTRATIONS.items()
    yield "published mirror", mirror
    yield "cycles of connections", cycles
    yield from FAILURES.items()


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="run the scenarios with this text in their names")
    parser.add_argument("--seconds", type=int, default=240, help="how long one scenario may take")
    options = parser.parse_args()
    work = os.path.join(ROOT, ".build/page-calls")
    passed = failed = 0
    for name, scenario in scenarios():
        if options.only and options.only not in name:
            continue
        directory = os.path.join(work, name.replace(" ", "-"))
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        started = time.monotonic()
        try:
            await asyncio.wait_for(scenario(directory), options.seconds)
            passed += 1
            print(f"pass  {name}  ({time.monotonic() - started:.0f} s)", flush=True)
        except Failure as failure:
            failed += 1
            print(f"FAIL  {name}: {failure}", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL  {name}: {traceback.format_exc()}", flush=True)
    print(f"pages: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    asyncio.run(main())
