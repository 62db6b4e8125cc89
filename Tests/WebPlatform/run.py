"""Runs the web-platform-tests of WebRTC in Parlor's page host, or in Chromium, and prints the passes per folder.

    run.py [--browser parlor|chromium] [--only TEXT] [--folders webrtc,…] [--record] [--failures FILE]

One page goes from test file to test file: a control server hands out the next one and takes what the last one came to. A file that
neither ends nor answers is given up, the browser is started anew, and the file counts as far as it was known: not at all.

Counts per file are kept in Chromium.tsv (the yardstick) and Parlor.tsv (what this project reached), written with --record.
"""

import argparse
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
SUITE = PROJECT / ".build/web-platform-tests"
FOLDERS = ["webrtc", "mediacapture-streams", "webrtc-stats", "webrtc-extensions"]
# A file is given up after this long without a report: the suite's own limit for long ones is 60 s.
PATIENCE = 100
PASS = 0


def test_files(folders: list[str], only: str | None) -> list[str]:
    """The URLs' paths of the test files, variants apart."""
    found = []
    for folder in folders:
        for path in sorted((SUITE / folder).rglob("*")):
            name = path.name
            inside = path.relative_to(SUITE).as_posix()
            if not path.is_file() or "/resources/" in inside or "/support/" in inside or "/crashtests/" in inside or "-manual" in name:
                continue
            if name.endswith(".html"):
                text = path.read_text(errors="replace")
                if "resources/testharness.js" not in text:
                    continue
                url = "/" + inside
                variants = re.findall(r'<meta\s+name="?variant"?\s+content="([^"]*)"', text)
            elif name.endswith(".window.js") or name.endswith(".any.js"):
                url = "/" + inside[: -len(".js")] + ".html"
                variants = re.findall(r"//\s*META:\s*variant=(\S*)", path.read_text(errors="replace"))
            else:
                continue
            found += [url + variant for variant in (variants or [""])]
    return [url for url in found if only is None or only in url]


def free_port(count: int = 1) -> int:
    while True:
        with socket.socket() as first:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
        try:
            for offset in range(count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port + offset))
            return port
        except OSError:
            continue


class Control:
    """Hands out test files and collects results."""

    def __init__(self, files: list[str], suite_port: int):
        self.waiting = list(files)
        self.results: dict[str, dict] = {}
        self.running: str | None = None
        self.since = time.monotonic()
        self.suite_port = suite_port
        self.changed = threading.Condition()
        control = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path != "/next":
                    self.send_error(404)
                    return
                url = control.next()
                if url is None:
                    body = b"<!doctype html><title>done</title>"
                    self.send_response(200)
                    self.send_header("Content-Type", "text/html")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                    return
                self.send_response(302)
                self.send_header("Location", f"http://localhost:{control.suite_port}{url}")
                self.send_header("Cache-Control", "no-store")
                self.end_headers()

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                control.take(json.loads(body))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://localhost:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def next(self) -> str | None:
        with self.changed:
            if self.running is not None:
                # It asked for another file without a report: the page was loaded anew under it.
                self.give_up("the page went away")
            self.running = self.waiting.pop(0) if self.waiting else None
            self.since = time.monotonic()
            self.changed.notify_all()
            return self.running

    def take(self, result: dict) -> None:
        with self.changed:
            if result["path"] != self.running:
                return
            self.results[self.running] = result
            self.running = None
            self.since = time.monotonic()
            self.changed.notify_all()

    def give_up(self, reason: str) -> None:
        print(f"  gave up: {self.running}: {reason}", flush=True)
        self.results[self.running] = {"status": -1, "message": reason, "tests": []}
        self.running = None


def start_chromium(url: str, folder: pathlib.Path) -> subprocess.Popen:
    command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}", "--autoplay-policy=no-user-gesture-required",
               "--use-fake-device-for-media-stream=fps=30", "--use-fake-ui-for-media-stream", "--no-first-run", "--window-size=1280,720", url]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


CONFIGURATION = """
[call]
url = "{control}/next"
allowed_origins = ["http://localhost:{port}", "http://localhost:{second}", "http://127.0.0.1:{port}"]

[[grants]]
origin = "http://localhost:{port}"
camera = true
microphone = true

[[camera]]
device = "synthetic"

[sound]
capture = "synthetic"
playback = "none"

[logs]
level = "{level}"
"""


def start_parlor(url: str, folder: pathlib.Path, port: int, level: str) -> subprocess.Popen:
    control = url.removesuffix("/next")
    configuration = folder / "parlor.toml"
    configuration.write_text(CONFIGURATION.format(control=control, port=port, second=port + 1, level=level))
    (folder / "state").mkdir()
    (folder / "runtime").mkdir(mode=0o700)
    log = open(PROJECT / ".build/web-platform-tests-parlor.log", "a")
    return subprocess.Popen(
        [PROJECT / ".build/release/parlor", "run", "--config", configuration, "--stage", "headless:1280x720", "--state", folder / "state",
         "--runtime", folder / "runtime"], stdout=log, stderr=log, start_new_session=True)


def end(process: subprocess.Popen) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return
        try:
            process.wait(timeout=10)
            if number == signal.SIGTERM:
                continue
        except subprocess.TimeoutExpired:
            pass


def run(browser: str, files: list[str], level: str) -> dict[str, dict]:
    suite_port = free_port(2)
    suite = subprocess.Popen([sys.executable, HERE / "serve.py", SUITE, str(suite_port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             start_new_session=True)
    control = Control(files, suite_port)
    for name, source in (("testharnessreport.js", "report.js"), ("testdriver-vendor.js", "vendor.js")):
        (SUITE / "resources" / name).write_text((HERE / source).read_text().replace("CONTROL", control.url))
    try:
        wait_for_port(suite_port)
        while control.waiting or control.running:
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
                folder = pathlib.Path(name)
                process = start_chromium(control.url + "/next", folder) if browser == "chromium" else start_parlor(
                    control.url + "/next", folder, suite_port, level)
                try:
                    watch(control, process, len(files))
                finally:
                    end(process)
    finally:
        end(suite)
    return control.results


def watch(control: Control, process: subprocess.Popen, total: int) -> None:
    """Waits until all is done, or until the browser has to be started anew."""
    said = time.monotonic()
    with control.changed:
        control.since = time.monotonic()
        while True:
            control.changed.wait(timeout=1)
            now = time.monotonic()
            if now - said > 15:
                print(f"  {len(control.results)} of {total} files; now {control.running}", flush=True)
                said = now
            if not control.waiting and control.running is None:
                return
            if process.poll() is not None:
                if control.running:
                    control.give_up(f"the browser ended with {process.returncode}")
                return
            if now - control.since > PATIENCE:
                if control.running:
                    control.give_up("no report")
                else:
                    print("  the page does not go on: starting anew", flush=True)
                return


def wait_for_port(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.2)
    sys.exit("wpt: the suite's server did not start")


def counts(results: dict[str, dict]) -> dict[str, tuple[int, int]]:
    return {path: (sum(test["status"] == PASS for test in result["tests"]), len(result["tests"])) for path, result in results.items()}


def read(path: pathlib.Path) -> dict[str, tuple[int, int]]:
    if not path.exists():
        return {}
    lines = [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return {line[0]: (int(line[1]), int(line[2])) for line in lines}


def summary(figures: dict[str, tuple[int, int]], reference: dict[str, tuple[int, int]], folders: list[str], only: str | None) -> None:
    print(f"{'folder':<24}{'passed':>10}{'of':>8}{'Chromium':>10}{'share':>9}    without idlharness")
    for folder in folders:
        def total(table, keep):
            return sum(passed for path, (passed, _) in table.items()
                       if path.startswith(f"/{folder}/") and keep(path) and (only is None or only in path))
        everything, plain = (lambda _: True), (lambda path: "idlharness" not in path)
        mine, theirs = total(figures, everything), total(reference, everything)
        subtests = sum(count for path, (_, count) in figures.items() if path.startswith(f"/{folder}/"))
        mine_plain, theirs_plain = total(figures, plain), total(reference, plain)
        share = f"{mine / theirs:9.1%}" if theirs else f"{'-':>9}"
        share_plain = f"{mine_plain / theirs_plain:.1%}" if theirs_plain else "-"
        print(f"{folder:<24}{mine:>10}{subtests:>8}{theirs:>10}{share}    {mine_plain} of {theirs_plain}: {share_plain}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--browser", choices=["parlor", "chromium"], default="parlor")
    parser.add_argument("--only", help="run files whose path contains this text")
    parser.add_argument("--folders", default=",".join(FOLDERS))
    parser.add_argument("--record", action="store_true", help="write Chromium.tsv or Parlor.tsv")
    parser.add_argument("--failures", type=pathlib.Path, help="write every subtest that did not pass, with its message")
    parser.add_argument("--log-level", default="warning")
    options = parser.parse_args()
    if not (SUITE / "VERSION").exists():
        subprocess.run([HERE / "fetch.sh"], check=True)
    if options.browser == "chromium" and not shutil.which("chromium"):
        sys.exit("wpt: chromium is not installed; `make setup` installs it")
    folders = options.folders.split(",")
    files = test_files(folders, options.only)
    print(f"web-platform-tests of firefox-esr {(SUITE / 'VERSION').read_text().strip()} in {options.browser}: {len(files)} files", flush=True)
    results = run(options.browser, files, options.log_level)
    figures = counts(results)
    if options.failures:
        with open(options.failures, "w") as file:
            for path, result in sorted(results.items()):
                if result["status"] != 0:
                    file.write(f"{path}\t(file)\t{result['status']}\t{result['message']}\n")
                for test in result["tests"]:
                    if test["status"] != PASS:
                        message = (test["message"] or "").replace("\n", " ")
                        file.write(f"{path}\t{test['name']}\t{test['status']}\t{message}\n")
    if options.record:
        table = HERE / ("Chromium.tsv" if options.browser == "chromium" else "Parlor.tsv")
        lines = [f"# file, subtests passed, subtests; firefox-esr {(SUITE / 'VERSION').read_text().strip()}"]
        is_partial = options.only or options.folders != ",".join(FOLDERS)
        merged = {**read(table), **figures} if is_partial else figures
        lines += [f"{path}\t{passed}\t{count}" for path, (passed, count) in sorted(merged.items())]
        table.write_text("\n".join(lines) + "\n")
    summary(figures, read(HERE / "Chromium.tsv"), folders, options.only)


if __name__ == "__main__":
    main()
