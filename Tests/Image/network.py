"""The network of a box: Wi-Fi on radios that the kernel makes up, with an access point of its own beside the box, in a name space that the box does not see."""

import contextlib
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import tempfile

import builds
from boots import NOTICE, expect, shown
from failure import WORK, Failure
from machine import ImageMachine, command, flash, read_partition
from operators import Operator
from host_servers import HOST, Authority, Calls, Journals, Lines, Time

BOX = """[identity]
name = "Lobby"
[call]
whip = "http://10.0.2.2:9/whip"
start = "manual"
[[camera]]
device = "synthetic"
[sound]
capture = "none"
playback = "none"
"""

# The second interface is the access point's way out, and not for the box.
AIR = """[network]
country = "DE"
[[network.ethernet]]
interface = "enp0s7"
address = "10.9.0.200/24"
"""

# What people choose, and what has broken files, shells and lists before.
NAME = 'Café "9" 日本'
PASSWORD = " $HOME \"quoted\" \\n #;=%'s "

RADIO = "wlan0"


def hostapd():
    """The program of an access point, from Debian's package; the box itself has no use for one."""
    path = os.path.join(WORK, "hostapd/usr/sbin/hostapd")
    if not os.path.exists(path):
        folder = os.path.join(WORK, "hostapd")
        os.makedirs(folder, exist_ok=True)
        command("sh", "-c", f"cd {shlex.quote(folder)} && apt-get -q -o APT::Sandbox::User=root download hostapd && dpkg-deb -x hostapd_*.deb .")
    with open(path, "rb") as file:
        return file.read()


class Air:
    """Two radios in a machine: the box's, and that of an access point behind which QEMU's second network is. There is no access point until `sound`."""

    def __init__(self, machine):
        self.machine = machine
        machine.write("/run/hostapd", hostapd())
        machine.root(
            """set -e
            chmod +x /run/hostapd
            modprobe mac80211_hwsim radios=2
            ip netns add air
            iw phy phy1 set netns name air
            ip link set enp0s7 netns air
            ip netns exec air sh -ec 'ip link add bridge0 type bridge; ip link set enp0s7 master bridge0; ip link set enp0s7 up; ip link set bridge0 up'"""
        )

    def script(self, settings):
        """What has the access point sound with these settings of hostapd's, and no others, as a script for root."""
        common = {"interface": "wlan1", "bridge": "bridge0", "driver": "nl80211", "hw_mode": "g", "channel": "6", "wpa": "2", "rsn_pairwise": "CCMP"}
        text = "".join(f"{key}={value}\n" for key, value in {**common, **settings}.items())
        # It waits in vain for the password of who already has a connection, else.
        return (
            "[ ! -e /run/hostapd.pid ] || { kill $(cat /run/hostapd.pid); while [ -e /run/hostapd.pid ]; do sleep 0.2; done; }\n"
            f"printf %s {shlex.quote(text)} >/run/hostapd.conf\n"
            "ip netns exec air /run/hostapd -B -P /run/hostapd.pid -f /run/hostapd.log /run/hostapd.conf >&2\n"
        )

    def sound(self, settings):
        self.machine.root(self.script(settings))


@contextlib.contextmanager
def box(configuration, files=None, options=(), is_plugged=True, **more):
    """A box that was set up with `configuration` for operators who have the tests' key, and its operator. One that is not plugged in starts without a cable."""
    with open(builds.key() + ".pub") as file:
        key = file.read().strip() + " anna@example\n"
    image = builds.debug_image()
    disk = os.path.join(WORK, f"network-{os.getpid()}.disk.img")
    flash(image, disk, {"parlor.toml": configuration, "authorized_keys": key, **(files or {})})
    try:
        with ImageMachine(image, disk=disk, key=builds.key(), options=options, **more) as machine:
            if is_plugged:
                machine.connect()
            else:
                machine.control("set_link", name="network", up=False)
            yield machine, Operator(machine)
    finally:
        os.remove(disk)


@contextlib.contextmanager
def folder():
    path = tempfile.mkdtemp(prefix="parlor-network-")
    try:
        yield path
    finally:
        shutil.rmtree(path)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def box_on_air(network, files=None):
    """A box with a radio, `network` being what its file says of it; and the air. The box's SSH is also at the port `machine.air_port`, through the access point."""
    port = free_port()
    options = ["-netdev", f"user,id=air,net=10.9.0.0/24,hostfwd=tcp:127.0.0.1:{port}-:22", "-device", "virtio-net-pci,netdev=air,romfile="]
    with box(BOX + AIR + network, files, options) as (machine, operator):
        machine.air_port = port
        yield machine, operator, Air(machine)


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


def addresses(status, interface):
    return [address for entry in status.get("network", {}).get("interfaces", []) if entry["name"] == interface for address in entry["addresses"]]


def waits_for_code(machine, operator, code, seconds=240):
    machine.wait(lambda: operator.status().get("code") == code, seconds, f"the box says {code}")
    return operator.status()


def wifi():
    """A box joins a hidden network by itself once its password is right, says before that it is wrong, and is then reached without a cable."""
    with box_on_air(f"[[network.wifi]]\nssid = {quoted(NAME)}\npassword = {quoted(PASSWORD)}\nhidden = true\n") as (machine, operator, air):
        network = {"ssid2": "P" + quoted(NAME), "utf8_ssid": 1, "ignore_broadcast_ssid": 1, "wpa_key_mgmt": "WPA-PSK"}
        air.sound({**network, "wpa_passphrase": "another one"})
        status = waits_for_code(machine, operator, "wifi.password")
        expect("what the box says", status["reason"], f'{RADIO}: "{NAME}" does not take the password')
        expect("where the box stands", machine.root("iw reg get | sed -n 's/^country \\(..\\).*/\\1/p' | head -n 1").strip(), "DE")

        # Without the cable nobody can be told anything: the access point gets its password when the cable is gone.
        right = air.script({**network, "wpa_passphrase": PASSWORD})
        machine.write("/run/right", f"while [ $(cat /sys/class/net/enp0s6/carrier) = 1 ]; do sleep 1; done\nsleep 12\n{right}")
        machine.root("systemd-run --quiet --property KillMode=process sh /run/right")
        machine.control("set_link", name="network", up=False)
        shown(machine, 60)
        machine.screen(os.path.join(WORK, "wifi-password.png"))
        machine.port = machine.air_port
        machine.connect(300)
        status = machine.wait(lambda: (lambda it: it.get("code") is None and it)(operator.status()), 60, "nothing is wrong any more")
        if not any(address.startswith("10.9.0.") for address in addresses(status, RADIO)):
            raise Failure(f"the box has no address on the radio network: {status['network']}")


def colour(machine, x, y):
    """That of one place on the screen."""
    path = os.path.join(machine.folder, "screen.ppm")
    machine.screen(path)
    with open(path, "rb") as file:
        _, size, _, pixels = file.read().split(b"\n", 3)
    at = 3 * (y * int(size.split()[0]) + x)
    return tuple(pixels[at : at + 3])


def cable_and_clock():
    """Without a cable the picture is there and says so. With one, a box whose clock runs years behind says that, trusts the site's own authority, and calls once the time has come."""
    with folder() as work:
        authority = Authority(work)
        with open(authority.file) as file:
            certificates = file.read()
        with Calls(tls=authority.context()) as calls:
            configuration = BOX.replace(f"http://{HOST}:9/whip", calls.url).replace('start = "manual"', 'start = "boot"')
            configuration += f'[tls]\nca_files = ["site-ca.pem"]\n[time]\nservers = ["{HOST}"]\n'
            options = ["-rtc", "base=2001-01-01T00:00:00"]
            with box(configuration, {"site-ca.pem": certificates}, options, is_plugged=False) as (machine, operator):
                # First that nobody has set it up; then that there is no network, which is the longer text.
                shown(machine)
                machine.wait(lambda: all(abs(a - b) < 4 for a, b in zip(colour(machine, 135, 360), NOTICE)), 60, "the screen says that there is no network")
                machine.screen(os.path.join(WORK, "no-cable.png"))
                expect("the requests without a cable", calls.requests, 0)
                machine.control("set_link", name="network", up=True)
                machine.connect(120)
                status = waits_for_code(machine, operator, "call.tls", 120)
                expect("why", status["reason"], "The clock is not set, and so the server's certificate seems not valid yet")
                expect("whether the clock is set", status["clock"]["synchronised"], False)
                shown(machine)
                machine.screen(os.path.join(WORK, "clock.png"))
                if "(the clock was not set)" not in (report := read_partition(machine.disk, "parlor-report.txt").decode()):
                    raise Failure(f"the report does not say that the clock was not set: {report}")
                with Time():
                    waits_for_code(machine, operator, "call.not-found", 240)
                    machine.wait(lambda: operator.status()["clock"]["synchronised"], 120, "the clock is set")
                if not calls.requests:
                    raise Failure("nobody has called")


def elsewhere():
    """An operator has the logs brought to the site's servers, and moves the box to another address and back: it answers there, and no start is needed."""
    with Lines() as lines, Journals() as journals, box(BOX) as (machine, operator):
        operator(f"config set logs.syslog udp://{HOST}:{lines.port}")
        machine.wait(lambda: any("operator (anna@example" in line and " set logs.syslog" in line for line in lines.lines), 120, "the syslog server hears who it was")
        header = next(line for line in lines.lines if " set logs.syslog" in line)
        # RFC 5424, section 6: priority, version, time, host.
        if not re.match(r"<\d+>1 \d{4}-\d\d-\d\dT\S+ \S+ parlor ", header):
            raise Failure(f"that is no syslog: {header}")
        operator(f"config set logs.journal_upload {journals.url}")
        machine.wait(lambda: "set logs.journal_upload" in journals.text, 120, "the journal is brought")

        port = free_port()
        machine.control("human-monitor-command", **{"command-line": f"hostfwd_add network tcp:127.0.0.1:{port}-10.0.2.40:22"})
        moved = f'[[network.ethernet]]\naddress = "10.0.2.40/24"\ngateway = "{HOST}"\n'
        former, configuration = machine.port, operator("config get")
        leave(machine, "config apply -", f"{configuration}{moved}".encode())
        machine.port = port
        machine.connect(180)
        machine.wait(lambda: addresses(operator.status(), "enp0s6")[:1] == ["10.0.2.40"], 60, "the box says where it is")
        leave(machine, "config unset network.ethernet[0]")
        machine.port = former
        machine.connect(180)
        machine.wait(lambda: addresses(operator.status(), "enp0s6")[:1] == ["10.0.2.15"], 60, "the box is back")
        expect("the configuration", operator("config get").strip(), configuration.strip())


def leave(machine, line, data=b""):
    """An operator's order after which there is no connection any more."""
    command = [*machine.ssh_command("operator", "-o", "ServerAliveInterval=3", "-o", "ServerAliveCountMax=2"), line]
    answer = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=180)
    if answer.returncode not in (0, 255):
        raise Failure(f"{line}: {answer.returncode}: {answer.stdout.decode(errors='replace')}")


def enterprise():
    """802.1X on Wi-Fi: a server of another authority is not trusted with the password, and the box says so; that of the site's own lets it in."""
    with folder() as work, folder() as others:
        authority, other = Authority(work), Authority(others)
        with open(authority.file) as file:
            certificates = file.read()
        login = 'eap = "peap"\nidentity = "box-7"\npassword = "p \\"7\\" $x"\nca_file = "site-ca.pem"\n'
        with box_on_air(f'[[network.wifi]]\nssid = "Staff"\n{login}', {"site-ca.pem": certificates}) as (machine, operator, air):
            password = b'p "7" $x'.hex()
            machine.write("/run/users", f'* PEAP\n"box-7" MSCHAPV2 {password} [2]\n')
            network = {
                "ssid": "Staff", "wpa_key_mgmt": "WPA-EAP", "ieee8021x": 1, "eap_server": 1, "eap_user_file": "/run/users",
                "server_cert": "/run/server.pem", "private_key": "/run/server.key", "ca_cert": "/run/server.pem",
            }
            for which in (other, authority):
                for source, name in ((which.certificate, "server.pem"), (which.key, "server.key")):
                    with open(source) as file:
                        machine.write(f"/run/{name}", file.read())
                air.sound(network)
                if which is other:
                    reason = waits_for_code(machine, operator, "wifi.login")["reason"]
                    if not reason.startswith(f"{RADIO}: the network's server is not trusted: "):
                        raise Failure(f"the box does not say that it does not trust the server: {reason}")
            machine.wait(lambda: any(address.startswith("10.9.0.") for address in addresses(operator.status(), RADIO)), 240, "the box is let in")
            machine.wait(lambda: operator.status().get("code") is None, 60, "nothing is wrong any more")


def firmware():
    """A Wi-Fi device without its firmware is told as that. The device is another one, which a driver of Wi-Fi devices is made to take; it asks for its firmware first of all."""
    options = ["-device", "e1000,romfile="]
    with box(BOX + '[network]\ncountry = "DE"\n[[network.wifi]]\nssid = "Lobby"\npassword = "12345678"\n', options=options) as (machine, operator):
        waits_for_code(machine, operator, "wifi.device", 120)
        device = machine.root("basename $(readlink -f /sys/bus/pci/drivers/e1000/0000:*)").strip()
        machine.root(f"echo {device} >/sys/bus/pci/drivers/e1000/unbind; modprobe ipw2200; echo 8086 100e >/sys/bus/pci/drivers/ipw2200/new_id")
        status = waits_for_code(machine, operator, "wifi.firmware", 120)
        expect("why", status["reason"], f"the Wi-Fi device {device} does not work: its firmware ipw2200-bss.fw is not there")
