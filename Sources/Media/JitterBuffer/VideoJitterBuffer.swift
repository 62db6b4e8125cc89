import Base
import Bytes
import Codecs
import Frames
import RTP

/// Puts RTP packets of one video stream into order and joins them to frames.
///
/// A frame is released when it is whole and everything that it may depend on was released before it: it is a key frame, or it follows the
/// last released frame without a gap in the sequence numbers. A whole next frame never waits. A gap waits for retransmission, for a bounded
/// time; after that the buffer asks for a key frame and goes on with the next one. A whole key frame behind a gap ends the wait at once.
///
/// Sans-IO: packets and the time go in; frames, key-frame requests and the next `deadline` come out.
public struct VideoJitterBuffer: Sendable {
  /// How long the buffer waits for what.
  public struct Configuration: Sendable, Equatable {
    /// How long a gap may hold up the picture while retransmissions are under way; after that a key frame is asked for.
    public var maximumWait = Interval.milliseconds(250)
    /// How long packets may be in wrong order before a whole key frame behind them is preferred, or the lack of a first key frame is complained of.
    public var reorderingWait = Interval.milliseconds(10)
    /// How soon an unanswered key-frame request is repeated.
    public var keyFrameRequestInterval = Interval.milliseconds(300)

    /// The defaults.
    public init() {}
  }

  /// How long the buffer waits for what. May be changed at any time, for example as the round-trip time becomes known.
  public var configuration: Configuration
  /// What happened so far.
  public private(set) var counters = Counters()
  /// Whether the buffer is waiting for a key frame: nothing else would be released.
  public var needsKeyFrame: Bool { head == nil && unwrapper.highest != nil }

  var slots: PacketSlots
  private var depacketizer: Depacketizer
  private var unwrapper = SequenceNumberUnwrapper()
  /// The first packet of the next frame to be released; nil while a key frame is awaited.
  private var head: Int64?
  /// From `head` up to here all packets of the frame are there: progress that need not be checked again.
  private var progress: Int64 = 0
  /// Packets before this one are of no use any more.
  private var floor: Int64 = .min
  /// The missing packet that holds up the picture, and when it was missed first.
  private var gap: (sequence: Int64, since: Instant)?
  /// Packets in which a key frame seems to start, oldest first.
  private var keyFrameStarts: [Int64] = []
  private var hasReleasedKeyFrame = false
  private var requestDue: Instant?
  /// Whether packets came since the last request: a sender that has nothing to send is not asked again and again.
  private var isRequestWanted = false
  private var rotation = VideoFrame.Rotation.none
  private var consecutiveLateCount = 0

  /// A buffer for one stream whose payloads are in `format`, VP8 or H.264.
  public init(format: RTP.PayloadFormat, configuration: Configuration = Configuration()) {
    precondition(format.isVideo, "audio has a buffer of its own")
    self.configuration = configuration
    depacketizer = Depacketizer(format: format)
    slots = PacketSlots()
    keyFrameStarts.reserveCapacity(PacketSlots.maximumKeyFrameStarts + 1)
  }

  /// Lets a gap wait for as long as it takes to ask twice, when the first request or its answer is lost: 250 to 700 ms.
  public mutating func follow(roundTripTime: Interval) {
    configuration.maximumWait = min(max(.milliseconds(250), roundTripTime * 2.5 + .milliseconds(50)), .milliseconds(700))
  }

  // MARK: In

  /// Takes a plain RTP packet, whose `header` was read from it. `rotation` is what its video orientation extension says, if it has one.
  public mutating func insert(_ packet: RawSpan, header: RTP.Header, arrival: Instant, rotation: VideoFrame.Rotation? = nil) {
    guard header.payload.lowerBound >= 0, header.payload.upperBound <= packet.byteCount else {
      counters.packetsMalformed += 1
      return
    }
    let sequence = unwrapper.peek(header.sequenceNumber)
    if let highest = unwrapper.highest {
      if sequence < floor {
        late(sequence, arrival: arrival)
        return
      }
      if sequence > highest + Int64(PacketSlots.count) { restart(at: sequence, arrival: arrival) }
    } else {
      floor = sequence - Int64(PacketSlots.count) / 2  // what was sent before may still come, in wrong order
      requestDue = arrival + configuration.reorderingWait
    }
    consecutiveLateCount = 0
    isRequestWanted = true
    if slots[sequence] != nil {
      counters.packetsDiscarded += 1
      return
    }

    var slot = PacketSlots.Slot(sequence: sequence, timestamp: header.timestamp, arrival: arrival, isMarked: header.isMarked)
    slot.rotation = rotation
    let payload = packet.extracting(header.payload)
    if payload.byteCount == 0 {
      slot.isPadding = true
    } else {
      do throws(MalformedPayload) {
        let descriptor = try depacketizer.descriptor(of: payload)
        slot.isFrameStart = descriptor.isFrameStart
        slot.isKeyFrameStart = descriptor.isKeyFrameStart
        if case .h264 = depacketizer.format { slot.note(H264Contents(payload)) }
      } catch {
        counters.packetsMalformed += 1
        return
      }
      guard payload.byteCount <= PacketSlots.byteCount else {
        counters.packetsDiscarded += 1
        return
      }
    }
    _ = unwrapper.unwrap(header.sequenceNumber)
    if sequence - Int64(PacketSlots.count) >= floor { makeRoom(for: sequence, now: arrival) }
    slots.put(slot, payload: payload)
    if slot.isKeyFrameStart { noteKeyFrameStart(sequence) }
  }

  /// To be called when the decoder failed: nothing is released until the next key frame, which is asked for at once.
  public mutating func requireKeyFrame(now: Instant) {
    guard unwrapper.highest != nil, head != nil else { return }
    awaitKeyFrame(now: now)
  }

  private mutating func late(_ sequence: Int64, arrival: Instant) {
    counters.packetsDiscarded += 1
    // A sender that began anew counts from another number; a late packet comes alone.
    guard floor - sequence > Int64(PacketSlots.count) else { return }
    consecutiveLateCount += 1
    if consecutiveLateCount > 32 {
      unwrapper = SequenceNumberUnwrapper()
      restart(at: sequence, arrival: arrival)
    }
  }

  private mutating func restart(at sequence: Int64, arrival: Instant) {
    passOver(to: floor + Int64(PacketSlots.count))
    slots.removeAll()
    keyFrameStarts.removeAll(keepingCapacity: true)
    floor = sequence
    awaitKeyFrame(now: arrival)
  }

  /// The oldest packets give way. If one of them held up the picture, it is given up.
  private mutating func makeRoom(for sequence: Int64, now: Instant) {
    let oldest = sequence - Int64(PacketSlots.count) + 1
    passOver(to: oldest)
    if let head, head < oldest {
      counters.gapsGivenUp += 1
      awaitKeyFrame(now: now)
    }
  }

  private mutating func noteKeyFrameStart(_ sequence: Int64) {
    keyFrameStarts.removeAll { $0 < floor }
    let position = keyFrameStarts.firstIndex { $0 > sequence } ?? keyFrameStarts.endIndex
    keyFrameStarts.insert(sequence, at: position)
    if keyFrameStarts.count > PacketSlots.maximumKeyFrameStarts { keyFrameStarts.removeFirst() }
  }

  // MARK: Out

  /// The next frame for the decoder, if one can be released by now. To be called until it returns nil, after packets came and at `deadline`.
  public mutating func poll(now: Instant) -> AssembledFrame? {
    while true {
      guard let start = head else {
        guard let start = latestWholeKeyFrame() else { return nil }
        passOver(to: start)
        begin(at: start)
        continue
      }
      if let slot = slots[start], slot.isPadding {
        floor = start + 1
        begin(at: start + 1)
        continue
      }
      if let end = frameEnd(from: start) {
        if let frame = release(start..<end, now: now) { return frame }
        continue
      }
      guard let highest = unwrapper.highest, progress <= highest else {
        gap = nil
        return nil
      }
      noteGap(at: progress, highest: highest)
      guard let since = gap?.since else { return nil }
      if now >= since + configuration.reorderingWait, let keyFrame = latestWholeKeyFrame(), keyFrame > start {
        passOver(to: keyFrame)
        begin(at: keyFrame)
        continue
      }
      guard now >= since + configuration.maximumWait else { return nil }
      counters.gapsGivenUp += 1
      passOver(to: progress)
      awaitKeyFrame(now: now)
    }
  }

  /// When `poll` or `pollKeyFrameRequest` has something to do even if no packet comes; nil when they have not.
  public var deadline: Instant? {
    if head == nil {
      guard isRequestWanted, let requestDue else { return nil }
      return keyFrameUnderWay().map { max($0, requestDue) } ?? requestDue
    }
    guard let gap else { return nil }
    return gap.since + (latestWholeKeyFrame() != nil ? configuration.reorderingWait : configuration.maximumWait)
  }

  /// Whether a key frame should be asked for now (PLI or FIR). True once per request; an unanswered request is repeated while packets come.
  public mutating func pollKeyFrameRequest(now: Instant) -> Bool {
    guard head == nil, isRequestWanted, let due = requestDue, now >= due, latestWholeKeyFrame() == nil else { return false }
    if let end = keyFrameUnderWay(), now < end { return false }
    (requestDue, isRequestWanted) = (now + configuration.keyFrameRequestInterval, false)
    counters.keyFrameRequests += 1
    return true
  }

  // MARK: Frames

  private mutating func begin(at sequence: Int64) {
    (head, progress, gap) = (sequence, sequence, nil)
  }

  private mutating func awaitKeyFrame(now: Instant) {
    (head, gap, requestDue, isRequestWanted) = (nil, nil, now, true)
  }

  /// Until when a key frame that has begun to arrive is trusted to become whole; nil when there is none.
  private func keyFrameUnderWay() -> Instant? {
    guard let start = keyFrameStarts.last, start >= floor, let slot = slots[start] else { return nil }
    return slot.arrival + configuration.maximumWait
  }

  /// The packet behind the frame that starts at `start`; nil while packets of it are missing.
  private mutating func frameEnd(from start: Int64) -> Int64? {
    guard let end = slots.frameEnd(from: start, checkedUpTo: progress) else { return nil }
    switch end {
    case .missing(let sequence):
      progress = sequence
      return nil
    case .end(let sequence): return sequence
    }
  }

  private mutating func noteGap(at sequence: Int64, highest: Int64) {
    if gap?.sequence == sequence { return }
    // The first packet to arrive after it tells since when it is missing. It lies nearby.
    var since: Instant?
    for later in sequence + 1...max(sequence + 1, min(highest, sequence + 64)) {
      if let slot = slots[later] { since = min(since ?? slot.arrival, slot.arrival) }
    }
    guard let since = since ?? slots[highest]?.arrival else { return }
    gap = (sequence, since)
  }

  /// Where the newest whole key frame starts, of those not yet passed.
  private func latestWholeKeyFrame() -> Int64? {
    for candidate in keyFrameStarts.reversed() where candidate >= floor {
      guard let start = slots.keyFrameStart(around: candidate, floor: floor, needsParameterSets: !hasReleasedKeyFrame),
        case .end = slots.frameEnd(from: start, checkedUpTo: start)
      else { continue }
      return start
    }
    return nil
  }

  /// Forgets all packets before `sequence`, and counts the frames that were among them.
  private mutating func passOver(to sequence: Int64) {
    guard let highest = unwrapper.highest, sequence > floor else { return }
    var timestamp: UInt32?
    var isWhole = false
    var position = max(floor, highest - Int64(PacketSlots.count))
    while position < min(sequence, highest + 1) {
      if let slot = slots[position], !slot.isPadding {
        if timestamp != slot.timestamp {
          counters.framesDropped += 1
          (timestamp, isWhole) = (slot.timestamp, slot.isFrameStart)
        }
        if slot.isMarked && isWhole {
          counters.framesReceived += 1
          isWhole = false
        }
      } else {
        isWhole = false
      }
      position += 1
    }
    floor = sequence
  }

  /// Joins the packets of a whole frame. Nil when it cannot be decoded after all: then a key frame is awaited.
  private mutating func release(_ range: Range<Int64>, now: Instant) -> AssembledFrame? {
    let first = slots[range.lowerBound]!
    var bytes: [UInt8] = []
    bytes.reserveCapacity(slots.byteCount(of: range) + 64)
    var ledger = Ledger()
    var (firstArrival, lastArrival, packetCount) = (first.arrival, first.arrival, 0)
    var isKeyFrame = false
    var isGood = first.isFrameStart
    var joiner = depacketizer
    for sequence in range where isGood {
      guard let slot = slots[sequence] else { preconditionFailure("a frame is released whole") }
      if slot.isPadding { continue }
      do throws(MalformedPayload) {
        try joiner.append(slots.payload(of: sequence), to: &bytes)
      } catch {
        counters.packetsMalformed += 1
        isGood = false
      }
      packetCount += 1
      firstArrival = min(firstArrival, slot.arrival)
      lastArrival = max(lastArrival, slot.arrival)
      isKeyFrame = isKeyFrame || slot.isKeyFrameStart
      if let turned = slot.rotation { rotation = turned }
    }
    counters.framesReceived += 1
    floor = range.upperBound
    guard isGood, !bytes.isEmpty, isKeyFrame || hasReleasedKeyFrame else {
      counters.framesDropped += 1
      awaitKeyFrame(now: now)
      return nil
    }
    begin(at: range.upperBound)
    if isKeyFrame {
      hasReleasedKeyFrame = true
      requestDue = nil
      counters.keyFramesReleased += 1
    }
    if packetCount > 1 {
      counters.framesAssembledFromMultiplePackets += 1
      counters.totalAssemblyTime += lastArrival - firstArrival
    }
    counters.jitterBufferDelay += now - firstArrival
    counters.jitterBufferEmittedCount += 1
    ledger[.receive] = lastArrival
    ledger[.assemble] = now
    var encoded = EncodedVideoFrame(bytes: bytes, isKeyFrame: isKeyFrame, ledger: ledger, rotation: rotation)
    if isKeyFrame, depacketizer.format == .vp8, let header = VP8FrameHeader(bytes) {
      (encoded.width, encoded.height) = (header.width, header.height)
    }
    return AssembledFrame(
      encoded: encoded, timestamp: first.timestamp, firstSequenceNumber: UInt16(truncatingIfNeeded: range.lowerBound),
      packetCount: packetCount, firstArrival: firstArrival)
  }
}
