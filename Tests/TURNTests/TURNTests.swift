import Testing

@testable import TURN
