import Base
import JitterBuffer
import RTP
import WebRTC

// Sound and pictures of one stream stay together, and are as late as the application wishes.
extension PeerSession {
  private static let synchronizationInterval = Interval.milliseconds(100)

  /// Takes note of where a picture's playout stands.
  func notePicture(_ receiver: VideoReceiver, of identifier: TransceiverIdentifier, now: Instant) {
    guard let position = receiver.takePosition(), let clock = connection.senderClock(of: identifier) else { return }
    receiver.lipSync.notePicture(position, clock: clock, now: now)
  }

  /// Moves the delays of all that arrives to where they should be. Called with each packet; does something ten times a second.
  func synchronize(now: Instant) {
    guard synchronized.map({ now - $0 >= PeerSession.synchronizationInterval }) ?? true else { return }
    synchronized = now
    var delays: [TransceiverIdentifier: Interval] = [:]
    for (identifier, receiver) in videoReceivers {
      receiver.schedule.requestedDelay = requestedDelay(of: identifier)
      let sound = connection.sound(of: identifier)
      if let sound, let position = audioReceivers[sound]?.position, let clock = connection.senderClock(of: sound) {
        receiver.lipSync.noteSound(position, clock: clock, now: now)
      }
      receiver.lipSync.update(now: now)
      receiver.schedule.synchronizationDelay = receiver.lipSync.delays.video
      if let sound { delays[sound] = max(delays[sound] ?? .zero, receiver.lipSync.delays.audio) }
    }
    for (identifier, receiver) in audioReceivers {
      receiver.setDelays(requested: requestedDelay(of: identifier), synchronization: delays[identifier] ?? .zero)
    }
  }

  private func requestedDelay(of identifier: TransceiverIdentifier) -> Interval {
    .seconds((connection.transceiver(identifier)?.jitterBufferTarget ?? 0) / 1_000)
  }

  /// W3C `estimatedPlayoutTimestamp`: which moment of the sender's time is heard or seen now, in milliseconds since 1900.
  func estimatedPlayoutTimestamp(_ position: PlayoutPosition?, of identifier: TransceiverIdentifier, now: Instant) -> StatisticValue? {
    guard let position, let clock = connection.senderClock(of: identifier) else { return nil }
    let captured = Double(clock.captureTime(of: position.timestamp).bits) / 4_294_967.296
    return .number(captured + (now - position.time).milliseconds)
  }
}

extension PeerConnection {
  /// The sound that belongs to a picture: of a stream that both are part of, or the only one where the peer names no streams.
  func sound(of video: TransceiverIdentifier) -> TransceiverIdentifier? {
    guard let streams = transceiver(video)?.receiveStreamIdentifiers else { return nil }
    let sounds = transceivers.filter { $0.kind == .audio && $0.currentDirection?.receives == true }
    if streams.isEmpty { return sounds.count == 1 && sounds[0].receiveStreamIdentifiers.isEmpty ? sounds[0].identifier : nil }
    return sounds.first { $0.receiveStreamIdentifiers.contains { streams.contains($0) } }?.identifier
  }
}
