"""Servers of this machine that a box under test reaches as 10.0.2.2: for time, for calls over TLS, for logs."""

import http.server
import os
import socket
import ssl
import struct
import threading
import time

from machine import command

HOST = "10.0.2.2"


class Authority:
    """A site's own certificate authority in a folder, and a server's certificate of it."""

    def __init__(self, folder):
        self.file = os.path.join(folder, "site-ca.pem")
        key, request, self.certificate, self.key = (os.path.join(folder, name) for name in ("ca.key", "server.csr", "server.pem", "server.key"))
        command("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=a site's authority", "-keyout", key, "-out", self.file)
        command("openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=calls", "-keyout", self.key, "-out", request)
        extensions = os.path.join(folder, "extensions")
        with open(extensions, "w") as file:
            file.write(f"subjectAltName=IP:{HOST}\n")
        command("openssl", "x509", "-req", "-in", request, "-CA", self.file, "-CAkey", key, "-CAcreateserial", "-days", "30", "-extfile", extensions, "-out", self.certificate)

    def context(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        return context


class Server:
    """Something with a thread of its own, for as long as the `with` lasts."""

    def __enter__(self):
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.close()


class Calls(Server):
    """A call server that knows no call: it answers every request with 404, and counts them."""

    def __init__(self, tls=None):
        calls = self
        self.requests = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                calls.requests += 1
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self.send_response(404)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if tls:
            # The handshake belongs to the connection's own thread: one that fails is no end of the server.
            self.server.handle_error = lambda *_: None
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"{'https' if tls else 'http'}://{HOST}:{self.server.server_port}/whip"
        self.serve, self.close = self.server.serve_forever, self.server.shutdown


class Time(Server):
    """A time server (RFC 5905) with the time of this machine."""

    EPOCH = 2208988800

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 123))
        self.close = self.socket.close

    @classmethod
    def stamp(cls, seconds):
        return struct.pack("!II", int(seconds) + cls.EPOCH, int(seconds % 1 * (1 << 32)))

    def serve(self):
        try:
            while True:
                data, address = self.socket.recvfrom(1024)
                now = self.stamp(time.time())
                # No leap second, version 4, a server; stratum 2, precision of a microsecond, small delays to a root.
                head = struct.pack("!BBbbII4s", 0x24, 2, 6, -20, 1 << 8, 1 << 8, b"\x7f\x7f\x01\x01")
                self.socket.sendto(head + now + data[40:48] + now + now, address)
        except OSError:
            pass


class Lines(Server):
    """Keeps what comes, as syslog by UDP."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.lines, self.close = [], self.socket.close

    def serve(self):
        try:
            while True:
                self.lines.append(self.socket.recv(65536).decode(errors="replace"))
        except OSError:
            pass


class Journals(Server):
    """Keeps what systemd-journal-upload brings: entries of the journal's export format."""

    def __init__(self):
        journals = self
        self.text = ""

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                # One request that does not end, in chunks.
                while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
                    journals.text += self.rfile.read(size).decode(errors="replace")
                    self.rfile.readline()
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://{HOST}:{self.server.server_port}"
        self.serve, self.close = self.server.serve_forever, self.server.shutdown
