import RTP
import SDP

extension Negotiation {
  /// Makes `description` the local one (RFC 8829 section 5.9), and says which tracks came or went. An error changes nothing.
  mutating func setLocal(_ type: DescriptionType, _ description: SessionDescription) throws(PeerConnectionError) -> [Effect] {
    let next = try transition(type, isLocal: true)
    if type == .rollback { return rollBack() }
    let before = self
    do throws(PeerConnectionError) {
      if type == .offer {
        // A second offer takes the place of the first.
        if signalingState == .haveLocalOffer { _ = rollBack() }
        stable = [self]
        try associateLocal(offer: description)
      } else {
        try checkLocal(answer: description)
      }
    } catch {
      self = before
      throw error
    }
    switch type {
    case .offer, .pranswer: pendingLocal = Described(type: type, description: description)
    case .answer:
      currentLocal = Described(type: .answer, description: description)
      currentRemote = pendingRemote ?? currentRemote
      (pendingLocal, pendingRemote) = (nil, nil)
    case .rollback: break
    }
    signalingState = next
    guard type != .offer else { return [] }
    agree(answer: description, type, isLocal: true)
    let effects = endedTracks()
    if next == .stable { settle() }
    return effects
  }

  /// Makes `description` the remote one (RFC 8829 section 5.10), and says which tracks came or went. An error changes nothing. A local offer
  /// that is pending has to be rolled back before.
  mutating func setRemote(_ type: DescriptionType, _ description: SessionDescription) throws(PeerConnectionError) -> [Effect] {
    let before = self
    do throws(PeerConnectionError) {
      let next = try transition(type, isLocal: false)
      if type == .rollback { return rollBack() }
      try validate(description)
      if type == .offer {
        if signalingState == .stable { stable = [self] }
        try associateRemote(offer: description)
      } else {
        try checkRemote(answer: description)
      }
      signalingState = next
    } catch {
      self = before
      throw error
    }
    switch type {
    case .offer, .pranswer: pendingRemote = Described(type: type, description: description)
    case .answer:
      currentRemote = Described(type: .answer, description: description)
      currentLocal = pendingLocal ?? currentLocal
      (pendingLocal, pendingRemote) = (nil, nil)
    case .rollback: break
    }
    if type != .offer { agree(answer: description, type, isLocal: false) }
    let effects = trackEffects(description)
    if signalingState == .stable { settle() }
    return effects
  }

  func transition(_ type: DescriptionType, isLocal: Bool) throws(PeerConnectionError) -> SignalingState {
    guard let next = signalingState.next(type, isLocal: isLocal) else {
      let side = isLocal ? "local" : "remote"
      throw PeerConnectionError(.invalidState, "a \(side) \(type.rawValue) cannot be set in signaling state \(signalingState.rawValue)")
    }
    return next
  }

  // MARK: Association of sections

  private mutating func associateLocal(offer: SessionDescription) throws(PeerConnectionError) {
    guard offer.media.count >= sections.count else {
      throw PeerConnectionError(.invalidModification, "the offer has fewer media sections than the session")
    }
    for (index, media) in offer.media.enumerated() {
      let mid = media.mid ?? "\(index)"
      if index < sections.count {
        if sections[index].mid == mid { continue }
        guard sections[index].isRejected else {
          throw PeerConnectionError(.invalidModification, "media section \(index) changed its mid from \(sections[index].mid) to \(mid)")
        }
      }
      var section = Section(mid: mid, kind: media.kind, transceiver: nil, isRejected: media.isRejected)
      if let kind = MediaKind(media.kind), !media.isRejected {
        // The transceiver that the offer was written for; one stopped meanwhile still takes its section.
        let free = transceivers.indices.filter { transceivers[$0].mid == nil && transceivers[$0].kind == kind }
        guard let free = free.first(where: { transceivers[$0].offeredMid == mid }) ?? free.first(where: { !transceivers[$0].isStopping })
        else {
          throw PeerConnectionError(.invalidModification, "media section \(index) has no transceiver")
        }
        transceivers[free].mid = mid
        transceivers[free].sectionIndex = index
        section.transceiver = transceivers[free].identifier
      }
      if index < sections.count { sections[index] = section } else { sections.append(section) }
    }
  }

  private func checkLocal(answer: SessionDescription) throws(PeerConnectionError) {
    guard let offer = pendingRemote?.description, answer.media.count == offer.media.count else {
      throw PeerConnectionError(.invalidModification, "the answer's media sections are not those of the offer")
    }
    for (index, (ours, theirs)) in zip(answer.media, offer.media).enumerated() where ours.kind != theirs.kind {
      throw PeerConnectionError(.invalidModification, "media section \(index) of the answer is of another kind than the offer's")
    }
  }

  private mutating func associateRemote(offer: SessionDescription) throws(PeerConnectionError) {
    guard offer.media.count >= sections.count else {
      throw PeerConnectionError(.invalidAccess, "the offer has \(offer.media.count) media sections, the session has \(sections.count)")
    }
    let mids = try mids(of: offer)
    for (index, media) in offer.media.enumerated() {
      let mid = mids[index]
      if !media.isRejected { note(media) }
      if index < sections.count, sections[index].mid == mid, !sections[index].isRejected {
        guard sections[index].kind == media.kind else {
          throw PeerConnectionError(.invalidAccess, "media section \(index) (mid \(mid)) is of another kind than before")
        }
        sections[index].isRejected = media.isRejected
        if media.isRejected, let identifier = sections[index].transceiver { stop(identifier) }
        continue
      }
      if index < sections.count, !sections[index].isRejected {
        throw PeerConnectionError(.invalidAccess, "media section \(index) changed its mid from \(sections[index].mid) to \(mid)")
      }
      var section = Section(mid: mid, kind: media.kind, transceiver: nil, isRejected: media.isRejected)
      if let kind = MediaKind(media.kind), !media.isRejected {
        let identifier = associate(kind: kind, media: media, mid: mid, index: index)
        takeOfferedSimulcast(media, for: identifier)
        section.transceiver = identifier
      }
      if index < sections.count { sections[index] = section } else { sections.append(section) }
    }
  }

  /// The identification tag of each section; those that the peer left out are made up, for use within this side only.
  private func mids(of description: SessionDescription) throws(PeerConnectionError) -> [String] {
    var taken = Set<String>()
    for (index, media) in description.media.enumerated() {
      guard let mid = media.mid else { continue }
      guard taken.insert(mid).inserted else {
        throw PeerConnectionError(.invalidAccess, "media section \(index) has the same mid as another: \(mid)")
      }
    }
    return description.media.enumerated().map { index, media in
      if let mid = media.mid { return mid }
      var mid = index < sections.count ? sections[index].mid : "\(index)"
      while !taken.insert(mid).inserted { mid += "_" }
      return mid
    }
  }

  /// Takes over the numbers that the peer gave to codecs and header extensions: later offers of this side use them too.
  private mutating func note(_ media: MediaDescription) {
    for map in media.payloadMaps {
      payloadTypes.note(
        map.payloadType, name: map.encodingName, clockRate: map.clockRate, channelCount: map.channels,
        parameters: media.parameterText(map.payloadType))
    }
    for mapping in media.headerExtensions {
      guard let kind = HeaderExtension(uri: mapping.uri), let number = mapping.oneByteIdentifier else { continue }
      for (other, used) in extensionNumbers where used == number { extensionNumbers[other] = nil }
      extensionNumbers[kind] = number
    }
  }

  private mutating func associate(kind: MediaKind, media: MediaDescription, mid: String, index: Int) -> TransceiverIdentifier {
    let theirs = Direction(media.direction)
    let free = transceivers.firstIndex { $0.isAddedByTrack && $0.mid == nil && !$0.isStopping && $0.kind == kind }
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

  private func checkRemote(answer: SessionDescription) throws(PeerConnectionError) {
    guard let offer = pendingLocal?.description else { return }
    guard answer.media.count == offer.media.count else {
      throw PeerConnectionError(
        .invalidAccess, "the answer has \(answer.media.count) media sections, the offer has \(offer.media.count)")
    }
    for (index, (theirs, ours)) in zip(answer.media, offer.media).enumerated() {
      guard theirs.kind == ours.kind else {
        throw PeerConnectionError(.invalidAccess, "media section \(index) of the answer is of another kind than the offer's")
      }
      guard theirs.mid == nil || theirs.mid == ours.mid else {
        throw PeerConnectionError(.invalidAccess, "media section \(index) of the answer has another mid than the offer's")
      }
      // An identifier keeps its meaning (RFC 8285 section 6).
      for mapping in theirs.headerExtensions {
        guard let offered = ours.headerExtensions.first(where: { $0.identifier == mapping.identifier }), offered.uri != mapping.uri else {
          continue
        }
        throw PeerConnectionError(
          .invalidAccess, "media section \(index) of the answer gives header extension \(mapping.identifier) another meaning than the offer"
        )
      }
    }
  }

  /// What every description must have (RFC 8829 section 5.8), in the sections that could be accepted.
  private func validate(_ description: SessionDescription) throws(PeerConnectionError) {
    let bundled = description.bundledMids
    let tagged = description.transportSection()
    for (index, media) in description.media.enumerated() where !media.isRejected && (media.isSCTP || MediaKind(media.kind) != nil) {
      let mid = media.mid ?? "\(index)"
      if MediaKind(media.kind) != nil, let wrong = media.formats.compactMap({ UInt8($0) }).first(where: { (64...95).contains($0) }) {
        // RTCP on the same port would be taken for it (RFC 5761 section 4).
        throw PeerConnectionError(.invalidAccess, "media section \(index) (mid \(mid)) uses payload type \(wrong), which is RTCP's")
      }
      // A bundled section may leave the transport to the tagged one (RFC 8843 section 7.1.3).
      if index != tagged, bundled.contains(mid) { continue }
      guard let fragment = description.usernameFragment(of: media), let password = description.password(of: media) else {
        throw PeerConnectionError(.invalidAccess, "media section \(index) (mid \(mid)) has no ICE user name fragment and password")
      }
      guard isICEText(fragment, 4...256), isICEText(password, 22...256) else {
        throw PeerConnectionError(
          .invalidAccess,
          "the ICE user name fragment or password of media section \(index) (mid \(mid)) is too short, too long or not plain")
      }
      guard !description.fingerprints(of: media).isEmpty else {
        throw PeerConnectionError(.invalidAccess, "media section \(index) (mid \(mid)) has no DTLS fingerprint")
      }
      if MediaKind(media.kind) != nil, !media.isRTCPMux {
        throw PeerConnectionError(.invalidAccess, "media section \(index) (mid \(mid)) has no rtcp-mux, which is required")
      }
    }
  }
}

/// Whether a text is made of ICE characters, and of so many (RFC 8839 section 5.4).
private func isICEText(_ text: String, _ length: ClosedRange<Int>) -> Bool {
  length.contains(text.utf8.count)
    && text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
      }
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

extension ExtensionMapping {
  /// The identifier, when it fits the one-byte form of RFC 8285 section 4.2.
  var oneByteIdentifier: UInt8? { (1...14).contains(identifier) ? UInt8(identifier) : nil }
}
