"""What every peer program here shares with `parlor peer`: the same options, and messages as JSON lines.

out  {"type": "description", "description": {"type": "offer", "sdp": "…"}}
     {"type": "candidate", "candidate": {"candidate": "candidate:…", "sdpMid": "0", "sdpMLineIndex": 0}}, null at the end
     {"type": "state", "connection": "connected"}
     {"type": "result", "connect_ms": …, "data_sent": …, "data_echoed": …, "stats": {…}}, the last line
in   the other peer's descriptions and candidates, and {"type": "close"}
"""

import argparse
import asyncio
import json
import os
import sys

ECHO_SIZES = [0, 1, 2, 1199, 1200, 1201, 16384, 65535, 65536]
"""Bytes per message that the offerer sends, each once as text and once as binary. 64 KiB is what a peer must take unasked (RFC 8841)."""


def echo_message(size, binary):
    """A message of `size` bytes that differs from every other message and in every position."""
    if binary:
        return bytes((size + i * 7) & 0xFF for i in range(size))
    return "".join(chr(33 + (size + i * 11) % 90) for i in range(size))


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    role = parser.add_mutually_exclusive_group()
    role.add_argument("--offer", action="store_true")
    role.add_argument("--answer", action="store_true")
    parser.add_argument("--codec", choices=["vp8", "h264"], default="vp8")
    parser.add_argument("--audio", choices=["opus", "pcmu", "pcma", "none"], default="opus")
    parser.add_argument("--video", choices=["on", "off"], default="on")
    parser.add_argument("--data", choices=["on", "off"], default="on")
    parser.add_argument("--direction", choices=["sendrecv", "sendonly", "recvonly"], default="sendrecv")
    parser.add_argument("--seconds", type=float, default=60, help="ends by itself after so long")
    parser.add_argument("--ice-server", action="append", default=[], help="URL,user,password")
    parser.add_argument("--relay-only", action="store_true")
    parser.add_argument("--camera", help="Y4M file to send")
    parser.add_argument("--microphone", help="WAV file to send")
    parser.add_argument("--record", help="Y4M file for the pictures received")
    parser.add_argument("--record-audio", help="WAV file for the sound received")
    options = parser.parse_args()
    options.sends = options.direction != "recvonly"
    options.receives = options.direction != "sendonly"
    options.ice_servers = []
    for server in options.ice_server:
        url, user, password = (server.split(",") + ["", ""])[:3]
        options.ice_servers.append({"urls": url, "username": user, "credential": password})
    return options


def emit(message):
    # One write per line: the reader takes what it gets line by line.
    os.write(sys.stdout.fileno(), (json.dumps(message) + "\n").encode())


def emit_description(kind, sdp):
    emit({"type": "description", "description": {"type": kind, "sdp": sdp}})


def emit_candidate(candidate, mid=None, line=None):
    emit({"type": "candidate", "candidate": candidate and {"candidate": candidate, "sdpMid": mid, "sdpMLineIndex": line}})


async def messages():
    """The other peer's messages, until it closes the pipe."""
    reader = asyncio.StreamReader(limit=1 << 22)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        yield json.loads(line)
