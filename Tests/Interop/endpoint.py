"""A WHIP (RFC 9725) and WHEP endpoint on loopback: an HTTP front to any of the peer programs here, one process for each session.

`/whip` and `/whep` take an offer; `/moved/…` redirects there; `/status/N` answers with that status. Every request is kept for the tests to read.
"""

import asyncio
import os
import re
import ssl
from dataclasses import dataclass, field

from aiohttp import web

from peers import Failure, Peer


@dataclass
class Request:
    """One request as it came, and the status it was answered with."""

    method: str
    path: str
    status: int
    headers: dict = field(repr=False)


class Endpoint:
    """`async with Endpoint("aiortc", …) as endpoint`: listens until the end; `sessions` are the peers, in the order of their offers."""

    def __init__(self, peer, directory, whip_arguments=(), whep_arguments=(), token="s3cret", certificate=None, ice_servers=()):
        self.peer, self.directory, self.token, self.certificate = peer, directory, token, certificate
        self.arguments = {"whip": ["--direction", "recvonly", *whip_arguments], "whep": ["--direction", "sendonly", *whep_arguments]}
        self.ice_servers = ice_servers
        self.requests, self.sessions = [], []

    async def __aenter__(self):
        application = web.Application(middlewares=[self.keep])
        application.router.add_post("/{kind:whip|whep}", self.post)
        application.router.add_route("*", "/moved/{kind:whip|whep}", self.moved)
        application.router.add_route("*", "/status/{status:[0-9]+}", lambda request: web.Response(status=int(request.match_info["status"])))
        application.router.add_patch("/session/{index:[0-9]+}", self.patch)
        application.router.add_delete("/session/{index:[0-9]+}", self.delete)
        self.runner = web.AppRunner(application)
        await self.runner.setup()
        context = None
        if self.certificate:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(os.path.join(self.certificate, "server.pem"), os.path.join(self.certificate, "server.key"))
        site = web.TCPSite(self.runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        scheme, host = ("https", "localhost") if self.certificate else ("http", "127.0.0.1")
        self.url = f"{scheme}://{host}:{site._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_):
        await asyncio.gather(*(session.stop() for session in self.sessions))
        await self.runner.cleanup()

    @web.middleware
    async def keep(self, request, handler):
        try:
            response = await handler(request)
        except web.HTTPException as problem:
            response = problem
        except Failure as problem:
            response = web.Response(status=500, text=str(problem))
        self.requests.append(Request(request.method, request.path, response.status, dict(request.headers)))
        return response

    def authorize(self, request):
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            raise web.HTTPUnauthorized(headers={"WWW-Authenticate": "Bearer"})

    async def moved(self, request):
        return web.Response(status=307, headers={"Location": f"/{request.match_info['kind']}"})

    async def post(self, request):
        self.authorize(request)
        if request.content_type != "application/sdp":
            return web.Response(status=415)
        index, kind = len(self.sessions), request.match_info["kind"]
        log = os.path.join(self.directory, f"session-{index}")
        described = asyncio.Event()

        def heard(message):
            # The answer is whole with the end of its candidates: the client cannot be sent any later.
            if message["type"] == "candidate" and not message["candidate"]:
                described.set()

        session = Peer(self.peer, ["--answer", *self.arguments[kind]], log, heard)
        session.kind = kind
        self.sessions.append(session)
        await session.start()
        session.write({"type": "description", "description": {"type": "offer", "sdp": await request.text()}})
        try:
            await asyncio.wait_for(described.wait(), 15)
        except asyncio.TimeoutError:
            raise Failure("no answer: " + session.describe()) from None
        headers = {"Location": f"/session/{index}", "ETag": f'"{index}"', "Accept-Patch": "application/trickle-ice-sdpfrag"}
        response = web.Response(status=201, text=with_candidates(session), content_type="application/sdp", headers=headers)
        for url, user, password in self.ice_servers:
            response.headers.add("Link", f'<{url}>; rel="ice-server"; username="{user}"; credential="{password}"; credential-type="password"')
        return response

    def session(self, request):
        self.authorize(request)
        index = int(request.match_info["index"])
        if index >= len(self.sessions):
            raise web.HTTPNotFound()
        return self.sessions[index]

    async def patch(self, request):
        session = self.session(request)
        if request.content_type != "application/trickle-ice-sdpfrag":
            return web.Response(status=415)
        mid = "0"
        for line in (await request.text()).splitlines():
            if line.startswith("a=mid:"):
                mid = line[6:]
            elif line.startswith("a=candidate:"):
                session.write({"type": "candidate", "candidate": {"candidate": line[2:], "sdpMid": mid, "sdpMLineIndex": 0}})
            elif line.startswith("a=end-of-candidates"):
                session.write({"type": "candidate", "candidate": None})
        return web.Response(status=204)

    async def delete(self, request):
        session = self.session(request)
        await session.close()
        return web.Response(status=200)


def with_candidates(session):
    """The peer's answer with all its candidates in its first media section (the others are bundled into it)."""
    sdp = session.descriptions[-1]["sdp"]
    trickled = [c["candidate"] for c in session.candidates if c and c["candidate"] and "a=" + c["candidate"] not in sdp]
    if not trickled:
        return sdp
    sections = re.split(r"(?=^m=)", sdp, flags=re.M)
    sections[1] += "".join(f"a={candidate}\r\n" for candidate in trickled) + "a=end-of-candidates\r\n"
    return "".join(sections)
