import Base

extension Wayland {
  /// `wp_presentation`: tells when pictures reached the screen, on `CLOCK_MONOTONIC`.
  final class Presentation: Resource, BoundResource {
    enum Request: UInt16 { case destroy, feedback }

    override var interface: String { "wp_presentation" }

    /// CLOCK_MONOTONIC on Linux.
    func wasBound() { post(0, .uint(1)) }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .destroy: destroy()
      case .feedback:
        let surface = try arguments.object(Surface.self)
        let feedback = try client.add(PresentationFeedback(client, id: try arguments.newID(), version: version))
        surface.pending.feedbacks.append(feedback)
      case nil: throw unknown(opcode)
      }
    }
  }

  /// `wp_presentation_feedback`: what became of one commit.
  final class PresentationFeedback: Resource {
    enum Event: UInt16 { case syncOutput, presented, discarded }

    override var interface: String { "wp_presentation_feedback" }

    /// The picture was shown at `time`, in a refresh of the given length and number.
    func present(at time: Instant, refresh: Interval, sequence: Int) {
      for output in client.outputs { post(Event.syncOutput.rawValue, .object(output)) }
      let time = max(0, time.nanoseconds)
      let (seconds, nanoseconds) = (UInt64(time / 1_000_000_000), UInt32(time % 1_000_000_000))
      let count = UInt64(bitPattern: Int64(sequence))
      post(
        Event.presented.rawValue, .uint(UInt32(seconds >> 32)), .uint(UInt32(truncatingIfNeeded: seconds)), .uint(nanoseconds),
        .uint(UInt32(clamping: refresh.nanoseconds)), .uint(UInt32(count >> 32)), .uint(UInt32(truncatingIfNeeded: count)), .uint(0))
      destroy()
    }

    /// The picture was never shown.
    func discard() {
      post(Event.discarded.rawValue)
      destroy()
    }
  }
}
