"""Run by Streamlit: a page whose front end sends the visitor's picture to aiortc behind it, and shows what comes back."""

from streamlit_webrtc import webrtc_streamer

webrtc_streamer(
    key="mirror", media_stream_constraints={"video": {"width": 640, "height": 360}, "audio": False}, rtc_configuration={"iceServers": []})
