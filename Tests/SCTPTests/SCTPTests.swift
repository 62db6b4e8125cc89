import Testing

@testable import SCTP
