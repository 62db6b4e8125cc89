"""Cameras on real drivers: seen as they are, unplugged, hung, damaged, taken."""

import numpy as np

import test_picture
from device_trial import PATIENCE, DeviceTrial
from gadgets import Camera
from machine import booted
from screens import Failure
from vivid import HDMIInput

NAME = "Test Camera: UVC Camera"


def picture(devices):
    """The newest picture that Parlor has: luma, and both chroma planes (4:2:0)."""
    size = devices.ask("picture /run/parlor/picture")
    data = np.frombuffer(devices.machine.get("/run/parlor/picture"), np.uint8)
    width, height = size["width"], size["height"]
    luma, chroma = data[: width * height].reshape(height, width), data[width * height :].reshape(2, height // 2, width // 2)
    return luma, chroma[0], chroma[1]


def limited(luma, blue, red):
    """What JPEG's planes, which use all values, are as video, which does not."""
    return [16 + luma * (219 / 255), *(128 + (chroma.astype(float) - 128) * (224 / 255) for chroma in (blue, red))]


def shows(devices, what, allowance):
    """The picture is what the camera was given, within what a codec changes."""
    luma, blue, red = picture(devices)
    read = test_picture.strip(luma)
    if not read:
        raise Failure(f"{what}: the strip cannot be read")
    wanted = test_picture.planes(luma.shape[1], luma.shape[0], read[0])
    if devices.status("camera")["format"] == "MJPG":
        wanted = limited(*wanted)
    top = test_picture.strip_height(luma.shape[1]) + 8
    worst = max(
        float(np.abs(seen[start:] - plane[start:].astype(float)).mean())
        for seen, plane, start in ((luma, wanted[0], top), (blue, wanted[1][::2], top // 2 + 1), (red, wanted[2][::2], top // 2 + 1))
    )
    if worst > allowance:
        raise Failure(f"{what}: picture {read[0]} differs by {worst:.1f} on average")


def in_order(devices, count, what):
    """The next pictures are ones that the camera was given, each newer than the one before."""
    numbers = devices.ask(f"pictures {count}", 120)["numbers"]
    if len(numbers) != count or any(number < 0 for number in numbers) or sorted(set(numbers)) != numbers:
        raise Failure(f"{what}: the pictures are {numbers}; {devices.status('camera')}; {devices.program.said()}")


def usb():
    """What the camera sees is what calls get, in each format and size."""
    with booted("virtio") as machine:
        camera = Camera(machine)
        camera.node()
        for options, wanted, allowance in (
            ("--size 640x360", {"format": "YUYV", "width": 640, "height": 360, "rate": 30.0}, 1),
            ("--size 1280x720 --rate 15", {"format": "MJPG", "width": 1280, "height": 720, "rate": 15.0}, 3),
        ):
            devices = DeviceTrial(machine, f"--camera any {options}")
            devices.until(f"{options} runs", "camera", state="running", name=NAME, **wanted)
            in_order(devices, 10, options)
            shows(devices, options, allowance)
            devices.program.end()
        devices = DeviceTrial(machine, "--camera any --brightness 0.75")
        devices.until("it runs with a brightness", "camera", state="running")
        if camera.tell("status")["brightness"] != 191:
            raise Failure(f"the brightness of 75 % is {camera.tell('status')['brightness']} of 255")


def coding():
    """The H.264 that a camera codes itself: what it sees is what calls get. What is damaged the driver keeps to itself; the stream then begins anew."""
    with booted("virtio") as machine:
        camera = Camera(machine, coding=True)
        camera.node()
        devices = DeviceTrial(machine, "--camera any --rate 15 --own-h264 always")
        devices.until("it runs", "camera", state="running", name=NAME, format="H264", width=640, height=360, rate=15.0)
        in_order(devices, 10, "H.264")
        shows(devices, "H.264", 3)
        camera.tell("damaged 1")
        machine.wait(lambda: devices.status("camera")["discards"].get("missing"), PATIENCE, "a picture is missed")
        in_order(devices, 10, "after a damaged one")
        shows(devices, "after a damaged one", 3)
        camera.unplug()
        devices.until("it is gone", "camera", state="absent")
        camera.plug()
        devices.until("it is back", "camera", state="running", format="H264")
        in_order(devices, 3, "after it was away")
        devices.program.end()
        # Its bitrate cannot be set: nobody uses what it codes unless told to.
        devices = DeviceTrial(machine, "--camera any --rate 15")
        devices.until("it runs as others do", "camera", state="running", format="YUYV")
        in_order(devices, 3, "YUYV")


def replugged(cycles):
    """The camera goes and comes back, again and again: pictures go on each time, and nothing is left over."""
    with booted("virtio") as machine:
        camera = Camera(machine)
        camera.node()
        devices = DeviceTrial(machine, "--camera usb-Parlor_Test_Camera_0001-video-index0")
        before = None
        for cycle in range(cycles):
            devices.until(f"it runs, cycle {cycle}", "camera", state="running")
            in_order(devices, 3, f"cycle {cycle}")
            if cycle == 2:
                before = devices.possessions()
            camera.unplug()
            devices.until(f"it is gone, cycle {cycle}", "camera", state="absent")
            camera.plug()
        devices.until("it runs after all", "camera", state="running")
        in_order(devices, 3, "after all")
        after = devices.possessions()
        if after["descriptors"] > before["descriptors"] or after["threads"] > before["threads"] or after["memory"] > before["memory"] + 4096:
            raise Failure(f"something is left over of {cycles} cameras: {before} became {after}")


def hung():
    """A driver that gives no picture any more is given up, opened again, and gives pictures once it can. No picture is shown that is damaged."""
    with booted("virtio") as machine:
        camera = Camera(machine)
        camera.node()
        devices = DeviceTrial(machine, "--camera any --size 1280x720 --rate 15")
        devices.until("it runs", "camera", state="running", format="MJPG")
        in_order(devices, 3, "before")
        camera.tell("damaged 5")
        devices.machine.wait(lambda: sum(devices.status("camera")["discards"].values()) >= 4, PATIENCE, "damaged pictures are left out")
        in_order(devices, 3, "after damaged ones")
        shows(devices, "after damaged ones", 3)
        camera.tell("silent on")
        silent = devices.until("a camera without pictures failed", "camera", state="failed")
        if "no picture" not in silent["reason"]:
            raise Failure(f"what is wrong is not told: {silent}")
        camera.tell("silent off")
        devices.until("it runs again", "camera", state="running")
        in_order(devices, 3, "after silence")


def hdmi():
    """An HDMI input whose driver drops pictures, says that they are damaged, breaks down, and loses its device."""
    with booted("virtio") as machine:
        hdmi = HDMIInput(machine)
        devices = DeviceTrial(machine, "--camera vivid --size 1280x720 --rate 60")
        devices.until("it runs", "camera", state="running", width=1280, height=720)
        frames = lambda status: status["camera"]["frames"]
        devices.grows("pictures come", frames)
        luma, blue, red = picture(devices)
        if luma.std() < 10 or blue.std() < 10 or red.std() < 10:
            raise Failure("the picture has no colours")
        hdmi.flag()
        devices.machine.wait(lambda: devices.status("camera")["discards"].get("flagged"), PATIENCE, "a picture that is said to be damaged is left out")
        hdmi.drop(50)
        devices.grows("pictures come though half of them are dropped", frames)
        hdmi.drop(100)
        devices.until("a driver that hangs failed", "camera", state="failed")
        hdmi.drop(0)
        devices.until("it runs after it hung", "camera", state="running")
        hdmi.break_down()
        devices.grows("pictures come after an error", frames)
        devices.until("it runs after an error", "camera", state="running")
        hdmi.unbind()
        devices.until("it is gone", "camera", state="absent")
        hdmi.bind()
        devices.until("it is back", "camera", state="running")
        devices.grows("pictures come when it is back", frames)


def busy():
    """Another program has the camera: that is said, and it is taken as soon as it is free."""
    with booted("virtio") as machine:
        camera = Camera(machine)
        node = camera.node()
        other = machine.program(f"exec v4l2-ctl -d {node} --stream-mmap >/dev/null 2>&1")
        machine.wait(lambda: camera.tell("status")["streaming"], PATIENCE, "the other program has it")
        devices = DeviceTrial(machine, "--camera any")
        devices.until("it is taken", "camera", state="busy")
        other.kill()
        devices.until("it is free", "camera", state="running")
        in_order(devices, 3, "once it is free")


def late():
    """The camera is plugged in after the program was started."""
    with booted("virtio") as machine:
        devices = DeviceTrial(machine, "--camera any")
        devices.until("none is there", "camera", state="absent")
        Camera(machine).node()
        devices.until("it runs", "camera", state="running", name=NAME)
        in_order(devices, 3, "once it is there")
