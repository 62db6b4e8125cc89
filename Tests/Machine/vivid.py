"""vivid, the kernel's emulated video devices: an HDMI input at 60 pictures a second, whose driver does wrong when it is told so."""

MODES = {"current": 0, "no signal": 1, "no lock": 2, "out of range": 3}


class HDMIInput:
    """Pictures of 1280x720 at 60/s until another source is plugged in."""

    def __init__(self, machine):
        self.machine = machine
        machine.root("modprobe vivid n_devs=1 node_types=0x1 num_inputs=1 input_types=0x3 && udevadm settle")
        self.node = machine.wait(self.nodes, 30, "the HDMI input is there")[0]

    def nodes(self):
        search = "for node in /sys/class/video4linux/video*; do ! grep -qs ^vivid $node/name || echo /dev/$(basename $node); done; true"
        return self.machine.root(search).split()

    def control(self, name, value):
        """Sets one of the driver's controls, by the name that v4l2-ctl has for it, while it is in use."""
        self.machine.root(f"v4l2-ctl -d {self.node} --set-ctrl {name}={value}")

    def signal(self, mode):
        """What comes through the cable: one of MODES."""
        self.control("dv_timings_signal_mode", MODES[mode])

    def drop(self, percentage):
        """So many of the pictures are never given; with 100 the driver hangs."""
        self.control("percentage_of_dropped_buffers", percentage)

    def flag(self):
        """The next picture is said to be damaged."""
        self.control("inject_v4l2_buf_flag_error", 1)

    def break_down(self):
        """The stream ends with an error that only closing it mends."""
        self.control("inject_fatal_streaming_error", 1)

    def disconnect(self):
        """The driver refuses everything, as of a device that was pulled out, until nobody has it open any more."""
        self.control("disconnect", 1)

    def unbind(self):
        """The device goes, and all who watch devices are told."""
        self.machine.root("echo vivid.0 >/sys/bus/platform/drivers/vivid/unbind")

    def bind(self):
        self.machine.root("echo vivid.0 >/sys/bus/platform/drivers/vivid/bind && udevadm settle")
        self.node = self.machine.wait(self.nodes, 30, "the HDMI input is back")[0]
