import Base
import Bytes
import CReference
import SCTP

/// Messages over an association, without DTLS and sockets.
enum SCTPBenchmarks {
  private static let messageSize = 16_384

  static func run(_ settings: Benchmark.Settings) throws -> [Figure] {
    guard let reference = reference_sctp_new() else { throw Benchmark.Failure(description: "usrsctp has no memory") }
    defer { reference_sctp_free(reference) }
    guard reference_sctp_transfer(reference, 64) == 64 else { throw Benchmark.Failure(description: "usrsctp did not connect to itself") }
    let pair = try AssociationPair()
    let message = [UInt8](repeating: 9, count: messageSize)
    let comparison = Comparison(
      name: "sctp", metric: "messages of 16 KiB, both ends, with checksums", operations: "messages", reference: "usrsctp")
    return [
      comparison.measure(runs: settings.runs ?? 11) { rounds in
        pair.transfer(message, count: rounds * 16)
      } reference: { rounds in
        reference_sctp_transfer(reference, rounds * 16)
      }
    ]
  }

  /// Two associations that have each other's packets at once, in virtual time.
  private final class AssociationPair {
    private var sender: Association
    private var receiver: Association
    private var channel: ChannelIdentifier
    private var now = Instant.zero
    private let packet = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_048, alignment: 64)

    init() throws {
      var configuration = Association.Configuration()
      configuration.offersZeroChecksum = false
      sender = Association(configuration: configuration, isDTLSClient: true, seed: 1)
      receiver = Association(configuration: configuration, isDTLSClient: false, seed: 2)
      sender.setRemoteMaximumMessageSize(configuration.maximumMessageSize)
      channel = try sender.open(ChannelOptions())
      sender.start(now: now)
      receiver.start(now: now)
      for _ in 0..<100 where sender.state != .connected || receiver.state != .connected { step() }
      guard sender.state == .connected else { throw Benchmark.Failure(description: "the two ends did not connect in memory") }
    }

    deinit { packet.deallocate() }

    /// Sends messages and returns how many arrived.
    func transfer(_ message: [UInt8], count: Int) -> Int {
      var (sent, arrived, idle) = (0, 0, 0)
      while arrived < count, idle < 1_000 {
        while sent < count, sender.bufferedAmount(of: channel) < 1 << 20,
          (try? sender.send(message.span.bytes, isText: false, on: channel, now: now)) != nil
        {
          sent += 1
        }
        let before = arrived
        arrived += step()
        idle = arrived == before ? idle + 1 : 0
      }
      return arrived
    }

    /// Passes on what waits on both sides and a millisecond's timers. Returns how many messages came out.
    @discardableResult private func step() -> Int {
      var messages = 0
      now += .milliseconds(1)
      sender.handleTimeout(now: now)
      receiver.handleTimeout(now: now)
      var span = packet.mutableBytes
      var isBusy = true
      while isBusy {
        isBusy = false
        while let count = sender.pollTransmit(into: &span, now: now) {
          receiver.receive(span.bytes.extracting(0..<count), now: now)
          isBusy = true
          while let event = receiver.pollEvent() { if case .message = event { messages += 1 } }
          // The receiver acknowledges as soon as it may, as over a socket.
          while let count = receiver.pollTransmit(into: &span, now: now) { sender.receive(span.bytes.extracting(0..<count), now: now) }
        }
        while let count = receiver.pollTransmit(into: &span, now: now) {
          sender.receive(span.bytes.extracting(0..<count), now: now)
          isBusy = true
        }
        while sender.pollEvent() != nil {}
      }
      return messages
    }
  }
}
