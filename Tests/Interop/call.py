"""One call between two peer programs: starts them, hands each one's lines to the other, and brings back what both say at the end."""

import asyncio
import json
import os
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def program(name):
    """The command line of a peer, by its name."""
    if name == "parlor":
        return [os.environ.get("PARLOR", os.path.join(ROOT, ".build/release/parlor")), "peer"]
    if name == "gstreamer":
        return ["/usr/bin/python3", os.path.join(HERE, "peer_gstreamer.py")]  # its bindings belong to Debian's own Python
    return [sys.executable, os.path.join(HERE, f"peer_{name}.py")]


class CallFailed(Exception):
    """The call did not come about; the text says which peer said what last."""


class Peer:
    """A running peer program."""

    def __init__(self, name, arguments, log):
        self.name, self.arguments, self.log_path = name, arguments, log
        self.other = None
        self.connected, self.finished = asyncio.Event(), asyncio.Event()
        self.result, self.state, self.candidates, self.descriptions = None, "new", [], []
        self.exit = None

    async def start(self):
        self.log = open(self.log_path + ".lines", "wb", buffering=0)
        errors = open(self.log_path + ".log", "wb")
        # A group of its own, so that a browser's children go with it.
        self.process = await asyncio.create_subprocess_exec(
            *program(self.name), *self.arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=errors,
            start_new_session=True, limit=1 << 22)
        errors.close()
        self.reading = asyncio.ensure_future(self.read())

    async def read(self):
        while line := await self.process.stdout.readline():
            self.log.write(line)
            try:
                message = json.loads(line)
            except ValueError:
                raise CallFailed(f"{self.name} wrote a line that is no JSON: {line[:200]!r}") from None
            kind = message.get("type")
            if kind in ("description", "candidate"):
                (self.candidates if kind == "candidate" else self.descriptions).append(message[kind])
                self.other.write(message)
            elif kind == "state":
                self.state = message.get("connection", self.state)
                if self.state == "connected":
                    self.connected.set()
                elif self.state == "failed":
                    self.finished.set()
            elif kind == "result":
                self.result = message
        self.exit = await self.process.wait()
        self.finished.set()

    def write(self, message):
        if not self.process.stdin.is_closing():
            try:
                self.process.stdin.write((json.dumps(message) + "\n").encode())
            except (BrokenPipeError, ConnectionResetError):
                pass

    async def stop(self):
        """Ends the process if it still runs, and whatever it left behind in its group."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (ProcessLookupError, AttributeError):
            pass
        if hasattr(self, "process"):
            await self.process.wait()
            await asyncio.wait([self.reading], timeout=2)
            self.log.close()

    def failure(self):
        with open(self.log_path + ".log", "rb") as file:
            tail = file.read()[-800:].decode(errors="replace").strip()
        said = f"{len(self.descriptions)} descriptions, {len(self.candidates)} candidates"
        return f"{self.name} is {self.state} after {said}, exit {self.exit}" + (f"; its errors end:\n{tail}" if tail else "")


async def call(offerer, answerer, seconds, directory, connect_seconds=20):
    """Both peers as (name, arguments). Returns the two finished peers; raises CallFailed if they do not connect or do not end."""
    first = Peer(offerer[0], ["--offer", *offerer[1]], os.path.join(directory, "offerer"))
    second = Peer(answerer[0], ["--answer", *answerer[1]], os.path.join(directory, "answerer"))
    first.other, second.other = second, first
    try:
        await second.start()
        await first.start()
        ended = [asyncio.ensure_future(peer.finished.wait()) for peer in (first, second)]
        both = asyncio.ensure_future(asyncio.wait_for(asyncio.gather(first.connected.wait(), second.connected.wait()), connect_seconds))
        await asyncio.wait([both, *ended], return_when=asyncio.FIRST_COMPLETED)
        if not both.done() or both.exception():
            both.cancel()
            raise CallFailed("not connected. " + "\n".join(peer.failure() for peer in (first, second)))
        until = time.monotonic() + seconds
        await asyncio.wait(ended, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if any(done.done() for done in ended) and time.monotonic() < until - 1:
            raise CallFailed("a peer ended early. " + "\n".join(peer.failure() for peer in (first, second)))
        for peer in (first, second):
            peer.write({"type": "close"})
        await asyncio.wait(ended, timeout=10, return_when=asyncio.ALL_COMPLETED)
        for peer in (first, second):
            if peer.result is None:
                raise CallFailed("no result. " + peer.failure())
        return first, second
    finally:
        await first.stop()
        await second.stop()
