"""Cameras, sound cards and coding hardware of the machine itself, with stock programs, without Parlor."""

import numpy as np

import test_picture
from gadgets import Camera, SoundCard
from machine import booted
from screens import Failure
from sounds import SPEECH, file, heard, samples
from vivid import HDMIInput

def stream(machine, node, count, width, height, pixels):
    """What so many pictures of a camera are, one after the other."""
    machine.root(
        f"v4l2-ctl -d {node} --set-fmt-video width={width},height={height},pixelformat={pixels}"
        f" && timeout 50 v4l2-ctl -d {node} --stream-mmap=4 --stream-count={count} --stream-to=/tmp/stream"
    )
    data = machine.get("/tmp/stream")
    machine.root("rm /tmp/stream")
    return data


def usb_camera():
    with booted("virtio") as machine:
        camera = Camera(machine)
        node = camera.node()
        for width, height in ((640, 360), (1280, 720)):
            data = stream(machine, node, 6, width, height, "YUYV")
            size = width * height * 2
            numbered([test_picture.of_yuyv(data[i : i + size], width, height) for i in range(0, len(data), size)], 6, 0)
            numbered([test_picture.of_jpeg(picture) for picture in test_picture.jpegs(stream(machine, node, 6, width, height, "MJPG"))], 6, 3)
        machine.root(f"v4l2-ctl -d {node} --set-ctrl brightness=160")
        if camera.tell("status")["brightness"] != 160:
            raise Failure("the brightness that was set did not arrive")
        camera.tell("silent on")
        if "Late" not in machine.root(f"timeout 3 v4l2-ctl -d {node} --stream-mmap=2 --stream-count=1 || echo Late"):
            raise Failure("a silent camera gave a picture")
        camera.tell("silent off")
        camera.unplug()
        machine.wait(lambda: not machine.root(f"ls {node} 2>/dev/null; true").strip(), 20, "the camera is gone")
        camera.plug()
        numbered([test_picture.of_yuyv(stream(machine, camera.node(), 1, 640, 360, "YUYV"), 640, 360)], 1, None)


def numbered(pictures, count, allowance):
    """The pictures are those that were given, in order, within what a codec changes."""
    if len(pictures) != count:
        raise Failure(f"{len(pictures)} pictures instead of {count}")
    before = 0
    for picture in pictures:
        read = test_picture.strip(picture[0])
        if not read or read[0] <= before:
            raise Failure(f"after picture {before} came one with the strip {read}")
        before = read[0]
        if allowance is not None and test_picture.error(picture, before) > allowance:
            raise Failure(f"picture {before} differs by {test_picture.error(picture, before)}")


def usb_sound_card():
    with booted("virtio") as machine:
        card = SoundCard(machine)
        number = card.index()
        for source, sink in ((f"hw:{number}", "hw:UAC2Gadget"), ("hw:UAC2Gadget", f"hw:{number}")):
            passed(machine, sink, source)
        card.unplug()
        machine.wait(lambda: f"card{number}" not in machine.root("ls /proc/asound").split(), 20, "the sound card is gone")
        card.plug()
        card.index()


def passed(machine, sink, source):
    """Plays speech into one end; it comes out at the other, unaltered."""
    speech = samples(machine.get(SPEECH))
    machine.write("/tmp/played.wav", file(np.tile(speech, (2, 4))))
    play = f"timeout 20 aplay -q -D {sink} /tmp/played.wav"
    record = f"timeout 20 arecord -q -D {source} -f S16_LE -r 48000 -c 2 -d 4 /tmp/heard.wav"
    # The gadget's own end can only be used as long as the other one runs.
    machine.root(f"{record} & sleep 0.5; {play} & wait %1" if "Gadget" in sink else f"{play} & sleep 0.5; {record}")
    heard(samples(machine.get("/tmp/heard.wav")), speech, f"from {sink} to {source}")


def sound_cable():
    with booted("virtio") as machine:
        machine.root("modprobe snd-aloop id=Cable && udevadm settle")
        passed(machine, "hw:Cable,0", "hw:Cable,1")


def sound_cards():
    with booted("virtio-sound") as machine:
        machine.root(f"aplay -q -D plughw:Loudspeaker {SPEECH}")
        with open(f"{machine.folder}/loudspeaker.wav", "rb") as recording:
            heard(samples(recording.read()), samples(machine.get(SPEECH)), "the loudspeaker's file")
        machine.root("timeout 20 arecord -q -D hw:Headset -f S16_LE -r 48000 -c 2 -d 1 /tmp/heard.wav")
        if np.any(samples(machine.get("/tmp/heard.wav"))):
            raise Failure("the microphone that hears nothing heard something")


def hdmi_input():
    with booted("virtio") as machine:
        hdmi = HDMIInput(machine)
        if "Active width: 1280" not in machine.root(f"v4l2-ctl -d {hdmi.node} --query-dv-timings"):
            raise Failure("the HDMI input has another size")
        for pixels in ("YUYV", "NV12", "YU12", "BGR3"):
            data = stream(machine, hdmi.node, 2, 1280, 720, pixels)
            if len(np.unique(np.frombuffer(data, np.uint8))) < 2:
                raise Failure(f"the picture as {pixels} is empty")
        hdmi.drop(100)
        if "Late" not in machine.root(f"timeout 3 v4l2-ctl -d {hdmi.node} --stream-mmap --stream-count=1 || echo Late"):
            raise Failure("a driver that hangs gave a picture")
        hdmi.drop(0)
        hdmi.signal("no signal")
        if "no signal" not in machine.root(f"v4l2-ctl -d {hdmi.node} --list-inputs"):
            raise Failure("the lost signal is not told")
        hdmi.signal("current")
        # Who waits for a picture of a device that was pulled out may wait for ever.
        endless = machine.program(f"exec v4l2-ctl -d {hdmi.node} --stream-mmap >/dev/null 2>&1")
        hdmi.disconnect()
        endless.kill()
        stream(machine, hdmi.node, 1, 1280, 720, "YUYV")
        hdmi.unbind()
        machine.wait(lambda: not hdmi.nodes(), 20, "the input is gone")
        hdmi.bind()
        stream(machine, hdmi.node, 1, 1280, 720, "YUYV")


def coding_hardware():
    """A picture coded and decoded by vicodec is still that picture."""
    with booted("virtio") as machine:
        machine.root("modprobe vicodec && udevadm settle")
        nodes = machine.root("for node in /sys/class/video4linux/video*; do echo $(basename $node) $(cat $node/name); done").splitlines()
        node = lambda kind: next(f"/dev/{line.split()[0]}" for line in nodes if f"stateful-{kind}" in line)
        luma, blue, red = test_picture.planes(640, 360, 1)
        machine.write("/tmp/in", b"".join([luma.tobytes(), blue[::2].tobytes(), red[::2].tobytes()]) * 3)
        size = "width=640,height=360"
        machine.root(
            f"v4l2-ctl -d {node('encoder')} -x {size},pixelformat=YU12 -v {size},pixelformat=FWHT"
            " --stream-mmap --stream-out-mmap --stream-from=/tmp/in --stream-to=/tmp/coded"
            f" && v4l2-ctl -d {node('decoder')} -x {size},pixelformat=FWHT -v {size},pixelformat=YU12"
            " --stream-mmap --stream-out-mmap --stream-from=/tmp/coded --stream-to=/tmp/out"
        )
        coded, decoded = machine.get("/tmp/coded"), np.frombuffer(machine.get("/tmp/out"), np.uint8)
        found = decoded[: 640 * 360].reshape(360, 640) if len(decoded) >= 640 * 360 * 3 // 2 else None
        if not coded or found is None or np.abs(found.astype(int) - luma).mean() > 8:
            raise Failure(f"{len(coded)} bytes of code, {len(decoded)} of pictures")
