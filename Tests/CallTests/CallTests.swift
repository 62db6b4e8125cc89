import Testing

@testable import Call
