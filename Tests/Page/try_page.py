"""Shows what a page does in parlor-page: its console, the bridge's messages, and its picture."""

import argparse
import sys
import tempfile
import time

from page_harness import PageTrial, summary

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("url")
parser.add_argument("--seconds", type=float, default=5, help="how long the page runs (5)")
parser.add_argument("--picture", default="page.png", help="where its picture goes (page.png)")
parser.add_argument("--allow", action="append", default=[], help="another origin that is admitted")
parser.add_argument("--size", default="1280x720")
options = parser.parse_args()

# The web engine tells of the console only where data is kept.
with tempfile.TemporaryDirectory() as folder, PageTrial(
    options.url, size=tuple(map(int, options.size.split("x"))), log_level="debug", allowedOrigins=options.allow, dataFolder=folder
) as trial:
    end = time.monotonic() + options.seconds
    told = 0
    while time.monotonic() < end and trial.host.poll() is None:
        while told < len(trial.bridge.log):
            print(summary(trial.bridge.log[told]), flush=True)
            told += 1
        time.sleep(0.05)
    if trial.bridge.seen("page.drawn"):
        print("picture:", trial.screenshot(options.picture))
    sys.stdout.write(trial.output())
