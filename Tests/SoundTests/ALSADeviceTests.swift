import Base
import Frames
import Glibc
import Testing

@testable import Sound

/// The library's device "null" is there without any sound card: it takes everything and gives silence. What cards do is seen in the machine tests.
struct ALSADeviceTests {
  private func now() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  @Test(arguments: [SoundDirection.capture, .playback])
  func aDeviceIsSetUpForBlocks(direction: SoundDirection) throws {
    let device = try ALSADevice(name: "null", label: "nobody", direction: direction, channelCount: 2)
    let configuration = device.configuration
    #expect(configuration.rate == 48_000 && configuration.format == .int16)
    #expect((1...2).contains(configuration.channelCount))
    #expect(configuration.duration(of: configuration.periodFrames) <= .milliseconds(10))
    #expect(configuration.duration(of: configuration.bufferFrames) >= .milliseconds(100))
  }

  @Test func aStreamRunsOnIt() throws {
    let stream = try PlaybackStream(try ALSADevice(name: "null", label: "nobody", direction: .playback))
    let block = UnsafeMutableBufferPointer<Int16>.allocate(capacity: AudioBlock.sampleCount)
    defer { block.deallocate() }
    block.initialize(repeating: 100)
    let due = stream.nextBlockTime(now: now())
    while !stream.needsBlock(now: now()) { stream.wait(until: due, now: now()) }
    #expect(now() >= due)
    _ = try stream.write(UnsafeBufferPointer(block), now: due)
    #expect(stream.figures.frames > 480, "what is kept in the ring, and the block")
    #expect(stream.figures.xruns == 0)
  }

  @Test func whatIsClosedLeavesNothingOpen() throws {
    func descriptors() -> Int { (0..<1_024).count { fcntl(Int32($0), F_GETFD) >= 0 } }
    for _ in 0..<3 { _ = try ALSADevice(name: "null", label: "nobody", direction: .playback) }
    // Other tests open and close files meanwhile, but not that many.
    let before = descriptors()
    for _ in 0..<100 { _ = try ALSADevice(name: "null", label: "nobody", direction: .playback) }
    #expect(descriptors() < before + 90)
  }
}
