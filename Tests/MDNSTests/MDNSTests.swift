import Testing

@testable import MDNS
