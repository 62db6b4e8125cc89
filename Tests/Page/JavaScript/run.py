#!/usr/bin/python3
"""Runs the page's JavaScript in the real engine, with a stand-in for the box, and the checks in *.check.js on it.

Usage: run.py [NAME…]. Needs weston, python3-gi and WebKitGTK 6.0. The last line says "page-script: N passed, N failed".
"""

import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
SCRIPTS = HERE.parents[2] / "Sources/Page/JavaScript"
ADAPTER = pathlib.Path("/usr/share/javascript/webrtc-adapter/adapter.js")
# Ends a hang; nothing is judged by time.
LIMIT_SECONDS = 120


def interfaces() -> str:
    names = (SCRIPTS / "files.txt").read_text().split()
    body = "\n".join((SCRIPTS / name).read_text() for name in names)
    return '(function (native) { "use strict";\n' + body + "\n})"


def user_agent() -> str:
    """What the page host says it is by default: adapter.js chooses by it."""
    return re.search(r'"(Mozilla/5\.0 [^"]+)"', (SCRIPTS.parent / "PageHost/Engine.swift").read_text())[1]


class Page(http.server.BaseHTTPRequestHandler):
    """Serves an empty page: the engine grants what needs a secure context to pages of localhost."""

    def do_GET(self):
        is_adapter = self.path == "/adapter.js"
        body = ADAPTER.read_bytes() if is_adapter else b"<!doctype html><title>Checks</title><body></body>"
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if is_adapter else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def start_display(folder: str) -> subprocess.Popen:
    environment = {**os.environ, "XDG_RUNTIME_DIR": folder}
    weston = subprocess.Popen(
        ["weston", "--backend=headless-backend.so", "--socket=wayland-checks", "--idle-time=0"],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not os.path.exists(f"{folder}/wayland-checks"):
        if weston.poll() is not None:
            sys.exit("weston did not start")
        time.sleep(0.05)
    os.environ.update(
        XDG_RUNTIME_DIR=folder, WAYLAND_DISPLAY="wayland-checks", GDK_BACKEND="wayland", GSK_RENDERER="cairo",
        GTK_A11Y="none", LIBGL_ALWAYS_SOFTWARE="1")
    return weston


def run(check: pathlib.Path, port: int) -> list:
    from gi.repository import GLib, Gtk, WebKit

    loop = GLib.MainLoop()
    results = []

    def finished(manager, value):
        results.extend(json.loads(value.to_string()))
        loop.quit()

    def ended(reason):
        results.append({"name": check.stem, "error": reason})
        loop.quit()

    manager = WebKit.UserContentManager()
    manager.register_script_message_handler("results", None)
    manager.connect("script-message-received::results", finished)
    parts = [(HERE / "fakeBox.js").read_text(), f"({interfaces()})(box.native);", (HERE / "harness.js").read_text()]
    guarded = "\n".join(parts) + "\nconst steps = async () => {\n" + check.read_text() + "\nawait finish();\n};\n"
    guarded += """addEventListener("load", () => steps().catch((error) => {
      window.webkit.messageHandlers.results.postMessage(JSON.stringify([{name: "page", error: `${error} ${error.stack}`}]));
    }));"""
    manager.add_script(WebKit.UserScript.new(
        "(() => {" + guarded + "})()", WebKit.UserContentInjectedFrames.TOP_FRAME, WebKit.UserScriptInjectionTime.START, None, None))
    settings = WebKit.Settings()
    settings.set_enable_write_console_messages_to_stdout(True)
    settings.set_hardware_acceleration_policy(WebKit.HardwareAccelerationPolicy.NEVER)
    settings.set_user_agent(user_agent())
    policies = WebKit.WebsitePolicies(autoplay=WebKit.AutoplayPolicy.ALLOW)
    view = WebKit.WebView(user_content_manager=manager, settings=settings, website_policies=policies)
    view.connect("web-process-terminated", lambda view, reason: ended(f"web process ended: {reason}"))
    window = Gtk.Window(child=view, default_width=1000, default_height=700)
    window.present()
    view.load_uri(f"http://localhost:{port}/")
    timer = GLib.timeout_add_seconds(LIMIT_SECONDS, lambda: ended("no result") or False)
    loop.run()
    GLib.source_remove(timer) if results and results[-1]["error"] != "no result" else None
    window.destroy()
    return results


def main() -> int:
    wanted = sys.argv[1:]
    checks = [path for path in sorted(HERE.glob("*.check.js")) if not wanted or path.name.split(".")[0] in wanted]
    with tempfile.TemporaryDirectory() as folder:
        weston = start_display(folder)
        try:
            import gi
            gi.require_version("Gtk", "4.0")
            gi.require_version("WebKit", "6.0")
            server = http.server.ThreadingHTTPServer(("localhost", 0), Page)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            passed = failed = 0
            for check in checks:
                for result in run(check, server.server_port):
                    passed += result["error"] is None
                    failed += result["error"] is not None
                    verdict = "ok" if result["error"] is None else "FAILED: " + result["error"]
                    print(f"{check.name}: {result['name']}: {verdict}")
            print(f"page-script: {passed} passed, {failed} failed")
            return 1 if failed or not passed else 0
        finally:
            weston.terminate()
            weston.wait()


sys.exit(main())
