"""Which calls are made, as data. `SUBJECT` stands for the program under test: parlor, unless the runner is told otherwise."""

from dataclasses import dataclass

SUBJECT = "SUBJECT"


@dataclass(frozen=True)
class Call:
    """A call between two peer programs with one media section each way, and a data channel."""

    offerer: str
    answerer: str
    codec: str = "vp8"
    audio: str = "opus"
    video: bool = True
    data: bool = True
    relay: str = ""
    """The subject uses nothing but an address relayed by coturn, which it reaches over `udp`, `tcp` or `tls`."""
    both_relay: bool = False
    """The other side as well."""
    hidden_addresses: bool = False
    """Chromium and the subject give `.local` names in place of their addresses."""
    packetization_mode: int = 1
    """Of H.264 (RFC 6184 section 6)."""

    @property
    def name(self):
        media = " ".join(filter(None, [self.codec if self.video else "", self.audio if self.audio != "none" else "", "data" if self.data else ""]))
        how = f", relayed over {self.relay}" + (" on both sides" if self.both_relay else "") if self.relay else ""
        how += ", addresses hidden" if self.hidden_addresses else ""
        how += ", packetization mode 0" if self.packetization_mode == 0 else ""
        return f"{self.offerer} calls {self.answerer}: {media}{how}"


@dataclass(frozen=True)
class DirectCall:
    """The whole program publishes with WHIP and plays with WHEP, with an independent peer behind both."""

    peer: str
    codec: str = "vp8"
    https: bool = False
    redirected: bool = False

    @property
    def name(self):
        how = ", over HTTPS with an authority from the configuration" if self.https else ""
        how += ", redirected" if self.redirected else ""
        return f"WHIP and WHEP with {self.peer}: {self.codec}{how}"


@dataclass(frozen=True)
class RefusedCall:
    """The endpoint answers with an error: the program says which, and keeps on trying."""

    status: int
    code: str

    @property
    def name(self):
        return f"WHIP answered with {self.status}: {self.code}"


SCENARIOS = [
    # Every codec, in both directions of the offer, with the browser that pages are written for.
    Call(SUBJECT, "chromium", "vp8"),
    Call("chromium", SUBJECT, "vp8"),
    Call(SUBJECT, "chromium", "h264"),
    Call("chromium", SUBJECT, "h264"),
    Call(SUBJECT, "chromium", "h264", audio="none", data=False, packetization_mode=0),
    Call(SUBJECT, "chromium", audio="pcmu", video=False, data=False),
    Call("chromium", SUBJECT, audio="pcma", video=False, data=False),
    Call(SUBJECT, "chromium", audio="none", video=False, hidden_addresses=True),
    Call("chromium", SUBJECT, audio="none", video=False, hidden_addresses=True),
    Call(SUBJECT, "aiortc", "vp8"),
    Call("aiortc", SUBJECT, "vp8", audio="pcmu"),
    Call(SUBJECT, "aiortc", "h264", audio="pcma"),
    Call("aiortc", SUBJECT, "h264"),
    Call(SUBJECT, "gstreamer", "vp8"),
    Call("gstreamer", SUBJECT, "vp8", audio="pcmu"),
    Call(SUBJECT, "gstreamer", "h264", audio="pcma"),
    Call("gstreamer", SUBJECT, "h264"),
    Call(SUBJECT, "janus", "vp8"),
    Call(SUBJECT, "janus", "h264", audio="pcma"),
    Call(SUBJECT, "aiortc", relay="udp"),
    Call("aiortc", SUBJECT, relay="tcp"),
    Call(SUBJECT, "aiortc", relay="tls"),
    Call(SUBJECT, "chromium", relay="udp", both_relay=True),
    DirectCall("aiortc", redirected=True),
    DirectCall("chromium", "h264"),
    DirectCall("aiortc", "h264", https=True),
    RefusedCall(401, "call.unauthorized"),
    RefusedCall(403, "call.forbidden"),
    RefusedCall(404, "call.not-found"),
]
