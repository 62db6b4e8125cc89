"""A front end published on PyPI (`streamlit-webrtc`, in a frame of the page that Streamlit serves) with aiortc behind it: the visitor's picture comes back."""

import os
import sys

import numpy as np

from kiosk import Kiosk
from servers import Server, free_port

HERE = os.path.dirname(os.path.abspath(__file__))


class Streamlit(Server):
    """`async with Streamlit(directory) as server`: the application of mirror_app.py at `server.origin`."""

    def __init__(self, directory):
        self.directory = directory

    async def __aenter__(self):
        port = free_port()
        self.origin = f"http://localhost:{port}"
        os.environ["HOME"] = self.directory  # Streamlit keeps a file there
        await self.launch(
            [sys.executable, "-m", "streamlit", "run", os.path.join(HERE, "mirror_app.py"), "--server.headless", "true", "--server.port", str(port),
             "--server.address", "127.0.0.1", "--browser.gatherUsageStats", "false"], port, os.path.join(self.directory, "streamlit.log"))
        return self


def box(mask, least):
    """The bounding box of the rows and columns in which at least `least` pixels are set: x, y, width, height."""
    columns, rows = np.flatnonzero(mask.sum(0) >= least), np.flatnonzero(mask.sum(1) >= least)
    if not len(columns) or not len(rows):
        return None
    return int(columns[0]), int(rows[0]), int(columns[-1] - columns[0] + 1), int(rows[-1] - rows[0] + 1)


def red_button(picture):
    red, green, blue = np.moveaxis(picture.astype(int), 2, 0)
    return box((red > 180) & (green < 100) & (blue < 120), 20)


def coloured(picture):
    """What is neither white nor a light grey, below the page's head."""
    mask = picture.astype(int).min(2) < 215
    mask[:70] = False
    mask[:, 1265:] = False
    return box(mask, 120)


async def mirror(directory):
    async with Streamlit(directory) as server:
        async with Kiosk(directory, server.origin + "/", granted=[server.origin]) as kiosk:
            await kiosk.wait("the page", lambda status: status.get("state") == "ready")
            button = await kiosk.sees("the button that starts", red_button)
            await kiosk.tap(button[0] + button[2] // 2, button[1] + button[3] // 2)
            place = await kiosk.sees("the picture that comes back", lambda picture: (found := coloured(picture)) and found[2] > 600 and found[3] > 300 and found)
            await kiosk.moving_video(place[0], place[1], place[2], place[2] * 9 // 16, "the mirrored picture")
