import Base
import Call
import DTLS
import Net
import SCTP
import Synchronization
import WebRTC

/// What a data channel carries.
enum DataChannelBenchmarks {
  static func run(_ settings: Benchmark.Settings) async throws -> [Figure] {
    let runs = settings.runs ?? 3
    let seconds = 2.0
    var (ours, theirs, ratios, cores) = (Samples(), Samples(), Samples(), Samples())
    for _ in 0..<runs {
      let reference = try ChromiumReference.run(calls: 1, seconds: seconds)?.dataMegabits
      let (rate, time) = try await throughput(seconds)
      ours.append(rate)
      cores.append(time)
      guard let reference else { continue }
      theirs.append(reference)
      ratios.append(rate / reference)
    }
    let reference = theirs.values.isEmpty ? nil : Figure.Reference(name: ChromiumReference.name, value: theirs.median)
    return [
      Figure(
        name: "data-channel", metric: "one channel, messages of 16 KiB", value: ours.median, unit: "Mbit/s", reference: reference,
        ratio: reference == nil ? nil : ratios.median, runs: runs, spread: ours.spread, bound: .atLeast(0.5)),
      Figure(
        name: "data-channel", metric: "processor time for that, both ends", value: cores.median, unit: "s/s", runs: runs,
        spread: cores.spread),
    ]
  }

  /// Bytes that arrived, and what the test waits for.
  private final class Progress: Sendable {
    let received = Atomic(0)
    let opened = AsyncStream<String?>.makeStream()
  }

  /// Messages as fast as they go for a while: megabits that arrived per second, and processor seconds per second.
  private static func throughput(_ seconds: Double) async throws -> (rate: Double, cores: Double) {
    let progress = Progress()
    let message = [UInt8](repeating: 9, count: 16_384)
    let call = await LoopbackCall(certificates: (try Certificate.generate(), try Certificate.generate())) { call, event in
      switch event {
      case .message(let count): progress.received.add(count, ordering: .relaxed)
      case .channelOpen(isCaller: false, _): progress.opened.continuation.yield(nil)
      case .channelOpen(isCaller: true, let channel):
        call.caller.withConnection { connection, _ in connection.setBufferedAmountLowThreshold(1 << 18, of: channel) }
        fill(call.caller, channel, message)
      case .bufferedAmountLow(let channel): fill(call.caller, channel, message)
      case .failed(let reason): progress.opened.continuation.yield(reason)
      default: break
      }
    }
    do {
      call.start { session in
        try session.withConnection { connection, _ in
          var options = ChannelOptions()
          options.label = "load"
          _ = try connection.createDataChannel(options)
        }
      }
      for await failure in progress.opened.stream {
        if let failure { throw Benchmark.Failure(description: failure) }
        break
      }
      let (start, before, first) = (MonotonicClock.now(), processTime(), progress.received.load(ordering: .relaxed))
      try await Task.sleep(for: .seconds(seconds))
      let bytes = progress.received.load(ordering: .relaxed) - first
      let elapsed = (MonotonicClock.now() - start).seconds
      let time = processTime() - before
      await call.end()
      return (Double(bytes) * 8 / 1e6 / elapsed, time / elapsed)
    } catch {
      await call.end()
      throw error
    }
  }

  /// Keeps a megabyte waiting, as the page that is compared with does.
  private static func fill(_ session: PeerSession, _ channel: DataChannelIdentifier, _ message: [UInt8]) {
    session.withConnection { connection, now in
      while connection.bufferedAmount(of: channel) < 1 << 20 {
        guard (try? connection.send(message.span.bytes, isText: false, on: channel, now: now)) != nil else { return }
      }
    }
  }
}
