"""A call from the guest: `parlor run` in it, and outside, on this machine, whom it calls. So the guest codes and decodes its own side alone."""

import asyncio
import concurrent.futures
import os
import sys
import tempfile
import threading

from machine import ROOT
from screens import Failure

sys.path.insert(0, os.path.join(ROOT, "Tests/Interop"))
from endpoint import Endpoint  # noqa: E402

# Where the guest sees this machine's loopback.
OUTSIDE = "10.0.2.2"


class OtherSide:
    """`with OtherSide() as other:` a WHIP and WHEP endpoint with `parlor peer` behind it. `whip` and `whep` are its addresses as the guest sees them."""

    def __init__(self, size="640x360", rate=10):
        self.arguments = ["--data", "off", "--codec", "vp8", "--seconds", "36000", "--size", size, "--rate", str(rate)]
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="parlor-call-")
        self.thread.start()
        self.endpoint = Endpoint("parlor", self.folder.name, self.arguments, self.arguments)
        self.run(self.endpoint.__aenter__())
        port = self.endpoint.url.rsplit(":", 1)[1]
        self.whip, self.whep = (f"http://{OUTSIDE}:{port}/{kind}" for kind in ("whip", "whep"))
        self.token = self.endpoint.token
        return self

    def __exit__(self, *_):
        self.run(self.endpoint.__aexit__())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.folder.cleanup()

    def run(self, work, seconds=60):
        try:
            return asyncio.run_coroutine_threadsafe(work, self.loop).result(seconds)
        except concurrent.futures.TimeoutError:
            raise Failure("the other side of the call does not answer") from None

    def sessions(self, kind="whip"):
        """The peers so far that got what the guest sends (`whip`), or send what it gets (`whep`)."""
        return [session for session in self.endpoint.sessions if session.kind == kind]

    def result(self, kind="whip"):
        """Ends the last of these calls from outside; what the peer counted."""
        session = self.sessions(kind)[-1]
        self.run(session.close())
        return session.result
