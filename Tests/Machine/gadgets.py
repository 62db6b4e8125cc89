"""USB cameras and sound cards: devices that the guest's kernel emulates and plugs into an emulated USB controller of its own, so that its ordinary drivers
(uvcvideo, snd-usb-audio) find them. What a camera sees comes from camera_feeder.c; what a sound card's microphone hears, and what is to be heard from its
loudspeaker, passes through a sound card at the other end, UAC2Gadget.
"""

import hashlib
import os
import subprocess

from machine import HERE, WORK, MachineError, Program, exclusively

CONFIGURATION = "/sys/kernel/config/usb_gadget"

# One controller for each, so that they can be unplugged one by one.
CONTROLLERS = "modprobe -a libcomposite uvcvideo snd-usb-audio && modprobe dummy_hcd num=2; mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config"

DEVICE = f"""
set -e
{{load}}
mkdir {CONFIGURATION}/{{name}}; cd {CONFIGURATION}/{{name}}
echo 0x1d6b >idVendor; echo {{product}} >idProduct; echo 0x0100 >bcdDevice; echo 0x0200 >bcdUSB
echo 0xEF >bDeviceClass; echo 2 >bDeviceSubClass; echo 1 >bDeviceProtocol
mkdir strings/0x409 configs/c.1 configs/c.1/strings/0x409
echo {{serial}} >strings/0x409/serialnumber; echo Parlor >strings/0x409/manufacturer; echo '{{title}}' >strings/0x409/product
echo one >configs/c.1/strings/0x409/configuration
"""

# The numbers of formats and frames are those of camera_feeder.c. The sizes of YUYV and MJPEG at USB 2's rates: what doesn't fit comes less often.
CAMERA = """
camera=functions/uvc.camera
mkdir $camera
frame() {
  mkdir -p $camera/streaming/$1/$2
  echo $3 >$camera/streaming/$1/$2/wWidth; echo $4 >$camera/streaming/$1/$2/wHeight; echo $5 >$camera/streaming/$1/$2/dwDefaultFrameInterval
  echo $5 >$camera/streaming/$1/$2/dwFrameInterval; echo $(($3 * $4 * 2)) >$camera/streaming/$1/$2/dwMaxVideoFrameBufferSize
}
frame uncompressed/yuyv 1-360p 640 360 333333
frame uncompressed/yuyv 2-720p 1280 720 1000000
frame mjpeg/mjpeg 1-360p 640 360 333333
frame mjpeg/mjpeg 2-720p 1280 720 666666
mkdir $camera/streaming/header/h $camera/control/header/h
ln -s $PWD/$camera/streaming/uncompressed/yuyv $camera/streaming/header/h/1
ln -s $PWD/$camera/streaming/mjpeg/mjpeg $camera/streaming/header/h/2
{more}
for speed in fs hs ss; do ln -s $PWD/$camera/streaming/header/h $camera/streaming/class/$speed/h; done
for speed in fs ss; do ln -s $PWD/$camera/control/header/h $camera/control/class/$speed/h; done
echo 3072 >$camera/streaming_maxpacket; echo 1 >$camera/streaming_interval
ln -s $PWD/$camera configs/c.1/
"""

# This gadget has no formats based on frames, as coded ones are: H.264 goes as if it was raw, by its identifier, each picture of the length that four bits a pixel make.
H264 = r"""
frame uncompressed/h264 1-360p 640 360 666666
printf 'H264\0\0\020\0\200\0\0\252\0\070\233\161' >$camera/streaming/uncompressed/h264/guidFormat
echo 4 >$camera/streaming/uncompressed/h264/bBitsPerPixel
ln -s $PWD/$camera/streaming/uncompressed/h264 $camera/streaming/header/h/3
"""

SOUND_CARD = """
card=functions/uac2.sound
mkdir $card
echo 48000 >$card/p_srate; echo 48000 >$card/c_srate; echo {capture} >$card/p_chmask; echo {playback} >$card/c_chmask
ln -s $PWD/$card configs/c.1/
"""


class Gadget:
    """A USB device that is built and plugged in."""

    def __init__(self, machine, name, controller):
        self.machine, self.name, self.controller = machine, name, controller
        self.plug()

    def plug(self):
        self.machine.root(f"echo dummy_udc.{self.controller} >{CONFIGURATION}/{self.name}/UDC")

    def unplug(self):
        self.machine.root(f"echo '' >{CONFIGURATION}/{self.name}/UDC")


class Camera(Gadget):
    """A camera of 640x360 at 30 and 1280x720 at 15 frames/s (10 as YUYV), with a control for brightness. One that is `coding` has H.264 too, 640x360 at 15."""

    def __init__(self, machine, coding=False):
        device = DEVICE.format(load=CONTROLLERS, name="camera", product="0x0104", serial="0001", title="Test Camera")
        machine.root(device + CAMERA.replace("{more}", H264 if coding else ""))
        machine.put(tool("camera_feeder.c", "-lturbojpeg", "-lopenh264"), "/usr/local/bin/camera-feeder")
        self.feeder = Program(machine, "chmod +x /usr/local/bin/camera-feeder; exec /usr/local/bin/camera-feeder")
        super().__init__(machine, "camera", 0)

    def tell(self, line):
        """What camera_feeder.c says to the line: its status."""
        return self.feeder.ask(line)

    def node(self, seconds=30):
        """The video device that the host sees, once it is there."""
        search = "for node in /dev/v4l/by-id/*Test_Camera*-video-index0; do [ ! -e $node ] || readlink -f $node; done"
        return self.machine.wait(lambda: self.machine.root(search).strip(), seconds, "the camera is there")


class SoundCard(Gadget):
    """A sound card of 48 kHz; two channels for its loudspeaker, and for its microphone two or one."""

    def __init__(self, machine, channels=2):
        capture = (1 << channels) - 1
        machine.root(
            DEVICE.format(load=CONTROLLERS, name="sound", product="0x0105", serial="0002", title="Test Card") + SOUND_CARD.format(capture=capture, playback=3)
        )
        super().__init__(machine, "sound", 1)

    def index(self, seconds=30):
        """The card's number as the host sees it, once it is there."""
        search = "for card in /proc/asound/card*/usbid; do ! grep -q 1d6b:0105 $card 2>/dev/null || basename $(dirname $card); done; true"
        return int(self.machine.wait(lambda: self.machine.root(search).strip(), seconds, "the sound card is there").removeprefix("card"))


def tool(source, *libraries):
    """A program for the guest, compiled when it isn't yet; its path."""
    path = os.path.join(HERE, source)
    with open(path, "rb") as file:
        key = hashlib.sha256(file.read()).hexdigest()[:12]
    program = os.path.join(WORK, f"{os.path.splitext(source)[0]}-{key}")
    with exclusively():
        if not os.path.exists(program):
            answer = subprocess.run(
                ["cc", "-O2", "-Wall", "-o", program + ".part", path, *libraries], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            if answer.returncode:
                raise MachineError(f"{source} could not be compiled:\n{answer.stdout}")
            os.rename(program + ".part", program)
    return program
