"""The image as a file: what is in it, how large it is, and that it comes out the same again."""

import contextlib
import fcntl
import glob
import hashlib
import json
import os
import shutil
import subprocess
import tempfile

from failure import ROOT, WORK, Failure

LIMITS = {"direct": 200, "page": 450}  # MB, compressed


def key():
    """A key with which root may log into debug images."""
    path = os.path.join(WORK, "id_ed25519")
    if not os.path.exists(path):
        os.makedirs(WORK, exist_ok=True)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path], check=True)
    return path


def build(output, *options, environment=None):
    """Builds an image; returns its path."""
    log = output + ".log"
    os.makedirs(output, exist_ok=True)
    with open(log, "w") as file:
        answer = subprocess.run(
            [os.path.join(ROOT, "Image/build.sh"), "--output", output, *options],
            stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})},
        )
    if answer.returncode:
        with open(log) as file:
            raise Failure(f"the image is not built: {file.read()[-2000:]}")
    return glob.glob(os.path.join(output, "*.img"))[0]


def inputs(flavour, more):
    """What an image for tests is made of, as a text that changes when any of it does."""
    programs = ["parlor", *(["parlor-page", "libparlor-page-extension.so", "libparlor-page-trust.so", "libparlor-no-graphics.so"] if flavour == "page" else [])]
    files = [os.path.join(ROOT, ".build/release", name) for name in programs]
    for folder in ("Image", "Config"):
        for path, _, names in os.walk(os.path.join(ROOT, folder)):
            files += [os.path.join(path, name) for name in names if not name.endswith(".pyc") and name != "machine.py"]
    digest = hashlib.sha256(repr(more).encode())
    for file in sorted(files):
        digest.update(file.encode())
        with open(file, "rb") as content:
            digest.update(content.read())
    return digest.hexdigest()[:12]


def debug_image(flavour="direct", name=None, overlay=None, packages=()):
    """An image for tests, which lets root log in; built when what it is made of has changed. With a `name` of its own, one that differs from Parlor's: by the files of
    `overlay`, from path to content (None masks a unit), and by more Debian packages."""
    name, more = name or flavour, (overlay or {}, list(packages))
    os.makedirs(WORK, exist_ok=True)
    with open(os.path.join(WORK, f"lock-{name}"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = os.path.join(WORK, f"{name}-{inputs(flavour, more)}")
        if not glob.glob(os.path.join(folder, "*.raucb")):
            for old in glob.glob(os.path.join(WORK, f"{name}-*")):
                with contextlib.suppress(NotADirectoryError):
                    shutil.rmtree(old)
            with tempfile.TemporaryDirectory() as work:
                build(folder, "--flavour", flavour, "--quick", "--debug-key", key() + ".pub", *laid_over(work, *more))
        return glob.glob(os.path.join(folder, "*.img"))[0]


def laid_over(work, overlay, packages):
    """The options of Image/build.sh for these files and packages."""
    for path, content in overlay.items():
        file = os.path.join(work, "overlay", path.lstrip("/"))
        os.makedirs(os.path.dirname(file), exist_ok=True)
        if content is None:
            os.symlink("/dev/null", file)
        else:
            with open(file, "w") as output:
                output.write(content)
    with open(os.path.join(work, "packages"), "w") as output:
        output.write("".join(f"{package}\n" for package in packages))
    return [*(["--overlay", os.path.join(work, "overlay")] if overlay else []), *(["--packages", os.path.join(work, "packages")] if packages else [])]


def run(*arguments):
    return subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True).stdout


def content():
    """Partitions in their order, an empty slot B, an example that is valid, nobody with a password, no key that others know."""
    image = debug_image()
    table = json.loads(run("sfdisk", "--json", image))["partitiontable"]
    names = [partition["name"] for partition in table["partitions"]]
    if table["label"] != "gpt" or names != ["esp", "parlor", "root-a", "root-b", "parlor-data"]:
        raise Failure(f"the partitions are {table['label']} {names}")
    by_name = {partition["name"]: partition for partition in table["partitions"]}
    if by_name["root-a"]["size"] != by_name["root-b"]["size"]:
        raise Failure("the slots are not of one size")
    with open(image, "rb") as file:
        file.seek(by_name["root-b"]["start"] * 512)
        if any(file.read(1 << 20)):
            raise Failure("slot B is not empty")
    at = f"{image}@@{by_name['parlor']['start'] * 512}"
    listed = run("mdir", "-b", "-i", at, "::")
    for name in ("README.txt", "parlor.example.toml"):
        if name not in listed:
            raise Failure(f"{name} is not on the partition that any PC can open: {listed}")
    example = os.path.join(WORK, "example.toml")
    run("mcopy", "-n", "-o", "-i", at, "::parlor.example.toml", example)
    answer = subprocess.run([os.path.join(ROOT, ".build/release/parlor"), "check", "--config", example], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # Files that the example names are the site's own.
    if answer.returncode and "token" not in answer.stdout:
        raise Failure(f"the example is not valid: {answer.stdout}")

    slot = os.path.join(WORK, "slot")
    with open(image, "rb") as file, open(slot, "wb") as copy:
        file.seek(by_name["root-a"]["start"] * 512)
        for _ in range(by_name["root-a"]["size"] // 2048):
            copy.write(file.read(1 << 20))
    try:
        for line in run("unsquashfs", "-cat", slot, "etc/shadow").splitlines():
            user, password, *_ = line.split(":")
            if password not in ("*", "!", "!*"):
                raise Failure(f"{user} has a password")
        listing = run("unsquashfs", "-l", slot)
        for secret in ("ssh_host_", ".key\n", "var/lib/"):
            if secret in listing:
                raise Failure(f"there is {secret.strip()} in the image")
        if run("unsquashfs", "-cat", slot, "etc/machine-id"):
            raise Failure("all boxes would have the same machine-id")
    finally:
        os.remove(slot)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def reproducible():
    """Two builds give the same image, and bundles with the same content."""
    folders = [os.path.join(WORK, name) for name in ("first", "second")]
    try:
        found = []
        for folder in folders:
            image = build(folder, "--flavour", "direct", "--quick")
            bundle = glob.glob(os.path.join(folder, "*.raucb"))[0]
            listing = run("unsquashfs", "-d", os.path.join(folder, "content"), "-q", "-n", bundle)
            files = sorted(glob.glob(os.path.join(folder, "content/*")))
            if len(files) < 5:
                raise Failure(f"the bundle holds {files}: {listing}")
            found.append([digest(image), *(f"{os.path.basename(file)} {digest(file)}" for file in files)])
        if found[0] != found[1]:
            raise Failure(f"two builds differ: {[pair for pair in zip(*found) if pair[0] != pair[1]]}")
    finally:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


def sizes():
    """The images that are published are as small as promised."""
    for flavour, limit in LIMITS.items():
        folder = os.path.join(WORK, f"published-{flavour}")
        try:
            image = build(folder, "--flavour", flavour)
            size = os.path.getsize(image + ".xz") / 1e6
            print(f"      {flavour}: {size:.0f} MB", flush=True)
            if size > limit:
                raise Failure(f"{flavour}: {size:.0f} MB, more than {limit}")
            for sum in run("sh", "-c", f"cd {folder} && sha256sum --check SHA256SUMS").splitlines():
                if not sum.endswith(": OK"):
                    raise Failure(sum)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
