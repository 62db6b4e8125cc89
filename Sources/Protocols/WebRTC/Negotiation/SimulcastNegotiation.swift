import SDP

/// Several encodings of one track (RFC 8853), told apart by their restriction identifiers (RFC 8851, 8852).
extension Negotiation {
  /// So many encodings one track is sent in at most; a peer that asks for more gets the first ones.
  static let encodingLimit = 4

  /// Sets what a sender sends, and gives each encoding beyond the first sources of its own.
  mutating func setEncodings(_ encodings: [SendEncoding], of identifier: TransceiverIdentifier) {
    guard var transceiver = self[identifier] else { return }
    transceiver.sendParameters.encodings = encodings
    self[identifier] = transceiver
    for rid in encodings.dropFirst().compactMap(\.rid) where self[identifier]?.encodingSources[rid] == nil {
      let sources = EncodingSource(media: source(), retransmission: source())
      self[identifier]?.encodingSources[rid] = sources
    }
  }

  /// Takes over the simulcast that the first offer of a peer wants to receive (W3C section 4.4.1.5, "proposedSendEncodings"): of alternatives
  /// the first, each once.
  mutating func takeOfferedSimulcast(_ media: MediaDescription, for identifier: TransceiverIdentifier) {
    guard media.kind == .video, let wanted = media.simulcast?.receive, let transceiver = self[identifier],
      transceiver.sendParameters.encodings.map(\.rid) == [nil]
    else { return }
    var names: [String] = []
    for rid in wanted.compactMap({ $0.first?.rid }) where !names.contains(rid) && SendEncoding.isRID(rid) { names.append(rid) }
    names = Array(names.prefix(Negotiation.encodingLimit))
    guard !names.isEmpty else { return }
    let encodings = names.enumerated().map { index, rid in
      var encoding = SendEncoding(rid: rid)
      // Each half as large as the next (W3C section 5.1).
      encoding.scaleResolutionDownBy = Double(1 << (names.count - 1 - index))
      return encoding
    }
    setEncodings(encodings, of: identifier)
  }

  /// Writes what a section sends into an offer; false for a single encoding, which is told by its source.
  func addSimulcast(of transceiver: Transceiver, to media: inout MediaDescription) -> Bool {
    let names = transceiver.sendParameters.encodings.compactMap(\.rid)
    guard transceiver.kind == .video, names.count > 1 else { return false }
    media.rids = names.map { RID(identifier: $0, direction: .send) }
    media.simulcast = Simulcast(send: names.map { [Simulcast.Alternative(rid: $0)] })
    return true
  }

  /// Writes what an answer sends of the simulcast that the offer wants.
  func addSimulcast(of transceiver: Transceiver, answering theirs: MediaDescription, to media: inout MediaDescription) -> Bool {
    let wanted = theirs.receivedRIDs
    let names = transceiver.sendParameters.encodings.compactMap(\.rid).filter { wanted.contains($0) }
    guard transceiver.kind == .video, !names.isEmpty else { return false }
    media.rids = names.map { RID(identifier: $0, direction: .send) }
    media.simulcast = Simulcast(send: names.map { [Simulcast.Alternative(rid: $0)] })
    return true
  }

  /// Leaves of the encodings those that both sides agreed on: without a simulcast in the peer's description the first one.
  mutating func narrowEncodings(of identifier: TransceiverIdentifier, local: MediaDescription, remote: MediaDescription) {
    guard let transceiver = self[identifier], transceiver.kind == .video, transceiver.sendParameters.encodings.count > 1,
      // A direction that lets nothing through says nothing of encodings.
      Direction(local.direction).sends, Direction(remote.direction).receives
    else { return }
    let sent = Set((local.simulcast?.send ?? []).compactMap { $0.first?.rid })
    let taken = remote.receivedRIDs.intersection(sent)
    let encodings = transceiver.sendParameters.encodings
    let kept = encodings.filter { $0.rid.map { taken.contains($0) } ?? false }
    setEncodings(kept.isEmpty ? [encodings[0]] : kept, of: identifier)
  }
}

extension MediaDescription {
  /// The encodings that the section's writer wants to receive, of alternatives the first.
  var receivedRIDs: Set<String> { Set((simulcast?.receive ?? []).compactMap { $0.first?.rid }) }
}

extension SendEncoding {
  /// Whether a text is a restriction identifier: letters and digits, 1 to 255 of them (RFC 8851 section 10 with its erratum 7132).
  static func isRID(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count)
      && text.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) }
  }
}
