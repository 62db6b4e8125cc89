"""Debian's own Janus demonstration pages, as they are, against a real Janus. Only the file that a site is meant to change, settings.js, is ours."""

from aiohttp import web

from servers import Janus
from sites import Site

DEMOS = "/usr/share/janus/demos"


class JanusSite:
    """`async with JanusSite(directory) as site`: Janus and the web server with its pages."""

    def __init__(self, directory):
        self.janus = Janus(directory, plugins=("echotest", "videocall", "videoroom"))

    async def __aenter__(self):
        await self.janus.__aenter__()
        text = f'var server = "{self.janus.url}";\nvar iceServers = null;\nvar token = "", apisecret = "";\n'
        settings = web.get("/settings.js", lambda _: web.Response(text=text, content_type="text/javascript"))
        self.site = Site(DEMOS, routes=[settings])
        await self.site.__aenter__()
        self.origin = self.site.origin
        return self

    async def __aexit__(self, *arguments):
        await self.site.__aexit__(*arguments)
        await self.janus.__aexit__(*arguments)
