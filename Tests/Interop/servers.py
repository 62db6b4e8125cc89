"""Servers that the calls need: coturn with a certificate of our own authority, and Janus. Each on loopback, on ports that are free."""

import asyncio
import os
import signal
import socket
import subprocess

from peers import Failure


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def make_certificates(directory):
    """A certificate authority, and a certificate of it for localhost and 127.0.0.1: ca.pem, server.pem, server.key."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "30", "-subj", "/CN=Parlor test authority")
    openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
    with open(os.path.join(directory, "server.ext"), "w") as file:
        file.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "server.pem", "-days", "30",
            "-extfile", "server.ext")


class Server:
    """A server program that runs inside `async with`, from its first accepted connection on."""

    async def launch(self, command, port, log):
        self.log = log
        with open(log, "wb") as output:
            self.process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
        for _ in range(200):
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return
            except OSError:
                if self.process.returncode is not None:
                    break
                await asyncio.sleep(0.05)
        with open(log, errors="replace") as file:
            text = file.read()[-1500:]
        await self.__aexit__()
        raise Failure(f"{command[0]} does not listen; its log ends:\n{text}")

    async def __aexit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        await self.process.wait()


class TurnServer(Server):
    """coturn with one user, reached as `url("udp")`, `url("tcp")` or `url("tls")`."""

    user, password = "kiosk", "secret"

    def __init__(self, directory):
        self.directory = directory

    async def __aenter__(self):
        self.port, self.tls_port = free_port(), free_port()
        await self.launch([
            "turnserver", "-n", "-v", "--no-cli", "--listening-ip=127.0.0.1", "--relay-ip=127.0.0.1", "--allow-loopback-peers",
            f"--listening-port={self.port}", f"--tls-listening-port={self.tls_port}", f"--cert={self.directory}/server.pem",
            f"--pkey={self.directory}/server.key", "--lt-cred-mech", f"--user={self.user}:{self.password}", "--realm=parlor.test", "--no-dtls",
            f"--pidfile={self.directory}/turn.pid", "--log-file=stdout", "--simple-log", f"--userdb={self.directory}/turn.db",
        ], self.port, os.path.join(self.directory, "turn.log"))
        return self

    def url(self, transport):
        if transport == "tls":
            return f"turns:localhost:{self.tls_port}?transport=tcp"
        return f"turn:127.0.0.1:{self.port}?transport={transport}"

    def option(self, transport):
        return ["--ice-server", f"{self.url(transport)},{self.user},{self.password}", "--relay-only"]

    def allocations(self):
        """How many relayed addresses were given out, by the server's own account."""
        with open(self.log, errors="replace") as file:
            return file.read().count("ALLOCATE processed, success")


class Janus(Server):
    """Janus with some of its plugins, the echo test alone if none are named; `url` is its HTTP interface."""

    library = "/usr/lib/x86_64-linux-gnu/janus"

    def __init__(self, directory, plugins=("echotest",)):
        self.directory, self.plugins = directory, plugins

    async def __aenter__(self):
        port = free_port()
        folder = os.path.join(self.directory, "janus")
        modules = {"plugins": [f"libjanus_{name}.so" for name in self.plugins], "transports": ["libjanus_http.so"], "events": [], "loggers": []}
        for part, names in modules.items():
            os.makedirs(f"{folder}/{part}", exist_ok=True)
            for module in names:
                if not os.path.lexists(f"{folder}/{part}/{module}"):
                    os.symlink(f"{self.library}/{part}/{module}", f"{folder}/{part}/{module}")
        with open(f"{folder}/janus.jcfg", "w") as file:
            file.write(f'general: {{ configs_folder = "{folder}" plugins_folder = "{folder}/plugins" transports_folder = "{folder}/transports"\n')
            file.write(f'  events_folder = "{folder}/events" loggers_folder = "{folder}/loggers" debug_level = 4 }}\n')
            file.write('nat: { ice_ignore_list = "vmnet" }\n')
        with open(f"{folder}/janus.transport.http.jcfg", "w") as file:
            file.write(f'general: {{ json = "compact" base_path = "/janus" http = true port = {port} ip = "127.0.0.1" https = false }}\n')
        self.url = f"http://127.0.0.1:{port}/janus"
        await self.launch(["janus", "-F", folder, "-o"], port, os.path.join(self.directory, "janus.log"))
        return self
