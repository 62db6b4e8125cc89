"""What came out of an echo canceller, in figures."""

import math
import warnings

from pesq import pesq
from scipy.signal import resample_poly

from speech import RATE


def reduction(before, after, start, stop):
    """How much weaker the sound is after than before, in dB, between two times in seconds."""
    a, b = int(start * RATE), int(stop * RATE)
    return 10 * math.log10((before[a:b] ** 2).sum() / max((after[a:b] ** 2).sum(), 1e-12))


def quality(wanted, heard, start, stop):
    """PESQ (ITU-T P.862.2, wideband) of what is heard against what was said."""
    a, b = int(start * RATE), int(stop * RATE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pesq(16_000, resample_poly(wanted[a:b], 1, 3), resample_poly(heard[a:b], 1, 3), "wb")
