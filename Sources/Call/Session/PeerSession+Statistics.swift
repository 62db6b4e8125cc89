import Base
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
    return connection.statistics(codecs: codecs, now: MonotonicClock.now())
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
    if let name = sender?.implementationName { members["encoderImplementation"] = .text(name) }
    return members
  }

  private func members(_ receiver: VideoReceiver) -> [String: StatisticValue] {
    let (decoded, assembled) = (receiver.values, receiver.buffer.counters)
    return [
      "framesReceived": .integer(assembled.framesReceived), "framesDropped": .integer(assembled.framesDropped + decoded.framesDropped),
      "framesDecoded": .integer(decoded.framesDecoded), "keyFramesDecoded": .integer(decoded.keyFramesDecoded),
      "totalDecodeTime": .number(decoded.totalDecodeTime.seconds), "frameWidth": .integer(decoded.frameWidth),
      "frameHeight": .integer(decoded.frameHeight), "decoderImplementation": .text(receiver.implementationName),
      "freezeCount": .integer(decoded.freezes.freezeCount), "totalFreezesDuration": .number(decoded.freezes.totalFreezesDuration.seconds),
      "decodeErrors": .integer(decoded.decodeErrors),
    ]
  }

  private func members(_ receiver: AudioReceiver) -> [String: StatisticValue] {
    let counts = receiver.counters
    return [
      "totalSamplesReceived": .integer(counts.totalSamplesReceived), "concealedSamples": .integer(counts.concealedSamples),
      "silentConcealedSamples": .integer(counts.silentConcealedSamples), "concealmentEvents": .integer(counts.concealmentEvents),
      "insertedSamplesForDeceleration": .integer(counts.insertedSamplesForDeceleration),
      "removedSamplesForAcceleration": .integer(counts.removedSamplesForAcceleration),
      "jitterBufferDelay": .number(counts.jitterBufferDelay), "jitterBufferTargetDelay": .number(counts.jitterBufferTargetDelay),
      "jitterBufferEmittedCount": .integer(counts.jitterBufferEmittedCount), "packetsDiscarded": .integer(counts.packetsDiscarded),
      "audioLevel": .number(counts.audioLevel), "totalAudioEnergy": .number(counts.totalAudioEnergy),
      "totalSamplesDuration": .number(counts.totalSamplesDuration),
    ]
  }
}
