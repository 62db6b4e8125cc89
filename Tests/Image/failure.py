"""What all tests of the image share."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WORK = os.path.join(ROOT, ".build/image-tests")
sys.path.insert(0, os.path.join(ROOT, "Image"))


class Failure(Exception):
    """What a user would notice is not as it should be."""
