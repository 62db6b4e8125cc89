import Testing

@testable import JitterBuffer
