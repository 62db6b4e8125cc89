"""Web servers for the pages under test, on loopback."""

import os

from aiohttp import web


class Site:
    """`async with Site(folder, {prefix: folder}) as site`: files over HTTP at `site.origin`; more handlers through `routes`."""

    def __init__(self, folder, mounts=None, routes=(), tls=None):
        self.folder, self.mounts, self.routes, self.tls = folder, mounts or {}, routes, tls

    async def __aenter__(self):
        application = web.Application()
        application.add_routes(self.routes)
        for prefix, folder in self.mounts.items():
            application.router.add_static(prefix, folder, follow_symlinks=True)
        if self.folder:
            application.router.add_static("/", os.path.abspath(self.folder), follow_symlinks=True)
        self.runner = web.AppRunner(application, shutdown_timeout=1)
        await self.runner.setup()
        site = web.TCPSite(self.runner, "127.0.0.1", 0, ssl_context=self.tls)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]
        self.origin = f"{'https' if self.tls else 'http'}://localhost:{self.port}"
        return self

    async def __aexit__(self, *_):
        await self.runner.cleanup()
