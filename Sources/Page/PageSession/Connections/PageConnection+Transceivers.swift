import Base
import BridgeMessages
import Call
import Net
import WebRTC

/// The numbers under which a page knows a connection's transceivers, and what each receives.
struct TransceiverNumbers {
  private var identifiers: [UInt32: TransceiverIdentifier] = [:]
  private(set) var numbers: [TransceiverIdentifier: UInt32] = [:]
  /// The track of each transceiver's receiver.
  var receiving: [TransceiverIdentifier: Track] = [:]

  subscript(number: UInt32) -> TransceiverIdentifier? { identifiers[number] }

  mutating func add(_ identifier: TransceiverIdentifier, as number: UInt32) {
    identifiers[number] = identifier
    numbers[identifier] = number
  }

  mutating func remove(_ identifier: TransceiverIdentifier) {
    if let number = numbers.removeValue(forKey: identifier) { identifiers[number] = nil }
    receiving[identifier] = nil
  }
}

extension PageConnection {
  func add(_ message: TransceiverAdd) throws(ReplyError) {
    guard transceivers[message.transceiver] == nil, transceivers.numbers.count < Document.limit else {
      throw ReplyError("OperationError", "transceiver \(message.transceiver) cannot be made")
    }
    let track = try track(message.track, kind: message.kind)
    let encodings = try message.encodings.map { encodings throws(ReplyError) in
      var made: [SendEncoding] = []
      for encoding in encodings { made.append(try SendEncoding(encoding)) }
      return made
    }
    let identifier = try perform { connection, _ throws(PeerConnectionError) in
      try connection.addTransceiver(
        MediaKind(message.kind), direction: WebRTC.Direction(message.direction), streams: message.streams,
        trackIdentifier: track?.identifier ?? message.trackId, hasTrack: track != nil, isAddedByTrack: message.isAddedByTrack ?? false,
        encodings: encodings.flatMap { $0.isEmpty ? nil : $0 } ?? [SendEncoding()])
    }
    transceivers.add(identifier, as: message.transceiver)
    receive(identifier, kind: message.kind, as: message.receivingTrack)
    if let source = track?.senderSource { session.send(source, on: identifier) }
    followParameters(identifier)
  }

  func set(_ message: TransceiverSet) throws(ReplyError) {
    let identifier = try transceiver(message.transceiver)
    try perform { connection, _ throws(PeerConnectionError) in
      if let streams = message.streams { try connection.setStreams(streams, of: identifier) }
      if let isAddedByTrack = message.isAddedByTrack { connection.setAddedByTrack(isAddedByTrack, of: identifier) }
      if let direction = message.direction { try connection.setDirection(WebRTC.Direction(direction), of: identifier) }
      if let target = message.jitterBufferTarget { try connection.setJitterBufferTarget(target.wrappedValue, of: identifier) }
      if let codecs = message.codecs {
        try connection.setCodecPreferences(try PageConnection.capabilities(codecs, among: connection.configuration.codecs), of: identifier)
      }
    }
  }

  /// The capabilities that a page's codecs name. A repair codec that comes with every codec here is nothing to prefer.
  private static func capabilities(
    _ codecs: [Codec], among known: [CodecCapability]
  ) throws(PeerConnectionError) -> [CodecCapability] {
    var result: [CodecCapability] = []
    for codec in codecs where !["rtx", "red", "ulpfec"].contains(where: { codec.mimeType.lowercased().hasSuffix("/" + $0) }) {
      let match = known.first {
        $0.mimeType.lowercased() == codec.mimeType.lowercased() && $0.clockRate == codec.clockRate && $0.channelCount == codec.channels
          && $0.parameters == codec.sdpFmtpLine ?? ""
      }
      guard let match else { throw PeerConnectionError(.invalidModification, "\(codec.mimeType) is not among the capabilities") }
      result.append(match)
    }
    return result
  }

  func stop(_ message: TransceiverStop) throws(ReplyError) {
    let identifier = try transceiver(message.transceiver)
    try perform { connection, _ throws(PeerConnectionError) in try connection.stop(identifier) }
    session.send(nil, on: identifier)
  }

  func setTrack(_ message: SenderSetTrack) throws(ReplyError) -> NoValue {
    let identifier = try transceiver(message.transceiver)
    let kind: TrackKind = session.connection.transceiver(identifier)?.kind == .audio ? .audio : .video
    let track = try track(message.track, kind: kind)
    try perform { connection, _ throws(PeerConnectionError) in try connection.setTrack(track?.identifier, of: identifier) }
    session.send(track?.senderSource, on: identifier)
    return NoValue()
  }

  func setParameters(_ message: SenderSetParameters) throws(ReplyError) -> NoValue {
    let identifier = try transceiver(message.transceiver)
    var parameters = SendParameters(encodings: [], degradationPreference: nil)
    for encoding in message.encodings { parameters.encodings.append(try SendEncoding(encoding)) }
    if let preference = message.degradationPreference {
      guard let known = DegradationPreference(rawValue: preference) else {
        throw ReplyError("TypeError", "“\(preference)” is no degradation preference")
      }
      parameters.degradationPreference = known
    }
    try perform { [parameters] connection, _ throws(PeerConnectionError) in try connection.setParameters(parameters, of: identifier) }
    followParameters(identifier)
    return NoValue()
  }

  func insertTones(_ message: SenderTones) throws(ReplyError) {
    let identifier = try transceiver(message.transceiver)
    func milliseconds(_ value: Int) -> Interval { .milliseconds(Int64(min(max(value, 0), 10_000))) }
    try perform { connection, now throws(PeerConnectionError) in
      try connection.insertTones(
        message.tones, duration: milliseconds(message.duration), gap: milliseconds(message.gap), on: identifier, now: now)
    }
  }

  func sources(_ number: UInt32) -> SourcesReply {
    guard let identifier = transceivers[number] else { return SourcesReply() }
    let now = MonotonicClock.now()
    func described(_ source: RTPSource) -> SourcesReply.Source {
      SourcesReply.Source(
        source: source.source, rtpTimestamp: source.rtpTimestamp, audioLevel: source.audioLevel, age: (now - source.timestamp).milliseconds)
    }
    return SourcesReply(
      synchronization: session.connection.synchronizationSources(of: identifier, now: now).map(described),
      contributing: session.connection.contributingSources(of: identifier, now: now).map(described))
  }

  /// Has the encoder keep to what the sender's parameters say.
  func followParameters(_ identifier: TransceiverIdentifier) {
    guard let encoding = session.connection.transceiver(identifier)?.sendParameters.encodings.first else { return }
    var limits = EncodingLimits()
    limits.isActive = encoding.isActive
    limits.maximumBitrate = encoding.maximumBitrate
    limits.maximumFramesPerSecond = encoding.maximumFrameRate
    limits.scaleDownBy = encoding.scaleResolutionDownBy ?? 1
    session.setLimits(limits, on: identifier)
  }

  private func transceiver(_ number: UInt32) throws(ReplyError) -> TransceiverIdentifier {
    guard let identifier = transceivers[number] else {
      throw ReplyError("InvalidStateError", "the connection has no transceiver \(number)")
    }
    return identifier
  }

  private func track(_ number: UInt32?, kind: TrackKind) throws(ReplyError) -> Track? {
    guard let number else { return nil }
    // A track that has ended is known to the page only: nothing is sent.
    guard let track = document.tracks[number] else { return nil }
    guard track.kind == kind else { throw ReplyError("TypeError", "the track is not of kind \(kind.rawValue)") }
    return track
  }

  // MARK: What is received

  /// Makes the track of a transceiver's receiver, and takes what will arrive to it.
  private func receive(_ identifier: TransceiverIdentifier, kind: TrackKind, as named: Snapshot.Transceiver.ReceivingTrack?) {
    let number = named.flatMap { document.tracks[$0.track] == nil ? $0.track : nil } ?? document.nextNumber()
    let name = named?.trackId ?? session.connection.transceiver(identifier)?.receiveTrackIdentifier ?? ""
    let track: Track
    switch kind {
    case .video:
      let pictures = VideoFanOut(keepsNewest: false)
      session.show(identifier) { pictures.put($0) }
      track = Track(number: number, identifier: name, source: .receivedVideo(pictures, session.latency))
    case .audio:
      let received = PlayedSound(gain: 0)
      session.play(identifier, on: document.bridge.playout, as: received)
      track = Track(number: number, identifier: name, source: .receivedAudio(received))
    }
    transceivers.receiving[identifier] = track
    document.tracks[number] = track
  }

  /// Knows the transceivers that a description brought, and forgets those that a rollback took away.
  func followTransceivers() {
    let all = session.connection.transceivers
    for transceiver in all where transceivers.numbers[transceiver.identifier] == nil {
      transceivers.add(transceiver.identifier, as: document.nextNumber())
      receive(transceiver.identifier, kind: transceiver.kind == .audio ? .audio : .video, as: nil)
    }
    let known = Set(all.map(\.identifier))
    for identifier in transceivers.numbers.keys where !known.contains(identifier) {
      if let track = transceivers.receiving[identifier] { document.tracks.removeValue(forKey: track.number)?.stop() }
      transceivers.remove(identifier)
    }
  }

  func described(_ transceiver: Transceiver) -> Snapshot.Transceiver? {
    guard let number = transceivers.numbers[transceiver.identifier], let track = transceivers.receiving[transceiver.identifier] else {
      return nil
    }
    return Snapshot.Transceiver(
      transceiver: number, kind: track.kind, mid: transceiver.mid, direction: TransceiverDirection(transceiver.direction),
      currentDirection: transceiver.currentDirection.map { TransceiverDirection($0) }, isStopped: transceiver.isStopped,
      receivingTrack: .init(track: track.number, trackId: track.identifier), remoteStreams: transceiver.receiveStreamIdentifiers,
      remoteIsSending: transceiver.isRemoteSending, senderHasTransport: transceiver.mid != nil && !transceiver.isStopped,
      codecs: transceiver.negotiatedCodecs.flatMap { Codec.negotiated($0) },
      headerExtensions: transceiver.negotiatedExtensions.map { .init(uri: $0.key.uri, id: Int($0.value)) }.sorted { $0.id < $1.id })
  }

  /// The first packet of a track came.
  func mediaArrived(_ identifier: TransceiverIdentifier) {
    guard let track = transceivers.receiving[identifier] else { return }
    document.send(Receiving(connection: number, track: track.number, isMuted: false))
  }

  /// Sets how loud each received sound is heard.
  func setGains(_ gain: (PlayedSound) -> Double) {
    for track in transceivers.receiving.values {
      if case .receivedAudio(let received) = track.source { received.setGain(gain(received)) }
    }
  }
}

extension MediaKind {
  init(_ kind: TrackKind) { self = kind == .audio ? .audio : .video }
}

extension WebRTC.Direction {
  init(_ direction: TransceiverDirection) {
    self =
      switch direction {
      case .sendrecv: .sendrecv
      case .sendonly: .sendonly
      case .recvonly: .recvonly
      case .inactive: .inactive
      case .stopped: .stopped
      }
  }
}

extension TransceiverDirection {
  init(_ direction: WebRTC.Direction) {
    self =
      switch direction {
      case .sendrecv: .sendrecv
      case .sendonly: .sendonly
      case .recvonly: .recvonly
      case .inactive: .inactive
      case .stopped: .stopped
      }
  }
}

extension SendEncoding {
  init(_ encoding: Encoding) throws(ReplyError) {
    self.init(rid: encoding.rid)
    isActive = encoding.active ?? true
    maximumBitrate = encoding.maxBitrate.map { Int(min(max($0, -1), 1e12)) }
    maximumFrameRate = encoding.maxFramerate
    scaleResolutionDownBy = encoding.scaleResolutionDownBy
    if let name = encoding.priority {
      guard let known = Priority(rawValue: name) else { throw ReplyError("TypeError", "“\(name)” is no priority") }
      priority = known
    }
    if let name = encoding.networkPriority {
      guard let known = Priority(rawValue: name) else { throw ReplyError("TypeError", "“\(name)” is no priority") }
      networkPriority = known
    }
  }
}

extension Codec {
  /// A capability as the page knows it.
  init(_ capability: CodecCapability, payloadType: Int? = nil) {
    self.init(
      payloadType: payloadType, mimeType: capability.mimeType, clockRate: capability.clockRate, channels: capability.channelCount,
      sdpFmtpLine: capability.parameters.isEmpty ? nil : capability.parameters)
  }

  /// A negotiated codec, with its repair codec where there is one.
  static func negotiated(_ codec: NegotiatedCodec) -> [Codec] {
    let repair = codec.retransmissionPayloadType.map {
      Codec(
        payloadType: Int($0), mimeType: "\(codec.capability.kind.rawValue)/rtx", clockRate: codec.capability.clockRate,
        sdpFmtpLine: "apt=\(codec.payloadType)")
    }
    return [Codec(codec.capability, payloadType: Int(codec.payloadType))] + (repair.map { [$0] } ?? [])
  }
}

extension CapabilitiesReply {
  /// What sessions with this configuration can do.
  init(_ session: PeerSession.Configuration) {
    func capabilities(_ kind: MediaKind) -> Capabilities {
      var codecs = session.codecs.filter { $0.kind == kind }.map { Codec($0) }
      if kind == .video { codecs.append(Codec(mimeType: "video/rtx", clockRate: 90_000)) }
      let extensions = PeerConnection.Configuration(certificate: session.certificate).headerExtensions[kind] ?? []
      return Capabilities(codecs: codecs, headerExtensions: extensions.map { .init(uri: $0.uri) })
    }
    self.init(audio: capabilities(.audio), video: capabilities(.video))
  }
}
