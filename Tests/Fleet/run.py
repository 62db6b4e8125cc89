"""The tools that drive a fleet, against a real box behind a real sshd. Ends with `fleet: N passed, N failed`.

    .build/venv/bin/python Tests/Fleet/run.py [--program .build/release/parlor]

The playbook and the scrape configuration are those of Config/fleet; the box is `parlor run` without a monitor, and its shell is `parlor-shell`.
"""

import argparse
import contextlib
import getpass
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.request

import yaml
from prometheus_client.parser import text_string_to_metric_families

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLEET = ROOT / "Config" / "fleet"

CONFIGURATION = """
[identity]
name = "Lobby"
[call]
whip = "http://127.0.0.1:9/whip"
start = "manual"
[display]
self_view = "off"
[[camera]]
device = "synthetic"
[sound]
capture = "none"
playback = "none"
[access]
metrics = "127.0.0.1:{port}"
"""

# The box's own settings, but for what belongs to this machine and this user: the first value counts.
SERVER = """
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
PidFile none
AuthorizedKeysFile {folder}/key.pub
StrictModes no
PermitRootLogin prohibit-password
AllowUsers {user}
SetEnv PARLOR_RUNTIME={folder}/run
ForceCommand exec {folder}/parlor-shell -c "$SSH_ORIGINAL_COMMAND"
Include {root}/Config/ssh/sshd_config
"""


class Failure(Exception):
    pass


def check(fact, what):
    if not fact:
        raise Failure(what)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait(what, look, seconds=60):
    for _ in range(seconds * 10):
        with contextlib.suppress(OSError, subprocess.CalledProcessError, ValueError):
            if look():
                return
        time.sleep(0.1)
    raise Failure(f"{what} did not happen in {seconds} s")


class Box:
    """A running box, and the sshd in front of it."""

    def __init__(self, folder, program):
        self.folder, self.program = pathlib.Path(folder), pathlib.Path(program).resolve()
        self.ssh_port, self.metrics_port = free_port(), free_port()
        self.processes = []

    def start(self):
        for name in ("run", "state"):
            (self.folder / name).mkdir()
        (self.folder / "parlor.toml").write_text(CONFIGURATION.format(port=self.metrics_port))
        (self.folder / "parlor-shell").symlink_to(self.program)
        for name in ("host", "key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True)
        (self.folder / "sshd_config").write_text(
            SERVER.format(port=self.ssh_port, folder=self.folder, user=getpass.getuser(), root=ROOT))
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        options = ["--config", "parlor.toml", "--stage", "headless:640x360", "--state", "state", "--runtime", "run"]
        self.spawn([self.program, "run", *options], "box.log")
        self.spawn(["/usr/sbin/sshd", "-D", "-e", "-f", self.folder / "sshd_config"], "sshd.log")
        wait("the box to be ready", lambda: self.parlor("status", "--json")["state"] == "ready")
        wait("sshd to listen", lambda: socket.create_connection(("127.0.0.1", self.ssh_port)).close() is None)

    def spawn(self, command, log):
        with open(self.folder / log, "w") as file:
            self.processes.append(subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=file, stderr=file))

    def parlor(self, *arguments):
        command = [self.program, *arguments, "--runtime", self.folder / "run"]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)

    def stop(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait()

    def ansible(self, *arguments):
        inventory = self.folder / "boxes.ini"
        options = f"-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o IdentitiesOnly=yes -i {self.folder}/key"
        inventory.write_text(
            f"[boxes]\nlobby-01 ansible_host=127.0.0.1 ansible_port={self.ssh_port}\n"
            f"[boxes:vars]\nansible_ssh_common_args={options}\n")
        environment = dict(os.environ, ANSIBLE_LOCAL_TEMP=str(self.folder / "ansible"), ANSIBLE_HOME=str(self.folder / "ansible"),
                           ANSIBLE_STDOUT_CALLBACK="ansible.builtin.default", ANSIBLE_NOCOLOR="1", LC_ALL="C.UTF-8")
        # The user of the test stands for the operator.
        command = [pathlib.Path(sys.executable).parent / "ansible-playbook", "-i", inventory, "-e", f"ansible_user={getpass.getuser()}",
                   *arguments, FLEET / "ansible.yml"]
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def playbook_is_understood(box):
    result = box.ansible("--syntax-check")
    check(result.returncode == 0, result.stdout + result.stderr)
    tags = box.ansible("--list-tags").stdout
    for tag in ("configure", "update", "restart-schedule"):
        check(tag in tags, f"no tag {tag} in {tags}")


def playbook_asks_how_a_box_is(box):
    result = box.ansible("-v")
    check(result.returncode == 0, result.stdout + result.stderr)
    check("unreachable=0" in result.stdout and "failed=0" in result.stdout, result.stdout)
    check('"name" : "Lobby"' in result.stdout.replace("\\", ""), result.stdout)
    # Only asking is done without being asked for.
    check("changed=0" in result.stdout, result.stdout)


def exit_codes_reach_the_playbook(box):
    # Here is no systemd, so a change is not possible now: 69.
    result = box.ansible("-v", "--tags", "restart-schedule")
    check(result.returncode != 0 and '"rc": 69' in result.stdout, result.stdout + result.stderr)


def figures_are_scraped(box):
    url = f"http://127.0.0.1:{box.metrics_port}/metrics"
    wait("figures to be served", lambda: urllib.request.urlopen(url).status == 200)
    families = {family.name: family for family in text_string_to_metric_families(urllib.request.urlopen(url).read().decode())}
    states = {sample.labels["state"]: sample.value for sample in families["parlor_state"].samples}
    check(states["ready"] == 1 and sum(states.values()) == 1, f"{states}")
    check(families["parlor_info"].samples[0].labels["name"] == "Lobby", "the box is not named")
    check(any(sample.labels["program"] == "parlor" for sample in families["parlor_process_memory_bytes"].samples), "no memory of parlor")
    # What the alerts ask for is there.
    text = (FLEET / "prometheus.yml").read_text()
    settings = yaml.safe_load(text)
    check(settings["scrape_configs"][0]["job_name"] == "parlor", "no job")
    for name in ("parlor_calls", "parlor_display_flips_per_second"):
        check(name in families and name in text, f"no {name}")


# What polkit asks its rules, in a JavaScript engine as its own is one: user, action, unit, verb.
RULES = """
import gi, json, sys
gi.require_version("JavaScriptCore", "6.0")
from gi.repository import JavaScriptCore
context = JavaScriptCore.Context()
context.evaluate("var rule, polkit = {Result: {YES: 'yes', NOT_HANDLED: null}, addRule: function (f) { rule = f; }};", -1)
context.evaluate(open(sys.argv[1]).read(), -1)
assert context.get_exception() is None, context.get_exception().get_message()
for user, action, unit, verb in json.load(sys.stdin):
    details = json.dumps({"unit": unit, "verb": verb})
    answer = context.evaluate(f"rule({{id: '{action}', lookup: function (k) {{ return {details}[k]; }}}}, {{user: '{user}'}})", -1)
    print(answer.to_string())
"""


def rights_are_few(_):
    units = "org.freedesktop.systemd1.manage-units"
    allowed = [
        ("operator", units, "parlor-apply.service", "start"), ("operator", units, "parlor-update.service", "start"),
        ("operator", units, "parlor-factory-reset.service", "start"), ("operator", units, "parlor.service", "restart"),
        ("operator", units, "reboot.target", "start"), ("parlor", units, "reboot.target", "start"),
        ("parlor", "org.freedesktop.login1.reboot", None, None),
    ]
    refused = [
        ("operator", units, "parlor.service", "stop"), ("operator", units, "ssh.service", "stop"), ("operator", units, "poweroff.target", "start"),
        ("operator", units, None, "start"), ("operator", units, "constructor", "call"), ("operator", "org.freedesktop.systemd1.manage-unit-files", None, None),
        ("operator", "org.freedesktop.NetworkManager.settings.modify.system", None, None), ("parlor", units, "parlor-update.service", "start"),
        ("parlor", units, "ssh.service", "restart"), ("nobody", units, "parlor.service", "restart"), ("parlor", "org.freedesktop.login1.power-off", None, None),
    ]
    result = subprocess.run(["/usr/bin/python3", "-c", RULES, ROOT / "Config" / "polkit" / "50-parlor.rules"], input=json.dumps(allowed + refused),
                            capture_output=True, text=True, check=False)
    answers = result.stdout.split()
    check(len(answers) == len(allowed + refused), result.stderr)
    for case, answer, right in zip(allowed + refused, answers, ["yes"] * len(allowed) + ["null"] * len(refused)):
        check(answer == right, f"{case}: {answer}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=ROOT / ".build" / "release" / "parlor")
    program = parser.parse_args().program
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="parlor-fleet-") as folder:
        box = Box(folder, program)
        try:
            box.start()
            for test in (playbook_is_understood, playbook_asks_how_a_box_is, exit_codes_reach_the_playbook, figures_are_scraped, rights_are_few):
                try:
                    test(box)
                    passed += 1
                    print(f"✔ {test.__name__.replace('_', ' ')}", flush=True)
                except Exception:
                    failed += 1
                    print(f"✘ {test.__name__.replace('_', ' ')}\n{traceback.format_exc()}", flush=True)
        finally:
            box.stop()
    print(f"fleet: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
