import Base
import RTP

/// The DTMF tones of one sender: W3C `RTCDTMFSender` (section 7) over RFC 4733, as a value.
///
/// Its owner gives tones and the time, and takes what is to be sent and told; `deadline` says when to come again.
struct ToneSender: Sendable {
  /// What is to be done.
  enum Output: Sendable, Equatable {
    /// A tone begins, with those that are still to come; an empty one tells of the end (W3C `tonechange`).
    case tone(String, rest: String)
    /// A packet of the event that began at `start`, `offset` time stamp units later.
    case packet(TelephoneEvent, start: Instant, offset: UInt32, isMarked: Bool)
  }

  /// The tone that is sent.
  private struct Playing: Sendable {
    var event: UInt8
    var start: Instant
    var end: Instant
    var nextPacket: Instant
    /// Time stamp units of the segments before this one: a duration has 16 bits (RFC 4733 section 2.5.1.3).
    var offset: UInt32 = 0
    var isFirst = true
    /// How many packets that say the end are still to be sent.
    var ends = 3
  }

  /// How far apart packets of one event are.
  private static let packetInterval = Interval.milliseconds(20)
  /// How far apart the repetitions of the last packet are: within the shortest gap between tones.
  private static let repetitionInterval = Interval.milliseconds(10)
  private static let pause = Interval.seconds(2)

  /// The tones that are still to come: W3C `toneBuffer`.
  private(set) var rest = ""
  private var duration = Interval.milliseconds(100)
  private var gap = Interval.milliseconds(70)
  private var nextTone: Instant?
  private var playing: Playing?
  private var outputs = Queue<Output>()

  /// Whether a tone is to be heard now.
  var isPlaying: Bool { playing.map { $0.ends == 3 } ?? false }

  var deadline: Instant? { earliest(nextTone, playing?.nextPacket) }

  /// Replaces the tones that are still to come. One that is sent already ends as it was begun.
  mutating func insert(_ tones: String, duration: Interval, gap: Interval, now: Instant) {
    rest = tones
    // W3C section 7.2: 40 to 6,000 ms, and a gap of at least 30 ms.
    self.duration = min(max(duration, .milliseconds(40)), .milliseconds(6_000))
    self.gap = max(gap, .milliseconds(30))
    if nextTone == nil, !tones.isEmpty { nextTone = now }
  }

  /// Ends all at once, without a word: the sender may not send any more.
  mutating func stop() {
    (rest, nextTone, playing) = ("", nil, nil)
  }

  /// Does what is due; `clockRate` is the event's, in Hz.
  mutating func handleTimeout(clockRate: Int, now: Instant) {
    while let due = deadline, due <= now {
      if let packet = playing?.nextPacket, packet <= due { sendPacket(at: due, clockRate: clockRate) } else { beginTone(at: due) }
    }
  }

  mutating func pollOutput() -> Output? { outputs.popFirst() }

  private mutating func beginTone(at now: Instant) {
    guard !rest.isEmpty else {
      nextTone = nil
      return outputs.append(.tone("", rest: ""))
    }
    let tone = rest.removeFirst()
    if let event = TelephoneEvent.event(for: tone) {
      playing = Playing(event: event, start: now, end: now + duration, nextPacket: now)
      nextTone = now + duration + gap
    } else {
      nextTone = now + ToneSender.pause
    }
    outputs.append(.tone(String(tone), rest: rest))
  }

  private mutating func sendPacket(at now: Instant, clockRate: Int) {
    guard var tone = playing else { return }
    defer { playing = tone.ends > 0 ? tone : nil }
    let total = UInt32(clamping: Int64(((min(now, tone.end) - tone.start).seconds * Double(clockRate)).rounded()))
    while total - tone.offset > UInt32(UInt16.max) {
      outputs.append(
        .packet(TelephoneEvent(event: tone.event, duration: .max), start: tone.start, offset: tone.offset, isMarked: tone.isFirst))
      tone.offset += UInt32(UInt16.max)
      tone.isFirst = false
    }
    let isEnd = now >= tone.end
    outputs.append(
      .packet(
        TelephoneEvent(event: tone.event, isEnd: isEnd, duration: UInt16(total - tone.offset)), start: tone.start, offset: tone.offset,
        isMarked: tone.isFirst))
    tone.isFirst = false
    if isEnd { tone.ends -= 1 }
    tone.nextPacket = isEnd ? now + ToneSender.repetitionInterval : min(now + ToneSender.packetInterval, tone.end)
  }
}
