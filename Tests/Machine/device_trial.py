"""`device-trial`, a camera and sound devices on the threads that calls have them on, driven line by line."""

import json

from machine import Late, Program
from screens import Failure

PATIENCE = 90  # seconds; a machine that has other things to do takes its time


class DeviceTrial:
    """`with booted(…) as machine: devices = DeviceTrial(machine, "--capture any")`"""

    def __init__(self, machine, options):
        self.machine = machine
        self.program: Program = machine.program(f"exec device-trial {options}")

    def ask(self, command, seconds=PATIENCE):
        answer = self.program.ask(command, seconds)
        if "error" in answer:
            raise Failure(f"'{command}' was answered with: {answer['error']}; {self.program.said()}")
        return answer

    def status(self, device=None):
        status = self.ask("status")
        return status[device] if device else status

    def until(self, what, device, **wanted):
        """Waits until a device has these values; its status."""
        seen = {}

        def reached():
            seen.update(self.status(device))
            return all(seen.get(name) == value for name, value in wanted.items()) and seen

        try:
            return self.machine.wait(reached, PATIENCE, what)
        except Late:
            raise Failure(f"{what}: wanted {wanted}, got {json.dumps(seen)}; {self.program.said()}") from None

    def grows(self, what, value):
        """Waits until a value of the status is greater than it was."""
        before = value(self.status())
        try:
            self.machine.wait(lambda: value(self.status()) > before, PATIENCE, what)
        except Late:
            raise Failure(f"{what}: {json.dumps(self.status())}; {self.program.said()}") from None

    def possessions(self):
        """Descriptors that are open, threads, and KiB of memory that only this process has."""
        process = f"/proc/{self.program.identifier}"
        words = self.machine.root(f"ls {process}/fd | wc -l; ls {process}/task | wc -l; awk '/^Private|^Swap/ {{ sum += $2 }} END {{ print sum }}' {process}/smaps_rollup")
        return dict(zip(("descriptors", "threads", "memory"), map(int, words.split()), strict=True))
