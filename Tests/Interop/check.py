"""What must hold after a call. Each check returns complaints: sentences a user could have said. None depends on how fast the machine is."""

import os

import synthetic


def video(who, camera, recording):
    if not os.path.exists(recording):
        return [f"{who} recorded no picture"], "no video"
    seen = synthetic.measure_video(camera, recording)
    complaints = []
    if seen["frames"] < synthetic.RATE:
        complaints.append(f"{who} showed {seen['frames']} pictures, not even a second's")
    if seen["time_codes"] < 0.95 * seen["frames"]:
        complaints.append(f"{who} could read the time code on {seen['time_codes']} of {seen['frames']} pictures only")
    if seen["backwards"]:
        complaints.append(f"{who} saw time run backwards {seen['backwards']} times")
    if seen["luma_psnr_db"] is None:
        complaints.append(f"{who} saw no picture to compare; the sizes were {seen['sizes']}")
    elif seen["luma_psnr_db"] < 30:
        complaints.append(f"{who} saw a picture with a luma PSNR of {seen['luma_psnr_db']} dB, worst {seen['worst_psnr_db']}")
    return complaints, f"{seen['luma_psnr_db']} dB, {seen['time_codes']}/{seen['frames']} codes"


def audio(who, recording):
    heard = synthetic.measure_audio(recording)
    complaints = []
    if heard["seconds"] < 1:
        return [f"{who} heard {heard['seconds']} s of sound"], "no sound"
    if abs(heard["tone_hz"] - 440) > 3:
        complaints.append(f"{who} heard {heard['tone_hz']} Hz, not 440 Hz")
    # A peer may send mono as stereo with 3 dB less in each channel.
    if heard["level_dbov"] is None or not -28.5 <= heard["level_dbov"] <= -20.5:
        complaints.append(f"{who} heard the tone at {heard['level_dbov']} dBov, not at -24")
    if heard["clicks"] < 2:
        complaints.append(f"{who} heard {heard['clicks']} clicks")
    return complaints, f"{heard['clicks']} clicks"


def audio_measured(who, result):
    """The same from the figures of a peer that records no sound: clicks, and the mean level in -dBov."""
    clicks, level = result.get("audio_clicks", 0), result.get("audio_level")
    complaints = [f"{who} heard {clicks} clicks"] if clicks < 2 else []
    if level is None or not 20.5 <= level <= 28.5:
        complaints.append(f"{who} heard sound at a level of -{level} dBov, not of -24")
    return complaints, f"{clicks} clicks"


def data(peer, share=1.0):
    sent, echoed = peer.result.get("data_sent", 0), peer.result.get("data_echoed", 0)
    if sent == 0:
        return [f"{peer.name} sent no message: the data channel did not open"], "no data"
    if echoed < share * sent:
        return [f"{peer.name} got {echoed} of {sent} messages back unchanged"], f"{echoed}/{sent} echoed"
    return [], f"{echoed}/{sent} echoed"


def relayed(peer):
    """Only relayed addresses may have been given to the other side, in the description as well."""
    candidates = [c["candidate"] for c in peer.candidates if c and c["candidate"]]
    candidates += [line[2:] for d in peer.descriptions for line in d["sdp"].splitlines() if line.startswith("a=candidate:")]
    if not candidates:
        return [f"{peer.name} gave no candidate at all"]
    return [f"{peer.name} gave away another address: {c}" for c in candidates if " typ relay" not in c]
