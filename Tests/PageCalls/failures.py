"""What can go wrong with a call page: each way has its code in `parlor status`, its screen, and its way back once the cause is gone."""

import asyncio
import os
import ssl

import numpy as np
from aiohttp import web

from kiosk import Failure, Kiosk
from servers import free_port, make_certificates
from sites import Site

GOOD = "<!doctype html><title>good</title><body style='margin:0;background:#20c060'><h1>All is well</h1>"


class Patient:
    """A site whose page is ill at first, and well after `heal()`."""

    def __init__(self, illness):
        self.illness, self.is_well, self.asked = illness, False, 0

    def heal(self):
        self.is_well = True

    async def handle(self, request):
        self.asked += 1
        if self.is_well:
            return web.Response(text=GOOD, content_type="text/html")
        return await self.illness(request)

    def routes(self):
        return [web.get("/", self.handle), web.get("/again/{count}", self.handle)]


def page(text):
    async def answer(_):
        return web.Response(text=text, content_type="text/html")
    return answer


def status(code):
    async def answer(_):
        return web.Response(status=code, text=f"<title>{code}</title>", content_type="text/html")
    return answer


async def redirect(request):
    raise web.HTTPFound(f"/again/{int(request.match_info.get('count', 0)) + 1}")


async def silence(_):
    await asyncio.sleep(3600)


async def endless(request):
    response = web.StreamResponse(headers={"Content-Type": "text/html", "Content-Length": str(150 * 1024 * 1024)})
    await response.prepare(request)
    for _ in range(150):
        await response.write(b"<!-- " + b"x" * (1024 * 1024 - 9) + b" -->")
    return response


# Each page draws something first: what it drew must not stay.
HANG = "<!doctype html><title>hang</title><body style='background:#c02020'><script>setTimeout(() => { for (;;); }, 1500)</script>"
GREEDY = """<!doctype html><title>greedy</title><body style='background:#c02020'><script>
const kept = [];
setInterval(() => kept.push(new Uint8Array(64 * 1024 * 1024).fill(kept.length + 1)), 50);
</script>"""

ILLNESSES = {
    "404": (status(404), "page.http"),
    "500": (status(500), "page.http"),
    "redirect loop": (redirect, "page.redirects"),
    "no answer": (silence, "page.timeout"),
    "100 MB": (endless, "page.size"),
    "hang": (page(HANG), "page.hung"),
    "out of memory": (page(GREEDY), "page.memory"),
}


def is_good(picture):
    """Whether the good page's green covers the screen."""
    corner = picture[600:700, 1100:1200].astype(int)
    return bool(np.all(np.abs(corner - [0x20, 0xC0, 0x60]) < 12))


def is_ill(picture):
    """Whether the red of a page that hangs is still there."""
    corner = picture[600:700, 1100:1200].astype(int)
    return bool(np.all(np.abs(corner - [0xC0, 0x20, 0x20]) < 12))


async def follow(kiosk, code, heal):
    found = await kiosk.wait(f"the code {code}", lambda status: status.get("code") == code, 90)
    if not found.get("reason"):
        raise Failure(f"{code} comes without a reason")
    if is_ill(await kiosk.picture()):
        raise Failure(f"{code}: the last frame of the page stays on the screen; see {kiosk.path('screen.png')}")
    os.rename(kiosk.path("screen.png"), kiosk.path("notice.png"))
    heal()
    await recovered(kiosk)


async def recovered(kiosk):
    await kiosk.wait("the page back without a person", lambda status: status.get("state") == "ready" and not status.get("code"), 120)
    for _ in range(50):
        if is_good(await kiosk.picture()):
            return
        await asyncio.sleep(0.2)
    raise Failure(f"the page is said to be back and is not on the screen; see {kiosk.path('screen.png')}")


async def illness(name, directory):
    answer, code = ILLNESSES[name]
    patient = Patient(answer)
    async with Site(None, routes=patient.routes()) as site:
        async with Kiosk(directory, site.origin + "/", granted=[site.origin], deadline=5) as kiosk:
            await follow(kiosk, code, patient.heal)


async def refused(directory):
    """Nobody listens; then somebody does."""
    port = free_port()
    async with Kiosk(directory, f"http://localhost:{port}/", deadline=5) as kiosk:
        await kiosk.wait("the code page.connect", lambda status: status.get("code") == "page.connect", 60)
        application = web.Application()
        application.add_routes([web.get("/", page(GOOD))])
        runner = web.AppRunner(application)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        await recovered(kiosk)
        await runner.cleanup()


async def no_such_name(directory):
    async with Kiosk(directory, "https://kiosk.invalid/", deadline=5) as kiosk:
        await kiosk.wait("the code page.dns", lambda status: status.get("code") == "page.dns", 60)


async def bad_certificate(directory):
    """A certificate that nobody vouches for is refused; with its authority configured the same page loads."""
    make_certificates(directory)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(directory, "server.pem"), os.path.join(directory, "server.key"))
    async with Site(None, routes=[web.get("/", page(GOOD))], tls=context) as site:
        async with Kiosk(directory, site.origin + "/", deadline=5) as kiosk:
            await kiosk.wait("the code page.tls", lambda status: status.get("code") == "page.tls", 60)
        async with Kiosk(directory, site.origin + "/", authorities=[os.path.join(directory, "ca.pem")], deadline=5) as kiosk:
            await recovered(kiosk)


async def killed(directory):
    """The web process dies under a page that is well: the page is loaded again."""
    async with Site(None, routes=[web.get("/", page(GOOD))]) as site:
        async with Kiosk(directory, site.origin + "/") as kiosk:
            await recovered(kiosk)
            before = (await kiosk.status())["page"]["restarts"]
            for process in await web_processes(kiosk.process.pid):
                os.kill(process, 9)
            await kiosk.wait("a restart of the page", lambda status: status["page"]["restarts"] > before, 60)
            await recovered(kiosk)


async def web_processes(root):
    """The web processes below a process."""
    parents, names = {}, {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    text = file.read()
            except OSError:
                continue
            names[int(entry)] = text[text.index("(") + 1:text.rindex(")")]
            parents[int(entry)] = int(text[text.rindex(")") + 2:].split()[1])

    def is_below(process):
        while process in parents:
            process = parents[process]
            if process == root:
                return True
        return False
    found = [process for process, name in names.items() if name.startswith("WebKitWebProc") and is_below(process)]
    if not found:
        raise Failure("no web process runs below parlor")
    return found


FAILURES = {f"failure {name}": lambda directory, name=name: illness(name, directory) for name in ILLNESSES} | {
    "failure nobody listens": refused,
    "failure no such name": no_such_name,
    "failure bad certificate": bad_certificate,
    "failure web process killed": killed,
}
