import Testing

@testable import WebRTC
