"""Debian's own Janus demonstration pages, as they are, against a real Janus. Only the file that a site is meant to change, settings.js, is ours."""

import asyncio
import os

from aiohttp import web

from browser import Browser
from kiosk import Kiosk
from servers import Janus
from sites import Site
from synthetic import write_camera

DEMOS = "/usr/share/janus/demos"


class JanusSite:
    """`async with JanusSite(directory) as site`: Janus and the web server with its pages."""

    def __init__(self, directory):
        self.janus = Janus(directory, plugins=("echotest", "videocall", "videoroom"))
        folder = os.path.join(directory, "janus")
        os.makedirs(folder)
        with open(os.path.join(folder, "janus.plugin.videoroom.jcfg"), "w") as file:
            file.write('room-1234: { description = "Room" publishers = 6 bitrate = 512000 fir_freq = 10 }\n')

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


async def start(kiosk, x):
    """Taps Start, once the page has drawn it: it stands `x` pixels from the left."""
    await kiosk.wait("the page", lambda status: status.get("state") in ("ready", "in-call"))
    await asyncio.sleep(1)
    await kiosk.tap(x, 135)


async def echo_test(directory):
    async with JanusSite(directory) as site:
        async with Kiosk(directory, site.origin + "/echotest.html", granted=[site.origin]) as kiosk:
            await start(kiosk, 525)
            await kiosk.video_near(101, 250, 525, "the own picture")
            await kiosk.video_near(686, 250, 525, "the picture that Janus sends back")


async def video_call(directory):
    camera = os.path.join(directory, "camera.y4m")
    write_camera(camera)
    async with JanusSite(directory) as site, Browser(camera) as other:
        async with Kiosk(directory, site.origin + "/videocalltest.html", granted=[site.origin]) as kiosk:
            await other.open(site.origin + "/videocalltest.html")
            await other.until("the page", "jQuery._data(document.querySelector('#start'), 'events')")
            await other.evaluate("document.querySelector('#start').click()")
            await other.until("the form", "document.querySelector('#username').offsetParent")
            await other.evaluate("document.querySelector('#username').value = 'lobby'; registerUsername()")
            await other.until("the registration", "document.querySelector('#peer').offsetParent")
            await start(kiosk, 534)
            await asyncio.sleep(3)
            await kiosk.must("type", "kiosk")
            await kiosk.must("key", "Enter")
            await asyncio.sleep(3)
            await kiosk.must("type", "lobby")
            await kiosk.must("key", "Enter")
            await other.until("the incoming call", "document.querySelector('.modal-footer .btn-success')")
            await other.evaluate("document.querySelector('.modal-footer .btn-success').click()")
            await other.until("the kiosk's picture", "[...document.querySelectorAll('#videoright video')].some(video => video.videoWidth > 0 && !video.paused)")
            await kiosk.wait("the call", lambda status: status.get("state") == "in-call")
            await kiosk.video_near(686, 336, 525, "the other side's picture")


async def video_room(directory):
    camera = os.path.join(directory, "camera.y4m")
    write_camera(camera)
    async with JanusSite(directory) as site, Browser(camera) as other:
        async with Kiosk(directory, site.origin + "/videoroomtest.html", granted=[site.origin]) as kiosk:
            await other.open(site.origin + "/videoroomtest.html")
            await other.until("the page", "jQuery._data(document.querySelector('#start'), 'events')")
            await other.evaluate("document.querySelector('#start').click()")
            await other.until("the form", "document.querySelector('#username').offsetParent")
            await other.evaluate("document.querySelector('#username').value = 'lobby'; registerUsername()")
            await start(kiosk, 570)
            await asyncio.sleep(3)
            await kiosk.must("type", "kiosk")
            await kiosk.must("key", "Enter")
            await other.until(
                "the kiosk's picture", "[...document.querySelectorAll('#videoremote1 video')].some(video => video.videoWidth > 0 && !video.paused)")
            await kiosk.wait("the call", lambda status: status.get("state") == "in-call")
            await kiosk.video_near(491, 298, 330, "a picture of the room")


DEMONSTRATIONS = {"janus echo test": echo_test, "janus video call": video_call, "janus video room": video_room}
