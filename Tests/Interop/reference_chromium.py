"""Chromium calling itself, as the figures to compare with. Prints one JSON object of medians over freshly started browsers:

connect_ms, first_frame_ms     the first call of a browser, which is what a visitor of a page sees
warm                           the same of its later calls
data_mbit_per_s                one data channel, messages of 16 KiB
"""

import argparse
import asyncio
import json
import statistics

from chromium import Chromium


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--browsers", type=int, default=3)
    parser.add_argument("--calls", type=int, default=3, help="in each browser")
    parser.add_argument("--codec", choices=["vp8", "h264"], default="vp8")
    parser.add_argument("--seconds", type=float, default=2, help="of data in each browser; 0: none")
    options = parser.parse_args()
    runs = []
    for _ in range(options.browsers):
        async with Chromium("reference.html") as browser:
            await browser.send({"options": vars(options)})
            runs.append(await asyncio.wait_for(browser.receive(), 20 + 3 * options.calls + options.seconds))

    def median(values):
        return round(statistics.median(values), 1)

    names = ("connect_ms", "first_frame_ms")
    figures = {name: median(run["calls"][0][name] for run in runs) for name in names}
    if options.calls > 1:
        figures["warm"] = {name: median(call[name] for run in runs for call in run["calls"][1:]) for name in names}
    if options.seconds > 0:
        figures["data_mbit_per_s"] = median(run["data_mbit_per_s"] for run in runs)
    print(json.dumps(figures | {"runs": runs}))


asyncio.run(main())
