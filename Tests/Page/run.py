"""What parlor-page does with pages good and bad. Ends with `page-host: N passed, N failed`.

    python3 Tests/Page/run.py [--only WORD]
"""

import argparse
import base64
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from page_harness import PageTrial, WebServer
from picture import Picture

CASES = []


def case(function):
    CASES.append(function)
    return function


def check(condition, *what):
    if not condition:
        raise AssertionError(" ".join(map(str, what)))


def page(script="", body="", style=""):
    return f"<!doctype html><title>t</title><style>{style}</style><body>{body}<script>{script}</script>"


REPORT = "const report = (value) => fetch('/result', { method: 'POST', body: JSON.stringify(value) });"


def failure(url, code, timeout=90, **settings):
    with PageTrial(url, **settings) as trial:
        failed = trial.bridge.wait("page.failed", timeout)
        check(failed["code"] == code, "expected", code, "got", failed)
        check(not trial.bridge.seen("page.drawn"), "it drew")
        check(trial.host.poll() is None, "the host ended", trial.output())
        return failed


# Loading


@case
def a_page_is_drawn():
    server = WebServer({"/": page(REPORT + "report(navigator.userAgent)", "hello")})
    with PageTrial(server.origin + "/") as trial:
        for step in ["host.hello", "page.loading", "page.committed"]:
            trial.bridge.wait(step)
        trial.bridge.wait("page.drawn", url=server.origin + "/")
        check("Safari" in server.result())
        check(not trial.bridge.seen("page.failed"))


@case
def status_404_and_500():
    def answer(status):
        return lambda handler: handler.reply(status, b"no")

    server = WebServer({"/500": answer(500), "/404": answer(404)})
    check("404" in failure(server.origin + "/404", "page.http")["reason"])
    check("500" in failure(server.origin + "/500", "page.http")["reason"])


@case
def a_proxy_that_asks_who_this_is():
    def asked(handler):
        if handler.headers["Proxy-Authorization"] == "Basic " + base64.b64encode(b"box:pa$$").decode():
            handler.reply(200, page("", "hello").encode())
        else:
            handler.reply(407, b"who are you?", Proxy_Authenticate='Basic realm="proxy"')

    url = "http://calls.invalid/room"
    proxy = WebServer({url: asked})
    with PageTrial(url, proxy={"url": proxy.origin, "username": "box", "password": "pa$$", "exceptions": []}) as trial:
        trial.bridge.wait("page.drawn", url=url)
    failure(url, "page.http", proxy={"url": proxy.origin, "username": "box", "password": "wrong", "exceptions": []})
    # What is reached without it has to be reached.
    failure(url, "page.dns", proxy={"url": proxy.origin, "exceptions": [".invalid"]})
    # This machine is never asked by way of others.
    server = WebServer({"/": page("", "hello")})
    with PageTrial(server.origin + "/", proxy={"url": "http://proxy.invalid:3128", "exceptions": []}) as trial:
        trial.bridge.wait("page.drawn", url=server.origin + "/")


@case
def nobody_listens():
    server = WebServer({})
    server.close()
    failure(server.origin + "/", "page.connect")


@case
def a_server_that_comes_later():
    away = WebServer({})
    away.close()
    server = WebServer({"/": page("", "hello")})
    for is_killed in (False, True):
        with PageTrial(away.origin + "/", allowedOrigins=[server.origin]) as trial:
            check(trial.bridge.wait("page.failed")["code"] == "page.connect")
            process = trial.web_process()
            if is_killed:
                os.kill(process, signal.SIGKILL)
                trial.until(lambda: "the next page's process" in trial.output(), "a line about it")
            trial.bridge.host.send({"type": "page.load", "url": server.origin + "/"})
            trial.bridge.wait("page.drawn", url=server.origin + "/")
            check((trial.web_process() == process) != is_killed, "the engine's start was not saved, or what is gone was used")
            check(len(trial.bridge.seen("page.failed")) == 1, trial.bridge.seen("page.failed"))


@case
def a_name_that_is_none():
    failure("https://nowhere.invalid/", "page.dns")


@case
def a_redirect_loop():
    server = WebServer({"/": lambda handler: handler.reply(302, b"", Location="/")})
    failure(server.origin + "/", "page.redirects")


@case
def a_redirect_to_another_origin():
    other = WebServer({"/": "other"})
    server = WebServer({"/": lambda handler: handler.reply(302, b"", Location=other.origin + "/")})
    failed = failure(server.origin + "/", "page.failed")
    check(other.origin in failed["reason"], failed)
    check(not other.requests, "it was asked for all the same")


@case
def a_server_that_says_nothing():
    server = WebServer({"/": lambda handler: time.sleep(600)})
    failure(server.origin + "/", "page.timeout", loadDeadline=2)


@case
def a_page_that_draws_nothing():
    def half(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/html")
        handler.end_headers()
        handler.wfile.write(b"<!doctype html><script src=/never></script>")
        handler.wfile.flush()
        time.sleep(600)

    server = WebServer({"/": half, "/never": lambda handler: time.sleep(600)})
    with PageTrial(server.origin + "/", loadDeadline=2) as trial:
        check(trial.bridge.wait("page.failed")["code"] == "page.timeout")


@case
def a_hundred_megabytes():
    def large(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/html")
        handler.send_header("Content-Length", str(200_000_000))
        handler.end_headers()
        try:
            for _ in range(200):
                handler.wfile.write(b"x" * 1_000_000)
        except OSError:
            pass

    failure(WebServer({"/": large}).origin + "/", "page.size")


@case
def a_file_instead_of_a_page():
    server = WebServer({"/": lambda handler: handler.reply(200, b"\0" * 100, type="application/octet-stream")})
    failed = failure(server.origin + "/", "page.failed")
    check("file" in failed["reason"], failed)


# Trust


def certificates(folder):
    """A root, a certificate of it for localhost, and one that nobody vouches for; with the pin of the first."""
    script = """
set -e
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout root.key -out root.pem -days 30 -subj /CN=root -addext basicConstraints=critical,CA:TRUE
for name in server client; do
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $name.key -out $name.csr -subj /CN=$name
  openssl x509 -req -in $name.csr -CA root.pem -CAkey root.key -CAcreateserial -days 20 -out $name.pem -extfile <(printf 'subjectAltName=DNS:localhost')
done
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout self.key -out self.pem -days 30 -subj /CN=localhost -addext subjectAltName=DNS:localhost
openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64 > pin
"""
    subprocess.run(["bash", "-c", script], cwd=folder, check=True, capture_output=True)


def tls(folder, name, asks=False):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/{name}.pem", f"{folder}/{name}.key")
    if asks:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(f"{folder}/root.pem")
    return context


@case
def a_bad_certificate():
    with tempfile.TemporaryDirectory() as folder:
        certificates(folder)
        server = WebServer({"/": "hello"}, tls=tls(folder, "self"))
        failure(server.origin + "/", "page.tls")
        check(not server.requests, "something was sent to it")
        # A configured root vouches for its own only.
        failure(server.origin + "/", "page.tls", certificateFiles=[f"{folder}/root.pem"])


@case
def a_configured_root():
    with tempfile.TemporaryDirectory() as folder:
        certificates(folder)
        server = WebServer({"/": page(REPORT + "fetch('/sub').then((r) => r.text()).then(report)"), "/sub": "sub"}, tls=tls(folder, "server"))
        failure(server.origin + "/", "page.tls")
        with PageTrial(server.origin + "/", certificateFiles=[f"{folder}/root.pem"]) as trial:
            trial.bridge.wait("page.drawn")
            check(server.result() == "sub")
        # Another name than the certificate's.
        failure(f"https://127.0.0.1:{server.port}/", "page.tls", certificateFiles=[f"{folder}/root.pem"])


@case
def pins():
    with tempfile.TemporaryDirectory() as folder:
        certificates(folder)
        server = WebServer({"/": "hello"}, tls=tls(folder, "server"))
        root = {"certificateFiles": [f"{folder}/root.pem"]}
        with PageTrial(server.origin + "/", pins=[Path(f"{folder}/pin").read_text().strip()], **root) as trial:
            trial.bridge.wait("page.drawn")
        failure(server.origin + "/", "page.tls", pins=["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="], **root)


@case
def a_client_certificate():
    with tempfile.TemporaryDirectory() as folder:
        certificates(folder)
        server = WebServer({"/": "hello"}, tls=tls(folder, "server", asks=True))
        own = {"clientCertificate": f"{folder}/client.pem", "clientKey": f"{folder}/client.key"}
        with PageTrial(server.origin + "/", certificateFiles=[f"{folder}/root.pem"], **own) as trial:
            trial.bridge.wait("page.drawn")


@case
def passwords_are_not_asked_for():
    server = WebServer({"/": lambda handler: handler.reply(401, b"no", WWW_Authenticate='Basic realm="x"')})
    failure(server.origin + "/", "page.http")


# The page's process


def running(trial):
    trial.bridge.wait("page.drawn")
    trial.until(trial.web_process, "the web process")
    return trial.web_process()


@case
def a_killed_process_and_the_way_back():
    server = WebServer({"/": "hello"})
    with PageTrial(server.origin + "/") as trial:
        os.kill(running(trial), signal.SIGKILL)
        check(trial.bridge.wait("page.failed")["code"] == "page.crashed")
        trial.bridge.host.send({"type": "page.load", "url": server.origin + "/"})
        trial.bridge.wait("page.drawn")


@case
def a_page_that_hangs():
    server = WebServer({"/": page("setTimeout(() => { for (;;) ; }, 500)", "hello")})
    with PageTrial(server.origin + "/") as trial:
        trial.bridge.wait("page.drawn")
        check(trial.bridge.wait("page.failed")["code"] == "page.hung")


@case
def a_stopped_process():
    server = WebServer({"/": "hello"})
    with PageTrial(server.origin + "/") as trial:
        os.kill(running(trial), signal.SIGSTOP)
        check(trial.bridge.wait("page.failed")["code"] == "page.hung")


@case
def too_much_memory():
    script = "const all = []; setInterval(() => { const a = new Uint8Array(2e7); a.fill(1); all.push(a) }, 50)"
    server = WebServer({"/": page(script, "hello")})
    with PageTrial(server.origin + "/", memoryLimit=256) as trial:
        check(trial.bridge.wait("page.failed", 120)["code"] == "page.memory")


@case
def the_host_ends_with_the_box():
    server = WebServer({"/": "hello"})
    with PageTrial(server.origin + "/") as trial:
        running(trial)
        trial.bridge.host.send({"type": "host.exit"})
        check(trial.host.wait(60) == 0)
    with PageTrial(server.origin + "/") as trial:
        running(trial)
        trial.bridge.host.sock.shutdown(2)
        check(trial.host.wait(60) == 69)
    with PageTrial(server.origin + "/") as trial:
        running(trial)
        trial.bridge.host.send({"type": "nonsense"})
        check(trial.host.wait(60) == 69)


# Rules


@case
def what_a_page_may_not():
    other = WebServer({"/": "other"})
    script = """
        const frame = document.createElement("iframe"); frame.src = OTHER; document.body.append(frame);
        const opened = [window.open(OTHER), window.open("/"), window.open("about:blank")].map((w) => w === null);
        const link = document.createElement("a"); link.href = "tel:112"; document.body.append(link); link.click();
        const save = document.createElement("a"); save.href = "/file"; save.download = "x"; document.body.append(save); save.click();
        setTimeout(async () => {
          const state = {};
          for (const name of ["geolocation", "notifications"]) {
            try { state[name] = (await navigator.permissions.query({ name })).state } catch (error) { state[name] = error.name }
          }
          let position = await new Promise((done) => navigator.geolocation?.getCurrentPosition(() => done("given"), (e) => done(e.code)) ?? done(1));
          report({ opened, state, position, notification: typeof Notification === "function" ? await Notification.requestPermission() : "none" });
        }, 300)""".replace("OTHER", repr(other.origin + "/"))
    server = WebServer({"/": page(REPORT + script), "/file": lambda handler: handler.reply(200, b"x", type="application/zip")})
    with PageTrial(server.origin + "/") as trial:
        result = server.result()
        check(result["opened"] == [True, True, True], result)
        check(result["position"] == 1, result)
        check(result["notification"] in ("denied", "none"), result)
        check("granted" not in result["state"].values(), result)
        time.sleep(0.5)
        refused = [entry["url"] for entry in trial.bridge.seen("page.refused")]
        for url in [other.origin + "/", "tel:112", server.origin + "/file"]:
            check(url in refused, url, "was not refused:", refused)
        check(not other.requests, "the other origin was asked")
        check(not trial.bridge.seen("page.failed"), trial.bridge.seen("page.failed"))


@case
def dialogs():
    script = "setTimeout(async () => { const a = confirm('sure?'); const b = prompt('name?', 'box'); alert('!'); report([a, b, confirm('late?')]) }, 300)"
    server = WebServer({"/": page(REPORT + script, "hello")})
    with PageTrial(server.origin + "/", dialogTimeout=3) as trial:
        for kind, answer in [("confirm", {"accepted": True}), ("prompt", {"accepted": True, "value": "é"}), ("alert", {"accepted": True})]:
            asked = trial.bridge.wait("dialog.open", kind=kind)
            check(asked["origin"] == server.origin, asked)
            if kind == "prompt":
                check(asked["value"] == "box" and asked["text"] == "name?", asked)
            trial.bridge.host.send({"type": "dialog.answer", "dialog": asked["dialog"], **answer})
        late = trial.bridge.wait("dialog.open")
        trial.bridge.wait("dialog.cancel", dialog=late["dialog"])
        check(server.result() == [True, "é", False])


@case
def leaving_is_never_asked_about():
    server = WebServer({"/": page("addEventListener('beforeunload', (e) => e.preventDefault()); setTimeout(() => location.href = '/next', 500)", "a"), "/next": "b"})
    with PageTrial(server.origin + "/") as trial:
        trial.bridge.wait("page.drawn", url=server.origin + "/next")
        check(not trial.bridge.seen("dialog.open"))


# Data


@case
def data_is_kept_and_pages_are_not_stale():
    version = ["one"]

    def current(handler):
        handler.reply(200, page(REPORT + f"report([{version[0]!r}, localStorage.seen ?? null]); localStorage.seen = 'yes'").encode(), Cache_Control="max-age=1000000")

    server = WebServer({"/": current})
    with tempfile.TemporaryDirectory() as folder:
        with PageTrial(server.origin + "/", dataFolder=folder) as trial:
            check(server.result() == ["one", None])
            trial.bridge.wait("page.finished")
            version[0] = "two"
            trial.bridge.host.send({"type": "page.reload"})
            check(server.result() == ["two", "yes"])
            trial.bridge.wait("page.drawn")
        version[0] = "three"
        with PageTrial(server.origin + "/", dataFolder=folder) as trial:
            check(server.result() == ["three", "yes"])
    with PageTrial(server.origin + "/", dataFolder="/proc/nothing") as trial:
        trial.bridge.wait("page.drawn")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    import glass_cases  # noqa: F401  more cases

    failed = 0
    chosen = [function for function in CASES if options.only in function.__name__]
    for function in chosen:
        start = time.monotonic()
        try:
            function()
            verdict = "passed"
        except Exception:
            failed += 1
            verdict = "FAILED\n" + traceback.format_exc()
        print(f"{function.__name__}: {verdict} ({time.monotonic() - start:.1f} s)", flush=True)
    print(f"page-host: {len(chosen) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    sys.modules["run"] = sys.modules["__main__"]
    main()
