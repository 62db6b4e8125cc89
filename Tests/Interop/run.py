"""Calls between the program under test and real peers, one after the other. Ends with `interop: N passed, N failed`.

    .build/venv/bin/python Tests/Interop/run.py                       parlor against all
    .build/venv/bin/python Tests/Interop/run.py --only gstreamer      the scenarios with that in their names
    .build/venv/bin/python Tests/Interop/run.py --subject aiortc      the rig itself, with aiortc in parlor's place
"""

import argparse
import asyncio
import os
import shutil
import sys
import time
import traceback

import check
import peers
import synthetic
from direct import ParlorRun
from endpoint import Endpoint
from peers import Failure
from scenarios import SCENARIOS, SUBJECT, Call, DirectCall, RefusedCall
from servers import Janus, TurnServer, make_certificates

# The share of messages that a peer sends back unchanged, where it is not all. webrtcbin cannot send an empty message. Neither
# does Janus, which puts words of its own before each text besides, and takes none of 64 KiB.
ECHOED = {"gstreamer": 0.85, "janus": 0.3}


class Rig:
    def __init__(self, options):
        self.options = options
        self.work = os.path.join(peers.ROOT, ".build/interop")
        os.makedirs(self.work, exist_ok=True)
        self.camera, self.microphone = os.path.join(self.work, "camera.y4m"), os.path.join(self.work, "microphone.wav")
        synthetic.write_camera(self.camera)
        synthetic.write_microphone(self.microphone)
        self.certificates = os.path.join(self.work, "certificates")
        shutil.rmtree(self.certificates, ignore_errors=True)
        os.makedirs(self.certificates)
        make_certificates(self.certificates)
        os.environ["SSL_CERT_FILE"] = os.path.join(self.certificates, "ca.pem")  # for the peers that know no option

    def sources(self):
        return ["--camera", self.camera, "--microphone", self.microphone]

    def arguments(self, name, scenario, directory, side):
        """The options of one side. Parlor makes the picture and the sound of those files itself, and measures the sound it hears."""
        media = ["--video", "on" if scenario.video else "off", "--data", "on" if scenario.data else "off", "--seconds", "60"]
        media += ["--record", f"{directory}/{side}.y4m"]
        if name != "parlor":
            return ["--codec", scenario.codec, "--audio", scenario.audio, *media, *self.sources(), "--record-audio", f"{directory}/{side}.wav"]
        names = {"pcmu": "PCMU", "pcma": "PCMA"}
        media += ["--codec", scenario.codec.upper(), "--audio", names.get(scenario.audio, scenario.audio)]
        media += ["--packetization-mode", str(scenario.packetization_mode)]
        return media + (["--conceal"] if scenario.hidden_addresses else [])

    async def call(self, scenario, directory):
        names = {"offerer": scenario.offerer, "answerer": scenario.answerer}
        subject = "offerer" if scenario.offerer == SUBJECT else "answerer"
        other = "answerer" if subject == "offerer" else "offerer"
        names[subject] = self.options.subject
        arguments = {side: self.arguments(name, scenario, directory, side) for side, name in names.items()}
        os.environ["PARLOR_HIDE_ADDRESSES"] = "1" if scenario.hidden_addresses else "0"

        async def connect():
            return await peers.call(*((names[side], arguments[side]) for side in ("offerer", "answerer")), self.options.seconds, directory)

        complaints = []
        if scenario.relay:
            async with TurnServer(self.certificates) as turn:
                arguments[subject] += turn.option(scenario.relay)
                if self.options.subject == "parlor":
                    arguments[subject] += ["--ca", f"{self.certificates}/ca.pem"]
                if scenario.both_relay:
                    arguments[other] += turn.option("udp")
                finished = dict(zip(("offerer", "answerer"), await connect()))
                if turn.allocations() == 0:
                    complaints.append("the relay gave out no address")
            # aiortc cannot be told to use relayed addresses alone.
            for side in [subject] * (self.options.subject != "aiortc") + [other] * scenario.both_relay:
                complaints += check.relayed(finished[side])
        elif scenario.answerer == "janus":
            async with Janus(directory) as janus:
                os.environ["JANUS_URL"] = janus.url
                finished = dict(zip(("offerer", "answerer"), await connect()))
        else:
            finished = dict(zip(("offerer", "answerer"), await connect()))

        notes = []
        for side in ("offerer", "answerer"):
            who = names[side]
            if who == "janus":
                continue
            if scenario.video:
                self.add(check.video(who, self.camera, f"{directory}/{side}.y4m"), complaints, notes)
            if scenario.audio != "none" and who == "parlor":
                self.add(check.audio_measured(who, finished[side].result), complaints, notes)
            elif scenario.audio != "none":
                self.add(check.audio(who, f"{directory}/{side}.wav"), complaints, notes)
        if scenario.data:
            self.add(check.data(finished["offerer"], ECHOED.get(scenario.answerer, 1)), complaints, notes)
        return complaints, ", ".join(notes)

    @staticmethod
    def add(outcome, complaints, notes):
        complaints += outcome[0]
        notes.append(outcome[1])

    def endpoint(self, scenario, directory):
        media = ["--codec", scenario.codec, "--data", "off", *self.sources()]
        recordings = ["--record", f"{directory}/whip.y4m", "--record-audio", f"{directory}/whip.wav"]
        certificate = self.certificates if scenario.https else None
        return Endpoint(scenario.peer, directory, [*media, *recordings], media, certificate=certificate)

    async def direct_call(self, scenario, directory):
        complaints, notes = [], []
        async with self.endpoint(scenario, directory) as endpoint:
            base = endpoint.url + ("/moved" if scenario.redirected else "")
            authority = f'"{self.certificates}/ca.pem"' if scenario.https else ""
            async with ParlorRun(
                directory, whip=f"{base}/whip", whep=f'whep = "{base}/whep"', camera=self.camera, microphone=self.microphone,
                authorities=authority, codec=scenario.codec.upper()) as box:
                await box.wait_for("not in a call", 20, state="in-call")
                await asyncio.sleep(self.options.seconds)
                screen = await box.screenshot()
                code, _ = await box.verb("call", "hangup")
                if code != 0:
                    complaints.append(f"parlor call hangup ended with {code}")
                for _ in range(50):
                    if all(session.finished.is_set() for session in endpoint.sessions):
                        break
                    await asyncio.sleep(0.1)
            whip = [session for session in endpoint.sessions if session.kind == "whip"]
            if len(endpoint.sessions) != 2 or len(whip) != 1:
                complaints.append(f"the endpoint had {len(endpoint.sessions)} sessions for one call each way")
            deleted = sum(request.method == "DELETE" and request.status == 200 for request in endpoint.requests)
            if deleted != len(endpoint.sessions):
                complaints.append(f"{deleted} of {len(endpoint.sessions)} sessions were ended with DELETE")
            refused = [request for request in endpoint.requests if request.status >= 400]
            if refused:
                complaints.append(f"the endpoint refused {refused}")
        self.add(check.video("the WHIP side", self.camera, f"{directory}/whip.y4m"), complaints, notes)
        self.add(check.audio("the WHIP side", f"{directory}/whip.wav"), complaints, notes)
        self.add(check.audio("the box", f"{directory}/heard.wav"), complaints, notes)
        self.add(self.compare(screen), complaints, notes)
        return complaints, ", ".join(notes)

    def compare(self, screen):
        """The screen against the picture that the endpoint sent."""
        code, sent = synthetic.TimeCode.read(screen), synthetic.Y4M(self.camera)
        if code is None:
            return ["no time code on the screen"], "no picture"
        source = sent.luma(code.index % len(sent))
        if source.shape != screen.shape:
            return [f"the screen is {screen.shape}"], "wrong size"
        top = synthetic.strip_height(screen.shape[1])
        likeness = synthetic.psnr(float(((source[top:].astype(int) - screen[top:]) ** 2.0).mean()))
        return ([f"the screen is unlike what was sent: {likeness:.1f} dB"] if likeness < 30 else []), f"screen {likeness:.1f} dB"

    async def refused_call(self, scenario, directory):
        async with Endpoint("aiortc", directory) as endpoint:
            wrong = {"token": "wrong"} if scenario.status == 401 else {}
            path = "/whip" if scenario.status == 401 else f"/status/{scenario.status}"
            async with ParlorRun(directory, whip=endpoint.url + path, camera=self.camera, microphone=self.microphone, **wrong) as box:
                status = await box.wait_for(f"no {scenario.code}", 10, code=scenario.code)
                for _ in range(100):
                    if len(endpoint.requests) >= 2:
                        break
                    await asyncio.sleep(0.1)
                complaints = [] if len(endpoint.requests) >= 2 else ["the box gave up after one refusal"]
                if not status.get("reason"):
                    complaints.append("the status gives no reason")
        return complaints, status.get("reason", "")

    async def run(self, scenario, index):
        directory = os.path.join(self.work, f"{index:02}")
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        kinds = {Call: self.call, DirectCall: self.direct_call, RefusedCall: self.refused_call}
        started = time.monotonic()
        try:
            complaints, note = await asyncio.wait_for(kinds[type(scenario)](scenario, directory), 60)
        except Failure as problem:
            complaints, note = [str(problem)], ""
        except asyncio.TimeoutError:
            complaints, note = ["not done within a minute"], ""
        except Exception:  # a fault of the rig must not hide the other results
            complaints, note = [traceback.format_exc()], ""
        name = scenario.name.replace(SUBJECT, self.options.subject)
        print(f"{'✘' if complaints else '✔'} {name} ({time.monotonic() - started:.1f} s) {note}", flush=True)
        for complaint in complaints:
            print("    " + complaint.replace("\n", "\n    "), flush=True)
        if complaints:
            print(f"    everything both sides said: {os.path.relpath(directory)}", flush=True)
        else:
            shutil.rmtree(directory)
        return not complaints


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--subject", default="parlor")
    parser.add_argument("--only", action="append", default=[], help="a part of a scenario's name; may be given several times")
    parser.add_argument("--seconds", type=float, default=4, help="of each call, after it is connected")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    chosen = [s for s in SCENARIOS if not options.only or any(part in s.name.replace(SUBJECT, options.subject) for part in options.only)]
    if options.subject != "parlor":
        # The others need the whole program. As a DTLS client aiortc takes no RSA certificate, which is what webrtcbin has.
        chosen = [s for s in chosen if isinstance(s, Call) and (s.offerer, options.subject) != ("gstreamer", "aiortc")]
    if options.list:
        print("\n".join(scenario.name.replace(SUBJECT, options.subject) for scenario in chosen))
        return 0
    rig = Rig(options)
    outcomes = [await rig.run(scenario, index) for _ in range(options.repeat) for index, scenario in enumerate(chosen)]
    print(f"interop: {sum(outcomes)} passed, {len(outcomes) - sum(outcomes)} failed")
    return 0 if outcomes and all(outcomes) else 1


sys.exit(asyncio.run(main()))
