"""AEC3, the echo canceller of today's browsers, as the livekit package has it."""

import numpy as np
from livekit import rtc

BLOCK = 480


def processed(far, microphone):
    """What AEC3 makes of sound at 48 kHz, without any other processing."""
    module = rtc.AudioProcessingModule(echo_cancellation=True, noise_suppression=False, high_pass_filter=False, auto_gain_control=False)
    far, microphone = ((x * 32_768).astype(np.int16) for x in (far, microphone))
    out = np.zeros(len(microphone))
    for start in range(0, len(microphone) - BLOCK + 1, BLOCK):
        played = rtc.AudioFrame(far[start : start + BLOCK].tobytes(), 48_000, 1, BLOCK)
        module.process_reverse_stream(played)
        module.set_stream_delay_ms(0)
        captured = rtc.AudioFrame(microphone[start : start + BLOCK].tobytes(), 48_000, 1, BLOCK)
        module.process_stream(captured)
        out[start : start + BLOCK] = np.frombuffer(captured.data, np.int16)
    return out / 32_768
