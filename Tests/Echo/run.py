"""Speech through rooms: what Parlor's voice processing leaves of the echo and of the person in front of the box, beside what AEC3 does with the same sounds.
No device and no clock is involved, so each run gives the same figures. Ends with `echo: N passed, N failed`.

    .build/venv/bin/python Tests/Echo/run.py                      a room of each kind
    .build/venv/bin/python Tests/Echo/run.py --long               each with other people and other walls besides
    .build/venv/bin/python Tests/Echo/run.py --only television    those with that in their names
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import traceback

import numpy as np

import measures
import oracle
import rooms
from speech import Speech, read, write

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK = os.path.join(ROOT, ".build/echo")

# dB. With the path known for long, and from five seconds after it changed.
SETTLED, AGAIN = 30, 25


def parlor(far, microphone, name):
    """What Parlor makes of it, with noise suppression and gain control off, as the oracle has them."""
    base = os.path.join(WORK, name.replace(" ", "-"))
    write(base + "-far.wav", far)
    write(base + "-microphone.wav", microphone)
    program = os.path.join(ROOT, ".build/release/voice-trial")
    files = [f"{base}-{kind}.wav" for kind in ("far", "microphone", "out")]
    said = subprocess.run([program, *files], check=True, stdout=subprocess.PIPE, text=True, timeout=300).stdout
    return read(files[2])[: len(microphone)], said.splitlines()[-1]


class Verdict:
    def __init__(self, scenario):
        """Runs a call and measures it: ours beside the oracle's."""
        far, captured, near = scenario.sounds(Speech(WORK))
        # As devices would hand it over, in 16 bits.
        far, captured = (np.clip(np.round(x * 32_768), -32_768, 32_767) / 32_768 for x in (far, captured))
        self.scenario = scenario
        out, self.counts = parlor(far, captured, scenario.name)
        self.ours = self.figures(captured, near, out)
        self.oracle = self.figures(captured, near, oracle.processed(far, captured))

    def figures(self, captured, near, out):
        scenario = self.scenario
        return (
            measures.reduction(captured, out, scenario.settled, scenario.double),
            measures.reduction(captured, out, scenario.measured_again, scenario.end),
            measures.quality(near, out, scenario.double, scenario.change - 1),
        )

    def failures(self):
        settled, again, quality = self.ours
        if self.scenario.has_echo:
            if settled < SETTLED:
                yield f"the echo is {settled:.1f} dB weaker, expected {SETTLED}"
            if again < AGAIN:
                yield f"the echo is {again:.1f} dB weaker five seconds after the path changed, expected {AGAIN}"
        if " 0 allocations, 0 frees" not in self.counts:
            yield f"the thread of the microphone allocates: {self.counts}"
        if quality < self.oracle[2]:
            yield f"the near voice has PESQ {quality:.2f}, with AEC3 {self.oracle[2]:.2f}"

    def text(self):
        (settled, again, quality), (other_settled, other_again, other_quality) = self.ours, self.oracle
        echo = f"echo {settled:5.1f} dB ({other_settled:5.1f}), after a change {again:5.1f} dB ({other_again:5.1f}), " if self.scenario.has_echo else ""
        return f"{self.scenario.name}: {echo}near voice PESQ {quality:.2f} ({other_quality:.2f})"


def measured(scenario):
    try:
        verdict = Verdict(scenario)
        return verdict.text(), list(verdict.failures())
    except Exception:
        return scenario.name, [traceback.format_exc()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    os.makedirs(WORK, exist_ok=True)
    scenarios = rooms.SCENARIOS + (rooms.others() if options.long else [])
    scenarios = [scenario for scenario in scenarios if options.only in scenario.name]
    Speech(WORK).prepare()
    passed = failed = 0
    print("In brackets: AEC3 on the same sounds.", flush=True)
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        for text, failures in pool.map(measured, scenarios):
            print(("FAIL  " if failures else "pass  ") + text, flush=True)
            for failure in failures:
                print("      " + failure, flush=True)
            passed, failed = passed + (not failures), failed + bool(failures)
    print(f"echo: {passed} passed, {failed} failed")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
