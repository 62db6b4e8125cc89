"""Chromium as a peer that takes the options and speaks the lines of `parlor peer`."""

import asyncio
import os
import sys

import numpy as np

import lines
import synthetic
from chromium import Chromium


async def from_page(browser, options):
    """Keeps what the page received, passes on what it says, and returns after its result."""
    video, sound = synthetic.Recorder(options.record), synthetic.SoundRecorder(options.record_audio)
    try:
        while True:
            message = await browser.receive()
            if isinstance(message, bytes):
                if message[0] == 1:
                    width, height = int.from_bytes(message[1:3], "big"), int.from_bytes(message[3:5], "big")
                    video.add(np.frombuffer(message, np.uint8, width * height, 5).reshape(height, width))
                else:
                    sound.add(np.frombuffer(message, "<i2", -1, 6), int.from_bytes(message[2:6], "big"))
                continue
            lines.emit(message)
            if message["type"] == "result":
                return
    finally:
        video.close()
        sound.close()


async def to_page(browser):
    async for message in lines.messages():
        await browser.send(message)
        if message["type"] == "close":
            return


async def main():
    options = lines.arguments(__doc__)
    hidden = os.environ.get("PARLOR_HIDE_ADDRESSES") == "1"
    camera = options.camera if options.sends and options.video == "on" else None
    async with Chromium("peer.html", camera, options.microphone, hide_addresses=hidden) as browser:
        await browser.send({"type": "options", "options": vars(options) | {"echo_sizes": lines.ECHO_SIZES}})
        incoming = asyncio.ensure_future(from_page(browser, options))
        outgoing = asyncio.ensure_future(to_page(browser))
        done, _ = await asyncio.wait([incoming, outgoing], timeout=options.seconds, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            await browser.send({"type": "close"})
        await asyncio.wait_for(incoming, 10)
        outgoing.cancel()


try:
    asyncio.run(main())
except (RuntimeError, asyncio.TimeoutError) as problem:
    sys.exit(f"peer_chromium: {problem}")
