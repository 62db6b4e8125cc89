import Testing

@testable import Sound
