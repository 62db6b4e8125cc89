import RTP
import SDP

extension PeerConnection {
  /// W3C `addTransceiver`: a media section of its own in the next offer. Whoever keeps senders of its own (a page) says with `hasTrack` and
  /// `isAddedByTrack` what it decided; by default a track is there when it has a name.
  public mutating func addTransceiver(
    _ kind: MediaKind, direction: Direction = .sendrecv, streams: [String] = [], trackIdentifier: String? = nil,
    hasTrack: Bool? = nil, isAddedByTrack: Bool = false, encodings: [SendEncoding] = [SendEncoding()]
  ) throws(PeerConnectionError) -> TransceiverIdentifier {
    try checkOpen()
    guard direction != .stopped else { throw PeerConnectionError(.type, "a transceiver does not begin stopped") }
    try SendParameters.check(encodings, kind: kind)
    let identifier = negotiation.addTransceiver(
      kind: kind, direction: direction, streams: streams, trackIdentifier: trackIdentifier, isAddedByTrack: isAddedByTrack)
    if let hasTrack { negotiation[identifier]?.hasTrack = hasTrack }
    negotiation.setEncodings(encodings, of: identifier)
    checkNegotiationNeeded()
    return identifier
  }

  /// W3C `addTrack`: sends on a transceiver that is free for it, else on a new one.
  public mutating func addTrack(
    _ kind: MediaKind, streams: [String] = [], trackIdentifier: String? = nil
  ) throws(PeerConnectionError) -> TransceiverIdentifier {
    try checkOpen()
    defer { checkNegotiationNeeded() }
    let free = negotiation.transceivers.firstIndex { $0.kind == kind && !$0.isStopping && !$0.hasTrack && !$0.hasSent }
    guard let free else {
      return negotiation.addTransceiver(
        kind: kind, direction: .sendrecv, streams: streams, trackIdentifier: trackIdentifier, isAddedByTrack: true)
    }
    let receives = negotiation.transceivers[free].direction.receives
    negotiation.transceivers[free].direction = Direction(sends: true, receives: receives)
    negotiation.transceivers[free].sendStreamIdentifiers = streams
    if let trackIdentifier { negotiation.transceivers[free].sendTrackIdentifier = trackIdentifier }
    negotiation.transceivers[free].trackIdentifier = trackIdentifier
    (negotiation.transceivers[free].isAddedByTrack, negotiation.transceivers[free].hasTrack) = (true, true)
    return negotiation.transceivers[free].identifier
  }

  /// W3C `removeTrack`: the transceiver stops sending with the next agreement.
  public mutating func removeTrack(_ identifier: TransceiverIdentifier) throws(PeerConnectionError) {
    try checkOpen()
    guard let direction = negotiation[identifier]?.direction, direction != .stopped else { return }
    negotiation[identifier]?.hasTrack = false
    negotiation[identifier]?.trackIdentifier = nil
    if direction.sends { try setDirection(Direction(sends: false, receives: direction.receives), of: identifier) }
  }

  /// Says which track the sender has, nil for none; the direction stays. A name that a description has carried stays the track's name
  /// there, for the identification tags of a section do not change (RFC 8830 section 3; W3C `replaceTrack`).
  public mutating func setTrack(_ trackIdentifier: String?, of identifier: TransceiverIdentifier) throws(PeerConnectionError) {
    try checkOpen()
    guard var transceiver = negotiation[identifier] else { return }
    guard !transceiver.isStopping || trackIdentifier == nil else {
      throw PeerConnectionError(.invalidState, "the transceiver is stopped")
    }
    (transceiver.hasTrack, transceiver.trackIdentifier) = (trackIdentifier != nil, trackIdentifier)
    if let trackIdentifier, transceiver.mid == nil, !transceiver.hasSent { transceiver.sendTrackIdentifier = trackIdentifier }
    negotiation[identifier] = transceiver
    checkNegotiationNeeded()
  }

  /// W3C `setStreams` and the streams of `addTrack`: the streams that the sent track belongs to, each once.
  public mutating func setStreams(_ streams: [String], of identifier: TransceiverIdentifier) throws(PeerConnectionError) {
    try checkOpen()
    negotiation[identifier]?.sendStreamIdentifiers = streams.enumerated().filter { !streams[..<$0.offset].contains($0.element) }
      .map(\.element)
    checkNegotiationNeeded()
  }

  /// Says that a track was added to the transceiver by `addTrack`, so that a remote offer may take it and a rollback leaves it
  /// (RFC 8829 sections 4.1.10.2 and 5.10).
  public mutating func setAddedByTrack(_ isAddedByTrack: Bool, of identifier: TransceiverIdentifier) {
    negotiation[identifier]?.isAddedByTrack = isAddedByTrack
  }

  /// W3C `RTCRtpTransceiver.direction`.
  public mutating func setDirection(_ direction: Direction, of identifier: TransceiverIdentifier) throws(PeerConnectionError) {
    try checkOpen()
    guard var transceiver = negotiation[identifier] else { return }
    guard !transceiver.isStopping else { throw PeerConnectionError(.invalidState, "the transceiver is stopped") }
    guard direction != .stopped else { throw PeerConnectionError(.type, "a transceiver is stopped by its own call") }
    transceiver.direction = direction
    negotiation[identifier] = transceiver
    checkNegotiationNeeded()
  }

  /// W3C `RTCRtpTransceiver.stop()`: nothing is sent and received from now on; the next offer gives the section up.
  public mutating func stop(_ identifier: TransceiverIdentifier) throws(PeerConnectionError) {
    try checkOpen()
    guard var transceiver = negotiation[identifier], !transceiver.isStopping else { return }
    transceiver.direction = .stopped
    negotiation[identifier] = transceiver
    media.stop(identifier)
    checkNegotiationNeeded()
  }

  /// W3C `setCodecPreferences`: only these codecs, in this order; empty for the default.
  public mutating func setCodecPreferences(
    _ codecs: [CodecCapability], of identifier: TransceiverIdentifier
  ) throws(PeerConnectionError) {
    guard var transceiver = negotiation[identifier] else { return }
    let known = configuration.codecs.filter { $0.kind == transceiver.kind }
    for codec in codecs where !known.contains(codec) {
      throw PeerConnectionError(
        .invalidModification, "\(codec.mimeType) is not among this connection's \(transceiver.kind.rawValue) codecs")
    }
    guard codecs.isEmpty || codecs.contains(where: { !$0.isAuxiliary }) else {
      throw PeerConnectionError(.invalidModification, "the preferences name no media codec")
    }
    transceiver.codecPreferences = codecs.enumerated().filter { !codecs[..<$0.offset].contains($0.element) }.map(\.element)
    negotiation[identifier] = transceiver
    checkNegotiationNeeded()
  }

  // MARK: How it is sent and received

  /// W3C `setParameters`: the encodings keep their number, order and names. An event tells encoders to follow.
  public mutating func setParameters(
    _ parameters: SendParameters, of identifier: TransceiverIdentifier
  ) throws(PeerConnectionError) {
    try checkOpen()
    guard let transceiver = negotiation[identifier] else { return }
    guard !transceiver.isStopping else { throw PeerConnectionError(.invalidState, "the transceiver is stopped") }
    guard parameters.encodings.map(\.rid) == transceiver.sendParameters.encodings.map(\.rid) else {
      throw PeerConnectionError(.invalidModification, "the encodings changed in number, order or name")
    }
    try SendParameters.check(parameters.encodings, kind: transceiver.kind)
    guard parameters != transceiver.sendParameters else { return }
    negotiation[identifier]?.sendParameters = parameters
    media.setParameters(parameters, of: identifier)
    events.append(.sendParametersChange(identifier))
  }

  /// W3C `jitterBufferTarget`, in milliseconds; nil for none.
  public mutating func setJitterBufferTarget(
    _ target: Double?, of identifier: TransceiverIdentifier
  ) throws(PeerConnectionError) {
    if let target, !(0...4_000).contains(target) { throw PeerConnectionError(.range, "the target is not from 0 to 4,000 ms") }
    guard let transceiver = negotiation[identifier], transceiver.jitterBufferTarget != target else { return }
    negotiation[identifier]?.jitterBufferTarget = target
    events.append(.jitterBufferTargetChange(identifier))
  }
}

extension SendParameters {
  /// W3C section 5.2, `setParameters` and `addTransceiver`: what no encoding may be.
  static func check(_ encodings: [SendEncoding], kind: MediaKind) throws(PeerConnectionError) {
    guard encodings.count <= Negotiation.encodingLimit else {
      throw PeerConnectionError(.operation, "a track is sent in \(Negotiation.encodingLimit) encodings at most")
    }
    guard kind == .video || encodings.count <= 1 else { throw PeerConnectionError(.type, "sound is sent in one encoding") }
    guard !encodings.isEmpty else { throw PeerConnectionError(.invalidModification, "there is no encoding") }
    let names = encodings.compactMap(\.rid)
    guard encodings.count == 1 || names.count == encodings.count else {
      throw PeerConnectionError(.type, "of several encodings each has a rid")
    }
    for (index, name) in names.enumerated() {
      guard SendEncoding.isRID(name) else {
        throw PeerConnectionError(.type, "“\(name)” is no rid: 1 to 255 letters and digits")
      }
      if names[..<index].contains(name) { throw PeerConnectionError(.type, "two encodings have the rid \(name)") }
    }
    for encoding in encodings {
      if let scale = encoding.scaleResolutionDownBy, !(scale >= 1), kind == .video {
        throw PeerConnectionError(.range, "scaleResolutionDownBy is 1 or more, not \(scale)")
      }
      if let rate = encoding.maximumFrameRate, !(rate >= 0), kind == .video {
        throw PeerConnectionError(.range, "maxFramerate is 0 or more, not \(rate)")
      }
      if let bitrate = encoding.maximumBitrate, bitrate < 0 {
        throw PeerConnectionError(.range, "maxBitrate is 0 or more, not \(bitrate)")
      }
    }
  }
}
