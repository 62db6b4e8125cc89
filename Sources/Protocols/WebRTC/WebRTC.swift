// WebRTC
