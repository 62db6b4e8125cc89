import RTP
import SDP

extension Negotiation {
  /// Makes `description` the local one (RFC 8829 section 5.9).
  mutating func setLocal(_ type: DescriptionType, _ description: SessionDescription) throws(PeerConnectionError) {
    let next = try transition(type, isLocal: true)
    if type == .rollback { return rollBack() }
    saveStable(before: type)
    let result = Result { () throws(PeerConnectionError) in try associateLocal(type, description) }
    try finish(result)
    switch type {
    case .offer, .pranswer: pendingLocal = Described(type: type, description: description)
    case .answer:
      currentLocal = Described(type: .answer, description: description)
      currentRemote = pendingRemote ?? currentRemote
      (pendingLocal, pendingRemote) = (nil, nil)
    case .rollback: break
    }
    if type != .offer { agree(answer: description, isLocal: true) }
    signalingState = next
    if next == .stable { stable = [] }
  }

  /// Makes `description` the remote one (RFC 8829 section 5.10), and says which tracks came or went.
  mutating func setRemote(_ type: DescriptionType, _ description: SessionDescription) throws(PeerConnectionError) -> [Effect] {
    // A remote offer while a local one is pending takes its place: perfect negotiation's implicit rollback (W3C section 4.4.1.5).
    if type == .offer, signalingState == .haveLocalOffer { rollBack() }
    let next = try transition(type, isLocal: false)
    if type == .rollback {
      rollBack()
      return []
    }
    try validate(description, type)
    saveStable(before: type)
    let result = Result { () throws(PeerConnectionError) in
      type == .offer ? try associateRemote(offer: description) : try checkAnswer(description)
    }
    try finish(result)
    switch type {
    case .offer, .pranswer: pendingRemote = Described(type: type, description: description)
    case .answer:
      currentRemote = Described(type: .answer, description: description)
      currentLocal = pendingLocal ?? currentLocal
      (pendingLocal, pendingRemote) = (nil, nil)
    case .rollback: break
    }
    if type != .offer { agree(answer: description, isLocal: false) }
    signalingState = next
    if next == .stable { stable = [] }
    return trackEffects(description)
  }

  private func transition(_ type: DescriptionType, isLocal: Bool) throws(PeerConnectionError) -> SignalingState {
    guard let next = signalingState.next(type, isLocal: isLocal) else {
      let side = isLocal ? "local" : "remote"
      throw PeerConnectionError(.invalidState, "a \(side) \(type.rawValue) cannot be set in signaling state \(signalingState.rawValue)")
    }
    return next
  }

  private mutating func saveStable(before type: DescriptionType) {
    guard type == .offer, signalingState == .stable else { return }
    stable = [self]
  }

  /// Undoes a failed step, so that bad input loses nothing.
  private mutating func finish(_ result: Result<Void, PeerConnectionError>) throws(PeerConnectionError) {
    if case .failure(let error) = result {
      if signalingState == .stable { rollBack() }
      throw error
    }
  }

  /// Back to the last stable state; transceivers that were added meanwhile stay, without a section.
  private mutating func rollBack() {
    guard let saved = stable.first else { return }
    let before = Set(saved.transceivers.map(\.identifier))
    var kept = saved.transceivers
    for transceiver in transceivers where !before.contains(transceiver.identifier) {
      if transceiver.isCreatedByRemoteOffer, !transceiver.isAddedByTrack { continue }
      var free = transceiver
      (free.mid, free.sectionIndex, free.isCreatedByRemoteOffer) = (nil, nil, false)
      kept.append(free)
    }
    for index in kept.indices where before.contains(kept[index].identifier) {
      // What the application set on a transceiver is not part of the exchange.
      guard let now = self[kept[index].identifier] else { continue }
      kept[index].direction = now.direction
      kept[index].codecPreferences = now.codecPreferences
      kept[index].sendStreamIdentifiers = now.sendStreamIdentifiers
      kept[index].isAddedByTrack = now.isAddedByTrack
    }
    let (next, version, wants, mids, random) = (nextTransceiver, sessionVersion, wantsData, nextMid, generator)
    self = saved
    (transceivers, nextTransceiver, sessionVersion, wantsData, nextMid, generator) = (kept, next, version, wants, mids, random)
    stable = []
  }

  // MARK: Association of sections

  private mutating func associateLocal(_ type: DescriptionType, _ description: SessionDescription) throws(PeerConnectionError) {
    if type != .offer {
      guard description.media.count == pendingRemote?.description.media.count else {
        throw PeerConnectionError(.invalidModification, "the answer's media sections are not those of the offer")
      }
      for (index, media) in description.media.enumerated() where media.isRejected { sections[index].isRejected = true }
      return
    }
    guard description.media.count >= sections.count else {
      throw PeerConnectionError(.invalidModification, "the offer has fewer media sections than the session")
    }
    for (index, media) in description.media.enumerated() {
      let mid = media.mid ?? "\(index)"
      if index < sections.count, sections[index].mid == mid { continue }
      var section = Section(mid: mid, kind: media.kind, transceiver: nil, isRejected: media.isRejected)
      if let kind = MediaKind(media.kind) {
        // In the order of creation, as makeOffer wrote them.
        guard let free = transceivers.firstIndex(where: { $0.mid == nil && !$0.isStopped && $0.kind == kind }) else {
          throw PeerConnectionError(.invalidModification, "media section \(index) has no transceiver")
        }
        transceivers[free].mid = mid
        transceivers[free].sectionIndex = index
        section.transceiver = transceivers[free].identifier
      }
      if index < sections.count { sections[index] = section } else { sections.append(section) }
    }
  }

  private mutating func associateRemote(offer: SessionDescription) throws(PeerConnectionError) {
    guard offer.media.count >= sections.count else {
      throw PeerConnectionError(.invalidAccess, "the offer has \(offer.media.count) media sections, the session has \(sections.count)")
    }
    for (index, media) in offer.media.enumerated() {
      let mid = media.mid ?? (index < sections.count ? sections[index].mid : "\(index)")
      if index < sections.count, sections[index].mid == mid {
        sections[index].isRejected = media.isRejected
        if media.kind == .application, !media.isRejected { wantsData = true }
        if media.isRejected, let identifier = sections[index].transceiver, var stopped = self[identifier] {
          stopped.direction = .stopped
          stopped.currentDirection = .stopped
          self[identifier] = stopped
        }
        continue
      }
      if index < sections.count, !sections[index].isRejected {
        throw PeerConnectionError(.invalidAccess, "media section \(index) changed its mid from \(sections[index].mid) to \(mid)")
      }
      var section = Section(mid: mid, kind: media.kind, transceiver: nil, isRejected: media.isRejected)
      if media.kind == .application, !media.isRejected { wantsData = true }
      if let kind = MediaKind(media.kind), !media.isRejected {
        section.transceiver = associate(kind: kind, media: media, mid: mid, index: index)
      }
      if index < sections.count { sections[index] = section } else { sections.append(section) }
      for map in media.payloadMaps {
        payloadTypes.note(
          map.payloadType, name: map.encodingName, clockRate: map.clockRate, channelCount: map.channels,
          parameters: media.parameterText(map.payloadType))
      }
    }
  }

  private mutating func associate(kind: MediaKind, media: MediaDescription, mid: String, index: Int) -> TransceiverIdentifier {
    let theirs = Direction(media.direction)
    let free = transceivers.firstIndex { $0.isAddedByTrack && $0.mid == nil && !$0.isStopped && $0.kind == kind }
    let chosen: Int
    if theirs.receives, let free {
      chosen = free
    } else {
      _ = addTransceiver(kind: kind, direction: .recvonly)
      chosen = transceivers.count - 1
      transceivers[chosen].isCreatedByRemoteOffer = true
    }
    transceivers[chosen].mid = mid
    transceivers[chosen].sectionIndex = index
    return transceivers[chosen].identifier
  }

  private func checkAnswer(_ answer: SessionDescription) throws(PeerConnectionError) {
    guard let offer = pendingLocal?.description else { return }
    guard answer.media.count == offer.media.count else {
      throw PeerConnectionError(
        .invalidAccess, "the answer has \(answer.media.count) media sections, the offer has \(offer.media.count)")
    }
    for (index, (theirs, ours)) in zip(answer.media, offer.media).enumerated() where theirs.kind != ours.kind {
      throw PeerConnectionError(.invalidAccess, "media section \(index) of the answer is of another kind than the offer's")
    }
  }

  /// What every description must have (RFC 8829 section 5.8).
  private func validate(_ description: SessionDescription, _ type: DescriptionType) throws(PeerConnectionError) {
    let bundled = description.bundledMids
    for (index, media) in description.media.enumerated() where !media.isRejected {
      let mid = media.mid ?? "\(index)"
      // A bundled section may leave the transport to the first one (RFC 8843 section 7.1.3).
      if let first = bundled.first, bundled.contains(mid), mid != first { continue }
      guard media.usernameFragment ?? description.usernameFragment != nil, media.password ?? description.password != nil else {
        throw PeerConnectionError(.invalidAccess, "media section \(index) (mid \(mid)) has no ICE user name fragment and password")
      }
      guard !media.fingerprints.isEmpty || !description.fingerprints.isEmpty else {
        throw PeerConnectionError(.invalidAccess, "media section \(index) (mid \(mid)) has no DTLS fingerprint")
      }
      if MediaKind(media.kind) != nil, !media.isRTCPMux {
        throw PeerConnectionError(.invalidAccess, "media section \(index) (mid \(mid)) has no rtcp-mux, which is required")
      }
    }
  }

  // MARK: Agreement

  /// Works out what offer and answer came to, for each transceiver.
  private mutating func agree(answer: SessionDescription, isLocal: Bool) {
    guard let local = localDescription?.description, let remote = remoteDescription?.description else { return }
    for (index, section) in sections.enumerated() {
      guard index < answer.media.count else { continue }
      if answer.media[index].isRejected || (!isLocal && isUnbundled(answer, index)) {
        sections[index].isRejected = true
        if let identifier = section.transceiver, var transceiver = self[identifier] {
          transceiver.currentDirection = transceiver.isStopped ? .stopped : .inactive
          transceiver.negotiated = nil
          // A section that both sides gave up frees its transceiver for good (RFC 8829 section 5.11).
          transceiver.direction = .stopped
          transceiver.currentDirection = .stopped
          self[identifier] = transceiver
        }
        continue
      }
      guard let identifier = section.transceiver, var transceiver = self[identifier], index < local.media.count, index < remote.media.count
      else { continue }
      let direction = Direction(answer.media[index].direction)
      transceiver.currentDirection = isLocal ? direction : direction.reversed
      transceiver.negotiated = agreement(transceiver, local: local.media[index], remote: remote.media[index])
      self[identifier] = transceiver
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
        let identifier = UInt8(exactly: mapping.identifier)
      else { continue }
      media.extensions[kind] = identifier
    }
    media.isReducedSizeRTCP = local.isRTCPReducedSize && remote.isRTCPReducedSize
    let group = remote.sourceGroups.first { $0.semantics == "FID" && $0.ssrcs.count >= 2 }
    media.remoteSource = group?.ssrcs[0] ?? remote.sources.first?.ssrc
    media.remoteRetransmissionSource = group?.ssrcs[1]
    return media
  }

  /// Compares what the peer sends now with what it sent before (RFC 8829 section 5.10, W3C "process remote tracks").
  private mutating func trackEffects(_ description: SessionDescription) -> [Effect] {
    var effects: [Effect] = []
    for (index, media) in description.media.enumerated() where index < sections.count {
      guard let identifier = sections[index].transceiver, var transceiver = self[identifier] else { continue }
      let sends = !media.isRejected && Direction(media.direction).sends
      if sends {
        transceiver.receiveStreamIdentifiers = media.msids.map(\.stream).filter { $0 != "-" }
        if !receiving.contains(identifier), let track = media.msids.first?.track { transceiver.receiveTrackIdentifier = track }
        self[identifier] = transceiver
      }
      if sends, receiving.insert(identifier).inserted { effects.append(.trackAdded(identifier)) }
      if !sends, receiving.remove(identifier) != nil { effects.append(.trackRemoved(identifier)) }
    }
    return effects
  }
}

extension MediaKind {
  init?(_ kind: MediaDescription.Kind) {
    switch kind {
    case .audio: self = .audio
    case .video: self = .video
    default: return nil
    }
  }
}
