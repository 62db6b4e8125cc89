import Base
import Frames
import Net
import WebRTC

extension PeerSession {
  /// The W3C statistics report, with what encoders, decoders and jitter buffers counted.
  public func statistics() -> StatisticsReport {
    loop.checkIsolated()
    var codecs: [TransceiverIdentifier: CodecStatistics] = [:]
    for (identifier, counts) in encoded { codecs[identifier, default: CodecStatistics()].outbound = members(counts, senders[identifier]) }
    for (identifier, receiver) in videoReceivers { codecs[identifier, default: CodecStatistics()].inbound = members(receiver) }
    for (identifier, receiver) in audioReceivers { codecs[identifier, default: CodecStatistics()].inbound = members(receiver) }
    let now = MonotonicClock.now()
    let positions = videoReceivers.mapValues(\.position).merging(audioReceivers.mapValues(\.position)) { $1 }
    for (identifier, position) in positions {
      codecs[identifier]?.inbound["estimatedPlayoutTimestamp"] = estimatedPlayoutTimestamp(position, of: identifier, now: now)
    }
    for (identifier, sender) in senders {
      codecs[identifier, default: CodecStatistics()].source = sender.figures.members(isVideo: sender.isVideo, now: now)
    }
    return connection.statistics(codecs: codecs, playout: playoutMembers, now: now)
  }

  /// The W3C `media-playout` dictionary of the loudspeaker that sound is played on.
  private var playoutMembers: [String: StatisticValue] {
    guard !audioReceivers.isEmpty, let playout = plan.playing.values.first?.playout else { return [:] }
    let count = playout.blockCount
    return [
      "totalSamplesCount": .integer(count * AudioBlock.sampleCount), "totalSamplesDuration": .number(Double(count) * 0.01),
      "synthesizedSamplesDuration": .number(0), "synthesizedSamplesEvents": .integer(0),
      "totalPlayoutDelay": .number(playout.figures.totalDelay),
    ]
  }

  /// Counts of everything that was dropped or refused, by reason.
  public var discards: Counters {
    var result = connection.discards
    result.add(counters)
    return result
  }

  private func members(_ counts: EncoderFigures, _ sender: Sender?) -> [String: StatisticValue] {
    var members: [String: StatisticValue] = [
      "framesEncoded": .integer(counts.framesEncoded), "keyFramesEncoded": .integer(counts.keyFramesEncoded),
      "qpSum": .integer(counts.quantizerSum), "totalEncodeTime": .number(counts.totalEncodeTime.seconds),
      "frameWidth": .integer(counts.frameWidth), "frameHeight": .integer(counts.frameHeight),
    ]
    if let rate = counts.rate.perSecond(now: MonotonicClock.now()) { members["framesPerSecond"] = .number(rate) }
    if let implementation = sender?.implementation {
      members["encoderImplementation"] = .text(implementation.name)
      members["powerEfficientEncoder"] = .flag(implementation.isHardware)
    }
    return members
  }

  private func members(_ receiver: VideoReceiver) -> [String: StatisticValue] {
    let implementation = receiver.implementation
    let (decoded, assembled) = (receiver.values, receiver.buffer.counters)
    var members: [String: StatisticValue] = [
      "framesReceived": .integer(assembled.framesReceived), "framesDropped": .integer(assembled.framesDropped + decoded.framesDropped),
      "framesDecoded": .integer(decoded.framesDecoded), "keyFramesDecoded": .integer(decoded.keyFramesDecoded),
      "totalDecodeTime": .number(decoded.totalDecodeTime.seconds), "frameWidth": .integer(decoded.frameWidth),
      "frameHeight": .integer(decoded.frameHeight), "decoderImplementation": .text(implementation.name),
      "powerEfficientDecoder": .flag(implementation.isHardware),
      "freezeCount": .integer(decoded.freezes.freezeCount), "totalFreezesDuration": .number(decoded.freezes.totalFreezesDuration.seconds),
      "decodeErrors": .integer(decoded.decodeErrors), "jitterBufferDelay": .number(decoded.jitterBufferDelay.seconds),
      "jitterBufferTargetDelay": .number(receiver.targetDelay.seconds), "jitterBufferMinimumDelay": .number(0),
      "jitterBufferEmittedCount": .integer(decoded.jitterBufferEmittedCount),
    ]
    if let rate = decoded.rate.perSecond(now: MonotonicClock.now()) { members["framesPerSecond"] = .number(rate) }
    return members
  }

  private func members(_ receiver: AudioReceiver) -> [String: StatisticValue] {
    let counts = receiver.counters
    return [
      "totalSamplesReceived": .integer(counts.totalSamplesReceived), "concealedSamples": .integer(counts.concealedSamples),
      "silentConcealedSamples": .integer(counts.silentConcealedSamples), "concealmentEvents": .integer(counts.concealmentEvents),
      "insertedSamplesForDeceleration": .integer(counts.insertedSamplesForDeceleration),
      "removedSamplesForAcceleration": .integer(counts.removedSamplesForAcceleration),
      "jitterBufferDelay": .number(counts.jitterBufferDelay), "jitterBufferTargetDelay": .number(counts.jitterBufferTargetDelay),
      "jitterBufferMinimumDelay": .number(counts.jitterBufferMinimumDelay),
      "jitterBufferEmittedCount": .integer(counts.jitterBufferEmittedCount), "packetsDiscarded": .integer(counts.packetsDiscarded),
      "audioLevel": .number(counts.audioLevel), "totalAudioEnergy": .number(counts.totalAudioEnergy),
      "totalSamplesDuration": .number(counts.totalSamplesDuration),
    ]
  }
}
