"""Cases of run.py: what the picture holds, and who gets at the bridge."""

import time

from page_harness import PageTrial, WebServer
from picture import Picture
from run import REPORT, case, check, page


@case
def transparency_is_exact():
    script = """
        let step = 0;
        const box = document.getElementById("box");
        const next = () => {
          step++; box.style.left = (step * 13) % 700 + "px"; box.style.background = `rgba(${step}, 100, 200, 0.5)`;
          if (step < 120) requestAnimationFrame(next); else setTimeout(() => report(box.style.left), 300);
        };
        requestAnimationFrame(next);"""
    body = '<div id=box></div><div id=text>Text</div>'
    style = """#box { position: fixed; top: 100px; width: 200px; height: 100px }
        #text { position: fixed; top: 300px; left: 40px; width: 100px; height: 60px; background: rgb(1, 2, 3) }"""
    server = WebServer({"/": page(REPORT + script, body, style)})
    with PageTrial(server.origin + "/") as trial:
        left = int(server.result().removesuffix("px"))
        picture = Picture(trial.screenshot())
        # Nothing remains of where the box has been, and what is half transparent was painted once.
        for x in range(0, 1280, 3):
            expected = 128 if left <= x < left + 200 else 0
            check(abs(picture.pixel(x, 150)[3] - expected) <= 1, "at", x, picture.pixel(x, 150), "box at", left)
        check(picture.pixel(left + 100, 150)[1:3] in {(100, 200), (99, 199), (101, 201), (100, 199), (99, 200)}, picture.pixel(left + 100, 150))
        check(picture.pixel(45, 355) == (1, 2, 3, 255), picture.pixel(45, 355))
        check(picture.pixel(5, 5)[3] == 0, picture.pixel(5, 5))


@case
def a_scrolled_page_is_exact():
    # Stripes whose colour tells their position, half of them transparent; scrolled in steps of every size and direction.
    script = """
        const steps = [3, 50, 200, -40, 719, -700, 1, 1, 1, 333, -1, 1000, -555];
        const inner = document.getElementById("inner");
        const next = () => {
          if (!steps.length) return setTimeout(() => report([scrollY, inner.scrollTop]), 400);
          const step = steps.shift(); scrollBy(0, step); inner.scrollTop += step / 3; requestAnimationFrame(() => requestAnimationFrame(next));
        };
        setTimeout(next, 300);"""
    stripes = "".join(f'<div style="height:10px;background:{"rgb(%d,%d,50)" % (i & 255, i >> 8) if i % 2 else "none"}"></div>' for i in range(600))
    small = "".join(f'<div style="height:7px;background:rgb({i},200,0)"></div>' for i in range(200))
    style = """body { margin: 0 } ::-webkit-scrollbar { display: none }
        #inner { position: fixed; left: 600px; top: 50px; width: 300px; height: 300px; overflow: scroll }"""
    server = WebServer({"/": page(REPORT + script, f"{stripes}<div id=inner>{small}</div>", style)})
    with PageTrial(server.origin + "/") as trial:
        top, inner = server.result()
        picture = Picture(trial.screenshot())
        for y in range(720):
            stripe = (y + int(top)) // 10
            expected = (stripe & 255, stripe >> 8, 50, 255) if stripe % 2 else (0, 0, 0, 0)
            check(picture.pixel(100, y) == expected, "row", y, picture.pixel(100, y), "expected", expected, "scrolled", top)
        for y in range(50, 350):
            stripe = (y - 50 + int(inner)) // 7
            check(picture.pixel(700, y)[:2] == (stripe, 200), "inner row", y, picture.pixel(700, y), "stripe", stripe, "scrolled", inner)


@case
def a_reload_shows_no_empty_picture():
    server = WebServer({"/": page("", '<div style="position:fixed;inset:0;background:rgb(0,90,0)"></div>')})
    with PageTrial(server.origin + "/") as trial:
        trial.bridge.wait("page.drawn")
        for _ in range(3):
            trial.bridge.host.send({"type": "page.reload"})
            trial.bridge.wait("page.committed")
            trial.bridge.wait("page.drawn")
            check(Picture(trial.screenshot()).pixel(640, 360) == (0, 90, 0, 255))


@case
def a_page_that_does_nothing_commits_nothing():
    server = WebServer({"/": page("", "still")})
    import os

    os.environ["WAYLAND_DEBUG"] = "client"
    try:
        with PageTrial(server.origin + "/") as trial:
            trial.bridge.wait("page.drawn")
            time.sleep(3)
            before = trial.output().count("commit()")
            time.sleep(3)
            check(trial.output().count("commit()") == before, "commits without a change")
    finally:
        del os.environ["WAYLAND_DEBUG"]


# Who gets at the bridge

LOOK = """
    const look = (w) => {
      try { return { peer: typeof w.RTCPeerConnection, origin: w.origin } } catch (error) { return error.name }
    };
"""


def opened(trial):
    return [(entry["origin"], entry["isMainFrame"], entry["policy"]["camera"]) for entry in trial.bridge.seen("document.open")]


@case
def frames_and_the_bridge():
    inner = page("parent.postMessage({ name: NAME, peer: typeof RTCPeerConnection, devices: typeof navigator.mediaDevices }, '*')".replace("NAME", "location.search || location.href"))
    other = WebServer({"/inner": inner})
    stranger = WebServer({"/inner": inner})
    frames = [
        ("same", "src='/inner?same'"),
        ("sandboxed", "sandbox='allow-scripts' src='/inner?sandboxed'"),
        ("sandboxed same origin", "sandbox='allow-scripts allow-same-origin' src='/inner?sandboxed-same'"),
        ("srcdoc", "srcdoc=\"<script>parent.postMessage({ name: 'srcdoc', peer: typeof RTCPeerConnection }, '*')</script>\""),
        ("sandboxed srcdoc", "sandbox=allow-scripts srcdoc=\"<script>parent.postMessage({ name: 'sandboxed-srcdoc', peer: typeof RTCPeerConnection }, '*')</script>\""),
        ("data", "src=\"data:text/html,<script>parent.postMessage({ name: 'data', peer: typeof RTCPeerConnection }, '*')</script>\""),
        ("other", f"src='{other.origin}/inner?other'"),
        ("other allowed", f"allow='camera; microphone' src='{other.origin}/inner?other-allowed'"),
        ("stranger", f"src='{stranger.origin}/inner?stranger'"),
    ]
    script = """
        const heard = {};
        addEventListener("message", (event) => heard[event.data.name] = event.data.peer);
        const empty = document.createElement("iframe"); document.body.append(empty);
        heard.empty = typeof empty.contentWindow.RTCPeerConnection;
        setTimeout(() => report(heard), 3000)"""
    body = "".join(f"<iframe name='{name}' {attributes}></iframe>" for name, attributes in frames)
    server = WebServer({"/": page(REPORT + script.replace("const heard = {};", ""), "<script>const heard = {}; addEventListener('message', (event) => heard[event.data.name] = event.data.peer)</script>" + body), "/inner": inner})
    with PageTrial(server.origin + "/", allowedOrigins=[other.origin]) as trial:
        heard = server.result()
        expected = {
            "?same": "function", "?sandboxed": "undefined", "?sandboxed-same": "function", "srcdoc": "function", "sandboxed-srcdoc": "undefined",
            "data": "undefined", "?other": "function", "?other-allowed": "function", "empty": "function",
        }
        for name, kind in expected.items():
            check(heard.get(name) == kind, name, heard)
        check("?stranger" not in heard and not stranger.requests, "the stranger came in", heard)
        documents = trial.bridge.seen("document.open")
        check(all(entry["origin"] in (server.origin, other.origin) for entry in documents), opened(trial))
        for entry in documents:
            check(entry["sender"] == 0 and entry["topOrigin"] == server.origin and entry["isSecure"], entry)
        cameras = {entry["url"].split("?")[-1]: entry["policy"]["camera"] for entry in documents}
        # A frame's first document takes over the window that the frame began with, when both are of one origin.
        check(cameras["about:blank"] and cameras["other-allowed"] and not cameras["other"] and cameras["about:srcdoc"], cameras)
        check(len({entry["document"] for entry in documents}) == len(documents), "numbers twice")


@case
def documents_are_closed():
    script = """
        const add = () => { const f = document.createElement("iframe"); f.src = "/inner"; document.body.append(f); return f };
        const a = add(), b = add();
        setTimeout(() => { a.remove(); b.src = "/inner?2" }, 800); setTimeout(() => report(1), 1500)"""
    server = WebServer({"/": page(REPORT + script), "/inner": "x", "/next": page(REPORT + "report(2)")})
    with PageTrial(server.origin + "/") as trial:
        server.result()
        time.sleep(1)

        def alive():
            closed = {entry["document"] for entry in trial.bridge.seen("document.close")}
            return sorted(entry["url"].removeprefix(server.origin) for entry in trial.bridge.seen("document.open") if entry["document"] not in closed)

        check(len(alive()) == 2 and "/" in alive(), alive())
        trial.bridge.host.send({"type": "page.load", "url": server.origin + "/next"})
        check(server.result() == 2)
        trial.bridge.wait("page.drawn", url=server.origin + "/next")
        # Those of the old page go with its process, or one by one.
        end = time.monotonic() + 30
        ended = lambda: {id(entry["connection"]) for entry in trial.bridge.seen("closed")}
        remaining = lambda: [
            entry["url"] for entry in trial.bridge.seen("document.open")
            if entry["document"] not in {closed["document"] for closed in trial.bridge.seen("document.close")} and id(entry["connection"]) not in ended()
        ]
        while remaining() != [server.origin + "/next"]:
            check(time.monotonic() < end, remaining())
            time.sleep(0.1)


@case
def nothing_of_ours_is_left_in_the_page():
    # A sandboxed frame shows the globals of the engine alone.
    names = "JSON.stringify(Reflect.ownKeys(globalThis).map(String).sort())"
    inner = page(f"parent.postMessage({names}, '*')")
    script = f"addEventListener('message', (event) => report([JSON.parse(event.data), JSON.parse({names}), typeof window.webkit?.messageHandlers]))"
    server = WebServer({"/": page(REPORT + script, "<iframe sandbox=allow-scripts src=/inner></iframe>"), "/inner": inner})
    with PageTrial(server.origin + "/") as trial:
        bare, ours, handlers = server.result()
        added = set(ours) - set(bare) - {"report"}
        strange = [
            name for name in added
            if not name.startswith(("RTC", "webkitRTC", "Media", "InputDevice", "OverconstrainedError", "Device", "webkitMediaStream", "CanvasCaptureMediaStreamTrack"))
            and name not in {"0"}
        ]
        check("RTCPeerConnection" in added, added)
        check(not strange, strange)


@case
def a_window_may_not_name_another_document():
    # What is called on the native object is stamped by native code: the page's own patches of what the script uses see no number or key.
    script = """
        const seen = [];
        for (const name of ["stringify", "parse"]) {
          const original = JSON[name]; JSON[name] = (...a) => { seen.push(String(a[0])); return original(...a) };
        }
        const set = Map.prototype.set; Map.prototype.set = function (key, value) { seen.push("map " + key); return set.call(this, key, value) };
        const pc = new RTCPeerConnection(); pc.createDataChannel("x");
        const anything = Reflect.ownKeys(pc).concat(Object.keys(pc)).map(String);
        setTimeout(() => report(anything), 500)"""
    server = WebServer({"/": page(REPORT + script)})
    with PageTrial(server.origin + "/") as trial:
        check(server.result() == [])
