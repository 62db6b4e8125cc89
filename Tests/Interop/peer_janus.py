"""The echo test of Janus as a peer that answers, with the options and lines of `parlor peer`. Its address: JANUS_URL."""

import asyncio
import os
import time
import uuid

import aiohttp

import lines


class Janus:
    """One session with the echo test, over Janus's HTTP interface."""

    def __init__(self, http, url):
        self.http, self.url, self.path = http, url, ""

    async def post(self, **request):
        async with self.http.post(self.url + self.path, json={**request, "transaction": uuid.uuid4().hex}) as response:
            reply = await response.json()
        if reply["janus"] == "error":
            raise SystemExit(f"peer_janus: {reply['error']}")
        return reply

    async def attach(self):
        self.session = f"/{(await self.post(janus='create'))['data']['id']}"
        self.path = self.session
        self.path += f"/{(await self.post(janus='attach', plugin='janus.plugin.echotest'))['data']['id']}"

    async def events(self):
        while True:
            async with self.http.get(self.url + self.session, params={"maxev": 1}) as response:
                yield await response.json()


async def watch(janus, started, result):
    """Passes on what Janus says by itself: the answer, and the state of the connection."""
    async for event in janus.events():
        if answer := event.get("jsep"):
            lines.emit_description(answer["type"], answer["sdp"])
        match event["janus"]:
            case "webrtcup":
                result["connect_ms"] = round((time.monotonic() - started[0]) * 1000, 1)
                lines.emit({"type": "state", "connection": "connected"})
            case "hangup":
                lines.emit({"type": "state", "connection": "closed"})
                lines.emit({"type": "event", "event": event})
            case "event" if "error" in event.get("plugindata", {}).get("data", {}):
                raise SystemExit(f"peer_janus: {event['plugindata']['data']}")


async def main():
    options = lines.arguments(__doc__)
    result, started = {"type": "result", "connect_ms": None, "frames_shown": 0, "data_sent": 0, "data_echoed": 0}, [time.monotonic()]
    async with aiohttp.ClientSession() as http:
        janus = Janus(http, os.environ["JANUS_URL"])
        await janus.attach()
        watching = asyncio.ensure_future(watch(janus, started, result))
        async for message in lines.messages():
            if message["type"] == "close":
                break
            if message["type"] == "description":
                started[0] = time.monotonic()
                body = {"audio": options.audio != "none", "video": options.video == "on", "data": options.data == "on"}
                body |= {"audiocodec": options.audio} if body["audio"] else {}
                body |= {"videocodec": options.codec} if body["video"] else {}
                await janus.post(janus="message", body=body, jsep=message["description"])
            elif message["candidate"] and message["candidate"]["candidate"]:
                await janus.post(janus="trickle", candidate=message["candidate"])
            else:
                await janus.post(janus="trickle", candidate={"completed": True})
        watching.cancel()
        janus.path = janus.session
        await janus.post(janus="destroy")
    lines.emit(result)


asyncio.run(main())
