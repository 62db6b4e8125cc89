import Testing

@testable import Net
