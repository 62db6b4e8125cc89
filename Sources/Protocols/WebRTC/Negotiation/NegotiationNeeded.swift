import SDP

extension Negotiation {
  /// Whether an offer is due: W3C "check if negotiation is needed" (section 4.7.3).
  var isNegotiationNeeded: Bool {
    if wantsData, !hasDataSection { return true }
    return transceivers.contains(where: isNegotiationNeeded)
  }

  /// Whether a data section is in the current description: one that was refused counts until the next channel is made.
  private var hasDataSection: Bool {
    guard let local = currentLocal?.description.media else { return false }
    return sections.indices.contains { sections[$0].kind == .application && !sections[$0].isRejected && $0 < local.count }
  }

  private func isNegotiationNeeded(for transceiver: Transceiver) -> Bool {
    guard let local = currentLocal?.description.media, let remote = currentRemote?.description.media,
      let index = transceiver.sectionIndex, index < local.count, index < remote.count, transceiver.mid != nil
    else { return !transceiver.isStopped }
    let isRejected = local[index].isRejected || remote[index].isRejected
    if transceiver.isStopping { return !transceiver.isStopped || !isRejected }
    let (ours, theirs) = (Direction(local[index].direction), Direction(remote[index].direction).reversed)
    if transceiver.direction.sends {
      let named = local[index].msids.map(\.stream)
      let wanted = Set(transceiver.sendStreamIdentifiers)
      if named.isEmpty || Set(named.filter { $0 != "-" }) != wanted { return true }
    }
    if currentLocal?.type == .offer { return ours != transceiver.direction && theirs != transceiver.direction }
    let possible = Direction(
      sends: transceiver.direction.sends && theirs.sends, receives: transceiver.direction.receives && theirs.receives)
    return ours != possible
  }
}
