"""The sample pages of `pages/`: what a visitor does on each, what the page then says, and what stands on the screen."""

# Where sample.css puts the videos of 480 by 270, counted from 0.
PLACES = [(20, 88), (520, 88), (20, 378), (520, 378)]


class Sample:
    """A page with the taps on its buttons, each with what the title must begin with after it, and where the camera must be seen in the end."""

    def __init__(self, page, steps, videos=(), after=()):
        self.page, self.steps, self.videos, self.after = page, steps, videos, after

    async def run(self, kiosk):
        await kiosk.title("ready")
        await self.follow(kiosk, self.steps, 0)
        for index in self.videos:
            # Pictures are fitted into their element: 16 to 9 fills it.
            await kiosk.moving_video(*PLACES[index], 480, 270, f"video {index} of {self.page}")
        await self.follow(kiosk, self.after, len(self.steps))

    async def follow(self, kiosk, steps, first):
        for index, title in enumerate(steps, first):
            await kiosk.button(index)
            await kiosk.title(title)


CALL = ["started 640x360", "connected 640x360 connected connected"]

SAMPLES = {
    "peer-connection": Sample("peer-connection.html", CALL, videos=[0, 1], after=["ended closed"]),
    "adapter": Sample("adapter.html", CALL, videos=[0, 1], after=["ended closed"]),
    "data-channel": Sample(
        "data-channel.html", ["open sample", "echoed grüße ☎ 0,1,2,253,254,255 true buffered 0", "closed closed"]),
    "get-user-media": Sample(
        "get-user-media.html", ["open 640x360 settings 640x360 true true"], videos=[0],
        after=["snapshot of many shades", "stopped false ended", "screen refused: NotAllowedError"]),
    "devices": Sample(
        "devices.html", ["devices true named true kinds audioinput,audiooutput,videoinput granted,granted", "chosen true"], videos=[0],
        after=["refused OverconstrainedError deviceId"]),
    "restart-ice": Sample("restart-ice.html", ["connected co", "restarted true true"], videos=[0]),
    "perfect-negotiation": Sample(
        "perfect-negotiation.html", ["both stable stable 2 2"], videos=[0, 1], after=["channels connected connected"]),
    "multiple": Sample(
        "multiple.html", ["connected connected,connected,connected,connected"], videos=[0, 1, 2], after=["received true,true"]),
    "constraints": Sample(
        "constraints.html", ["connected 640x360"], videos=[0, 1],
        after=["smaller 320x180 true received 320x180", "refused OverconstrainedError width", "limit 150000"]),
    "volume": Sample("volume.html", ["microphone heard", "peer heard", "muted silent"]),
}
