"""Peer connections with data channels, made and closed over and over by a page: nothing may be left of them, in no process."""

import json
import os
import statistics

from aiohttp import web
from kiosk import Failure, Kiosk
from sites import Site

HERE = os.path.dirname(os.path.abspath(__file__))
# Growth in MiB that the heaps of the engine and of ours may show between two stretches of the same work.
SLACK = {"WebKitWebProcess": 8, "parlor-page": 4, "parlor": 4}


async def cycles(directory):
    """PARLOR_CYCLES of them: each of 20 looks comes after a twentieth. Looks 4 to 8 are compared with the last five."""
    total = int(os.environ.get("PARLOR_CYCLES", "1000"))
    looks = []

    async def look(request):
        looks.append(json.loads(await kiosk.must("stats", "--json")))
        return web.Response(status=204)

    async with Site(os.path.join(HERE, "pages"), routes=[web.post("/look", look)]) as site:
        kiosk = Kiosk(directory, f"{site.origin}/cycles.html?cycles={total}", granted=[site.origin])
        async with kiosk:
            await kiosk.title("cycles done", seconds=60 + total)
    if len(looks) != 20:
        raise Failure(f"the page was looked at {len(looks)} times")
    for number, found in enumerate(looks, 1):
        for document in found["documents"]:
            if document["connections"] or document["channels"]:
                raise Failure(f"look {number}: {document} is left")
    report = []
    for name, slack in SLACK.items():
        def values(key, part):
            return [found["process"][name][key] for found in part]
        before, after = (statistics.mean(values("pss_mb", part)) for part in (looks[3:8], looks[15:]))
        report.append(f"{name} {before:.1f} to {after:.1f} MiB")
        if after > before + slack:
            raise Failure(f"memory grows: {name} had {before:.1f} MiB and then {after:.1f} MiB: {values('pss_mb', looks)}")
        descriptors = [min(values("descriptors", part)) for part in (looks[3:8], looks[15:])]
        # The engine opens some of its own once, such as those of a further thread; a leak would be one for each cycle.
        if descriptors[1] > descriptors[0] + 10:
            raise Failure(f"descriptors are left open: {name} had {values('descriptors', looks)}")
    print(f"      {total} cycles: {', '.join(report)}")
