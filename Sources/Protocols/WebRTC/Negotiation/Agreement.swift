import RTP
import SDP

/// What offer and answer come to, and the way back when they come to nothing.
extension Negotiation {
  /// Works out what offer and answer came to, for each transceiver.
  mutating func agree(answer: SessionDescription, _ type: DescriptionType, isLocal: Bool) {
    guard let local = localDescription?.description, let remote = remoteDescription?.description else { return }
    for index in sections.indices where index < min(local.media.count, remote.media.count) {
      sections[index].isRejected = local.media[index].isRejected || remote.media[index].isRejected
      guard let identifier = sections[index].transceiver, var transceiver = self[identifier] else { continue }
      if sections[index].isRejected || (!isLocal && isUnbundled(answer, index)) {
        (transceiver.currentDirection, transceiver.negotiated) = (.inactive, nil)
        self[identifier] = transceiver
        // What is refused, or would need a transport of its own, is given up for good; a provisional answer is not the last word.
        if type == .answer { stop(identifier) }
        continue
      }
      let direction = Direction(answer.media[index].direction)
      transceiver.currentDirection = isLocal ? direction : direction.reversed
      transceiver.negotiated = agreement(transceiver, local: local.media[index], remote: remote.media[index])
      if transceiver.currentDirection?.sends == true { transceiver.hasSent = true }
      self[identifier] = transceiver
      if type == .answer { narrowEncodings(of: identifier, local: local.media[index], remote: remote.media[index]) }
    }
  }

  /// Whether an answer left a section out of the bundle, so that it would need a transport of its own.
  private func isUnbundled(_ answer: SessionDescription, _ index: Int) -> Bool {
    let bundled = answer.bundledMids
    if bundled.isEmpty { return answer.media[..<index].contains { !$0.isRejected } }
    return !bundled.contains(sections[index].mid)
  }

  private func agreement(_ transceiver: Transceiver, local: MediaDescription, remote: MediaDescription) -> NegotiatedMedia {
    var media = NegotiatedMedia()
    media.codecs = commonCodecs(transceiver, in: remote).filter { codec in
      local.payloadMaps.contains {
        codec.capability.matches(
          name: $0.encodingName, clockRate: $0.clockRate, channelCount: $0.channels, parameters: local.parameterText($0.payloadType))
      }
    }
    for map in local.payloadMaps {
      let parameters = local.parameterText(map.payloadType)
      if map.encodingName.lowercased() == "rtx" {
        if let associated = CodecCapability.parameter("apt", in: parameters).flatMap({ UInt8($0) }) {
          media.receivePayloadTypes[map.payloadType] = .retransmission(of: associated)
        }
      } else if let ours = codecs.first(where: {
        $0.kind == transceiver.kind
          && $0.matches(name: map.encodingName, clockRate: map.clockRate, channelCount: map.channels, parameters: parameters)
      }) {
        var capability = ours
        capability.parameters = parameters
        capability.feedback = local.feedback.filter { $0.payloadType == map.payloadType }.map(\.value).filter { value in
          remote.feedback.contains { $0.value == value }
        }
        media.receivePayloadTypes[map.payloadType] = .media(capability)
      }
    }
    for mapping in remote.headerExtensions {
      guard let kind = HeaderExtension(uri: mapping.uri), local.headerExtensions.contains(where: { $0.uri == mapping.uri }),
        let identifier = mapping.oneByteIdentifier ?? UInt8(exactly: mapping.identifier)
      else { continue }
      media.extensions[kind] = identifier
    }
    media.isReducedSizeRTCP = local.isRTCPReducedSize && remote.isRTCPReducedSize
    media.bandwidth = remote.bitsPerSecond
    let group = remote.sourceGroups.first { $0.semantics == "FID" && $0.ssrcs.count >= 2 }
    media.remoteSource = group?.ssrcs[0] ?? remote.sources.first?.ssrc
    media.remoteRetransmissionSource = group?.ssrcs[1]
    return media
  }

  /// Ends a transceiver for good (W3C "stop the RTCRtpTransceiver").
  mutating func stop(_ identifier: TransceiverIdentifier) {
    guard var transceiver = self[identifier] else { return }
    (transceiver.direction, transceiver.currentDirection, transceiver.negotiated) = (.stopped, .stopped, nil)
    self[identifier] = transceiver
  }

  /// What is left to do once both sides agree: stopped transceivers go, and the way back is forgotten.
  mutating func settle() {
    stable = []
    guard let local = currentLocal?.description, let remote = currentRemote?.description else { return }
    transceivers.removeAll { transceiver in
      guard transceiver.isStopping else { return false }
      guard let index = sections.firstIndex(where: { $0.transceiver == transceiver.identifier }) else { return true }
      guard local.media[index].isRejected || remote.media[index].isRejected else { return false }
      sections[index].transceiver = nil
      return true
    }
    // A peer that refused data channels is not asked again until the next one is created.
    if currentLocal?.type == .offer, sections.contains(where: { $0.kind == .application }), !hasAcceptedData { wantsData = false }
  }

  /// Whether a data section is in force.
  var hasAcceptedData: Bool { sections.contains { $0.kind == .application && !$0.isRejected } }

  /// Back to the last stable state. Transceivers that the application made or gave a track meanwhile stay, without a section.
  mutating func rollBack() -> [Effect] {
    guard let saved = stable.first else { return [] }
    var effects: [Effect] = []
    var kept: [Transceiver] = []
    for transceiver in transceivers {
      if var old = saved[transceiver.identifier] {
        old.takeApplicationValues(of: transceiver)
        if transceiver.isRemoteSending, !old.isRemoteSending { effects.append(.trackRemoved(old.identifier)) }
        if !transceiver.isRemoteSending, old.isRemoteSending { effects.append(.trackAdded(old.identifier)) }
        kept.append(old)
        continue
      }
      if transceiver.isRemoteSending { effects.append(.trackRemoved(transceiver.identifier)) }
      if transceiver.isCreatedByRemoteOffer, !transceiver.isAddedByTrack { continue }
      var free = transceiver
      (free.mid, free.sectionIndex, free.isCreatedByRemoteOffer, free.isRemoteSending) = (nil, nil, false, false)
      (free.currentDirection, free.negotiated, free.receiveStreamIdentifiers) = (nil, nil, [])
      // What the peer's offer wanted to receive goes with it.
      if transceiver.isCreatedByRemoteOffer { free.sendParameters.encodings = [SendEncoding()] }
      kept.append(free)
    }
    var next = saved
    (next.transceivers, next.nextTransceiver, next.sessionVersion, next.generator) = (kept, nextTransceiver, sessionVersion, generator)
    (next.wantsData, next.nextMid, next.dataMid, next.defaultStream, next.stable) = (wantsData, nextMid, dataMid, defaultStream, [])
    self = next
    return effects
  }

  // MARK: Tracks

  /// Compares what the peer sends now with what it sent before (RFC 8829 section 5.10, W3C "process remote tracks").
  mutating func trackEffects(_ description: SessionDescription) -> [Effect] {
    var effects: [Effect] = []
    for (index, media) in description.media.enumerated() where index < sections.count {
      guard let identifier = sections[index].transceiver, var transceiver = self[identifier] else { continue }
      let sends = !media.isRejected && !transceiver.isStopped && Direction(media.direction).sends
      if sends {
        let names = streams(of: media)
        transceiver.receiveStreamIdentifiers = names.map(\.stream).filter { $0 != "-" }
        // The track of a transceiver that this side made has its name already.
        if !transceiver.isRemoteSending, transceiver.isCreatedByRemoteOffer, let track = names.first?.track {
          transceiver.receiveTrackIdentifier = track
        }
      } else {
        transceiver.receiveStreamIdentifiers = []
      }
      if sends, !transceiver.isRemoteSending { effects.append(.trackAdded(identifier)) }
      if !sends, transceiver.isRemoteSending { effects.append(.trackRemoved(identifier)) }
      transceiver.isRemoteSending = sends
      self[identifier] = transceiver
    }
    return effects
  }

  /// The streams and the track that a section names: by `a=msid` (RFC 8830), by the older `a=ssrc:… msid:…`, else one stream for all
  /// (RFC 8829 section 5.10).
  private mutating func streams(of media: MediaDescription) -> [MSID] {
    if !media.msids.isEmpty { return media.msids }
    if let named = media.sources.first(where: { $0.name == "msid" })?.value {
      let parts = named.split(separator: " ").map(String.init)
      if let stream = parts.first { return [MSID(stream: stream, track: parts.count > 1 ? parts[1] : nil)] }
    }
    if defaultStream.isEmpty { defaultStream = token(36) }
    return [MSID(stream: defaultStream)]
  }

  /// The tracks that this side's answer declined.
  mutating func endedTracks() -> [Effect] {
    var effects: [Effect] = []
    for index in transceivers.indices where transceivers[index].isRemoteSending && transceivers[index].currentDirection?.receives != true {
      transceivers[index].isRemoteSending = false
      transceivers[index].receiveStreamIdentifiers = []
      effects.append(.trackRemoved(transceivers[index].identifier))
    }
    return effects
  }

  // MARK: The peer's transport

  /// The section of the remote description that says how the peer is reached: in an offer the first in the bundle that is accepted.
  var remoteTransportSection: Int? {
    guard let remote = remoteDescription else { return nil }
    guard remote.type == .offer else { return remote.description.transportSection() }
    if signalingState == .haveRemoteOffer {
      return remote.description.transportSection { isAcceptable(remote.description.media[$0], at: $0) }
    }
    let answer = localDescription?.description.media ?? []
    return remote.description.transportSection { $0 < answer.count && !answer[$0].isRejected }
  }

  /// Whether an answer would accept a section of the pending offer.
  func isAcceptable(_ media: MediaDescription, at index: Int) -> Bool {
    guard !media.isRejected, index < sections.count else { return false }
    if media.kind == .application { return media.isSCTP && media.sctpPort != nil }
    guard media.isRTP, let identifier = sections[index].transceiver, let transceiver = self[identifier], !transceiver.isStopped else {
      return false
    }
    return commonCodecs(transceiver, in: media).contains { !$0.capability.isAuxiliary }
  }

  /// Notes a trickled candidate in the remote description, as W3C wants it; nil for the end of candidates.
  mutating func addRemoteCandidate(_ candidate: String?, at index: Int) {
    func add(to described: inout Described) {
      guard described.description.media.indices.contains(index) else { return }
      guard let candidate else {
        described.description.media[index].hasEndOfCandidates = true
        return
      }
      // A peer may send any number; ICE looks at so many as well.
      guard described.description.media[index].candidates.count < 100 else { return }
      described.description.media[index].candidates.append(candidate)
    }
    if pendingRemote != nil { add(to: &pendingRemote!) } else if currentRemote != nil { add(to: &currentRemote!) }
  }
}

extension MediaDescription {
  /// What the lines `b=` allow: `TIAS` in bit/s (RFC 3890) before `AS` in kilobit/s (RFC 8866 section 5.8); nil without one that makes sense.
  var bitsPerSecond: Int? {
    func value(_ type: String) -> Int? { bandwidth.first { $0.type == type && (1...1_000_000_000).contains($0.value) }?.value }
    return value("TIAS") ?? value("AS").map { $0 * 1_000 }
  }
}

extension SessionDescription {
  /// The section that carries the bundle's transport (RFC 8843 section 7.2): the bundle's first that `isUsable`. Without a bundle, the first
  /// usable section.
  func transportSection(where isUsable: (Int) -> Bool = { _ in true }) -> Int? {
    let bundled = bundledMids
    let candidates =
      bundled.isEmpty
      ? media.indices.filter { !media[$0].isRejected }
      : bundled.compactMap { mid in
        media.indices.first { (media[$0].mid ?? "\($0)") == mid && !media[$0].isRejected && media[$0].port != 0 }
      }
    return candidates.first(where: isUsable) ?? candidates.first
  }
}
