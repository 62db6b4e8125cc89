"""Peer programs as child processes: parlor itself and those beside this file. All take the same options and speak the same lines."""

import asyncio
import json
import os
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def parlor():
    return os.environ.get("PARLOR", os.path.join(ROOT, ".build/release/parlor"))


def program(name):
    """The command line of a peer, by its name."""
    if name == "parlor":
        return [parlor(), "peer"]
    if name == "gstreamer":
        return ["/usr/bin/python3", os.path.join(HERE, "peer_gstreamer.py")]  # its bindings belong to Debian's own Python
    return [sys.executable, os.path.join(HERE, f"peer_{name}.py")]


class Failure(Exception):
    """Something a user would have noticed; the text says what, and which program said what last."""


class Peer:
    """A running peer program. `on_message` gets its descriptions and candidates."""

    def __init__(self, name, arguments, log, on_message):
        self.name, self.arguments, self.log, self.on_message = name, arguments, log, on_message
        self.connected, self.finished = asyncio.Event(), asyncio.Event()
        self.result, self.state, self.candidates, self.descriptions = None, "new", [], []
        self.process, self.exit, self.complaint = None, None, ""

    async def start(self):
        with open(self.log + ".log", "wb") as errors:
            # A group of its own, so that a browser goes with it.
            self.process = await asyncio.create_subprocess_exec(
                *program(self.name), *self.arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=errors,
                start_new_session=True, limit=1 << 22)
        self.reading = asyncio.ensure_future(self.read())

    async def read(self):
        with open(self.log + ".lines", "wb", buffering=0) as log:
            try:
                while line := await self.process.stdout.readline():
                    log.write(line)
                    self.handle(json.loads(line))
            except ValueError as problem:
                self.complaint = f"; wrote what is no JSON line: {problem}"
        self.exit = await self.process.wait()
        self.finished.set()

    def handle(self, message):
        kind = message.get("type")
        if kind in ("description", "candidate"):
            (self.candidates if kind == "candidate" else self.descriptions).append(message[kind])
            self.on_message(message)
        elif kind == "state":
            self.state = message.get("connection", self.state)
            if self.state == "connected":
                self.connected.set()
            elif self.state == "failed":
                self.finished.set()
        elif kind == "result":
            self.result = message

    def write(self, message):
        try:
            self.process.stdin.write((json.dumps(message) + "\n").encode())
        except (BrokenPipeError, ConnectionResetError, RuntimeError):
            pass  # it has ended; its exit tells

    async def close(self):
        """Asks for the result, and waits for it."""
        self.write({"type": "close"})
        try:
            await asyncio.wait_for(self.finished.wait(), 10)
        except asyncio.TimeoutError:
            pass
        if self.result is None:
            raise Failure("no result: " + self.describe())

    async def stop(self):
        """Ends the process if it still runs, and whatever it left behind in its group."""
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        await self.process.wait()
        await asyncio.wait([self.reading], timeout=2)

    def describe(self):
        with open(self.log + ".log", "rb") as file:
            tail = file.read()[-1000:].decode(errors="replace").strip()
        said = f"{len(self.descriptions)} descriptions and {len(self.candidates)} candidates"
        return f"{self.name} is {self.state} after {said}, exit {self.exit}{self.complaint}" + (f"; its errors end:\n{tail}" if tail else "")


async def call(offerer, answerer, seconds, directory, connect_seconds=20):
    """One call: each one's lines go to the other. Both as (name, arguments). Returns the two finished peers, or raises `Failure`."""
    first = Peer(offerer[0], ["--offer", *offerer[1]], os.path.join(directory, "offerer"), lambda message: second.write(message))
    second = Peer(answerer[0], ["--answer", *answerer[1]], os.path.join(directory, "answerer"), lambda message: first.write(message))
    peers = (first, second)
    try:
        await second.start()
        await first.start()
        until = time.monotonic() + connect_seconds
        while not all(peer.connected.is_set() for peer in peers):
            if time.monotonic() > until or any(peer.finished.is_set() for peer in peers):
                raise Failure("not connected: " + "\n".join(peer.describe() for peer in peers))
            await asyncio.sleep(0.02)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for peer in peers:
                if peer.finished.is_set():
                    raise Failure("ended early: " + peer.describe())
            await asyncio.sleep(0.05)
        await asyncio.gather(*(peer.close() for peer in peers))
        return peers
    finally:
        await asyncio.gather(*(peer.stop() for peer in peers))
