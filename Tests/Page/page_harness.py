"""A page host under test: a stand-in for `parlor run` at the other end of the bridge, a compositor, and a web server on loopback."""

import http.server
import json
import os
import queue
import signal
import socket
import socketserver
import struct
import subprocess
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONTROL, CALL, CALL_ANSWER = 0, 5, 6


class Connection:
    """One end of the bridge that has connected: the host or a web process's extension."""

    def __init__(self, bridge, sock):
        self.bridge, self.sock = bridge, sock

    def send(self, message, document=0, kind=CONTROL, target=0):
        payload = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.sock.sendall(struct.pack("!IBII", 9 + len(payload), kind, document, target) + payload)

    def read(self):
        try:
            while True:
                length, kind, document, target = struct.unpack("!IBII", self.exactly(13))
                self.bridge.arrived(self, kind, document, target, self.exactly(length - 9))
        except (EOFError, OSError):
            self.bridge.put({"type": "closed", "connection": self})

    def exactly(self, count):
        data = b""
        while len(data) < count:
            piece = self.sock.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data


class Bridge:
    """Listens on bridge.sock. What arrives is kept as dictionaries in `log`, in order, and can be waited for."""

    def __init__(self, folder, settings):
        self.settings, self.host, self.log = settings, None, []
        self.condition = threading.Condition()
        self.position = 0
        self.calls = lambda message: struct.pack("!II", 0, 0)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(f"{folder}/bridge.sock")
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=Connection(self, sock).read, daemon=True).start()

    def put(self, entry):
        with self.condition:
            self.log.append(entry)
            self.condition.notify_all()

    def arrived(self, connection, kind, document, target, payload):
        if kind == CONTROL:
            message = json.loads(payload)
            if message["type"] == "host.hello":
                self.host = connection
                connection.send({"type": "page.settings", **self.settings})
            self.put({**message, "sender": document, "connection": connection})
        elif kind == CALL:
            connection.send(self.calls(json.loads(payload)), document, CALL_ANSWER)
        else:
            self.put({"type": "frame", "kind": kind, "sender": document, "target": target, "payload": payload, "connection": connection})

    def wait(self, type, timeout=60, **members):
        """The next entry of that type (and with those members) that was not waited for before; entries before it are passed over."""
        end = time.monotonic() + timeout
        with self.condition:
            while True:
                while self.position < len(self.log):
                    entry = self.log[self.position]
                    self.position += 1
                    if entry["type"] == type and all(entry.get(name) == value for name, value in members.items()):
                        return entry
                if not self.condition.wait(end - time.monotonic()) and time.monotonic() > end:
                    raise TimeoutError(f"no {type} {members}; came: {[summary(entry) for entry in self.log]}")

    def seen(self, type):
        """All entries of that type so far."""
        with self.condition:
            return [entry for entry in self.log if entry["type"] == type]


def summary(entry):
    return {name: value for name, value in entry.items() if name not in ("connection", "payload")}


class WebServer:
    """Serves `pages` (path to body, or to a function of the request handler) and collects what pages post to /result."""

    def __init__(self, pages, address="127.0.0.1", tls=None):
        self.results, self.requests = queue.Queue(), []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                outer.requests.append((self.path, dict(self.headers)))
                page = pages.get(self.path.split("?")[0])
                if page is None:
                    self.reply(404, b"nothing here")
                elif callable(page):
                    page(self)
                else:
                    self.reply(200, page.encode() if isinstance(page, str) else page)

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.results.put(json.loads(body))
                self.reply(204, b"")

            def reply(self, status, body, type="text/html; charset=utf-8", **headers):
                self.send_response(status)
                self.send_header("Content-Type", type)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Access-Control-Allow-Origin", "*")
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True

            def handle_error(self, *arguments):
                pass

        self.server = Server((address, 0), Handler)
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_port
        self.origin = f"{'https' if tls else 'http'}://localhost:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def result(self, timeout=60):
        return self.results.get(timeout=timeout)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class PageTrial:
    """parlor-page on a compositor of its own. Use it as a context."""

    def __init__(self, url, size=(1280, 720), build=ROOT / ".build/debug", log_level="info", compositor=None, **settings):
        self.size, self.build, self.log_level, self.compositor = size, build, log_level, compositor
        self.folder = tempfile.mkdtemp(prefix="parlor-page-")
        os.chmod(self.folder, 0o700)
        defaults = {
            "allowedOrigins": [], "loadDeadline": 30, "certificateFiles": [], "pins": [], "dialogTimeout": 30,
        }
        self.bridge = Bridge(self.folder, {"url": url, **defaults, **settings})
        self.processes = []

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        environment = {**os.environ, "XDG_RUNTIME_DIR": self.folder}
        width, height = self.size
        command = self.compositor or [
            "weston", "--backend=headless-backend.so", f"--width={width}", f"--height={height}", "--socket=wayland-0", "--idle-time=0", "--no-config",
        ]
        self.spawn(command, "compositor.log", environment)
        self.until(lambda: os.path.exists(f"{self.folder}/wayland-0"), "the compositor's socket")
        self.picture = f"{self.folder}/picture.png"
        self.host = self.spawn(
            [self.build / "parlor-page", "--runtime", self.folder, "--picture", self.picture, "--log-level", self.log_level], "page.log", os.environ
        )

    def spawn(self, command, log, environment):
        with open(f"{self.folder}/{log}", "wb") as output:
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def until(self, condition, what, timeout=60):
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"{what} did not come; {self.output()}")
            time.sleep(0.02)

    def screenshot(self, path=None):
        """The page's picture as the path of a PNG file, with its transparency."""
        if os.path.exists(self.picture):
            os.unlink(self.picture)
        self.host.send_signal(signal.SIGUSR2)
        self.until(lambda: os.path.exists(self.picture), "a picture")
        if path:
            os.replace(self.picture, path)
        return path or self.picture

    def web_process(self):
        """The identifier of the page's web process."""
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                if Path(f"/proc/{name}/comm").read_text().startswith("WebKitWebProce") and self.is_ours(int(name)):
                    return int(name)
            except OSError:
                continue
        return None

    def is_ours(self, process):
        while process > 1:
            if process == self.host.pid:
                return True
            process = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
        return False

    def output(self):
        try:
            return Path(f"{self.folder}/page.log").read_text(errors="replace")
        except OSError:
            return ""

    def __exit__(self, *_):
        self.bridge.listener.close()
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        subprocess.run(["rm", "-rf", self.folder])
