// SDP
