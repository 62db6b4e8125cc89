import Testing

@testable import Base
