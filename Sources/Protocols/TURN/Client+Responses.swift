import Base
import Bytes
import STUN

extension Client {
  /// Permissions last 300 s (RFC 8656 section 9); they are renewed a minute before.
  static let permissionLifetime: Interval = .seconds(300 as Int64)
  static let permissionRefresh: Interval = .seconds(240 as Int64)
  /// Channels last 600 s (RFC 8656 section 12).
  static let channelRefresh: Interval = .seconds(540 as Int64)
  /// How often an allocation is asked for again because the server still has an older one for the same addresses.
  static let mismatchLimit = 4
  static let mismatchPause: Interval = .seconds(1 as Int64)
  /// How often one request is sent anew because the server wants other credentials or another nonce.
  static let challengeLimit = 3

  /// Takes a datagram, or a message of the stream, that came from the server.
  public mutating func receive(_ datagram: RawSpan, now: Instant) -> Received {
    if ChannelData.matches(datagram) {
      guard let header = ChannelData(datagram) else {
        counters.count("turn.malformed")
        return .ignored
      }
      // A channel that waits for its response counts as well: the server may use it before the response is here.
      guard let index = channels.firstIndex(where: { $0.number == header.channel }) else { return .ignored }
      return .data(from: channels[index].peer, offset: ChannelData.headerCount, count: header.count)
    }
    guard Message.isSTUN(datagram) else { return .ignored }
    guard let message = try? Message(datagram) else {
      counters.count("turn.malformed")
      return .ignored
    }
    switch message.messageClass {
    case .indication:
      guard state == .allocated, message.method == .data else { return .ignored }
      guard let peer = message.xorAddress(.xorPeerAddress), let range = message.range(of: .data) else {
        counters.count("turn.malformed")
        return .handled
      }
      return .data(from: peer, offset: range.lowerBound, count: range.count)
    case .success, .error:
      guard let index = transactions.firstIndex(where: { $0.id == message.transactionID }) else { return .ignored }
      handleResponse(message, to: index, now: now)
      return .handled
    case .request: return .ignored
    }
  }

  private mutating func handleResponse(_ message: borrowing Message, to index: Int, now: Instant) {
    let transaction = transactions[index]
    let isSigned = transaction.nonce != nil
    if message.messageClass == .success {
      guard !isSigned || credential.verifies(message) else { return counters.count("turn.integrity") }
      transactions.remove(at: index)
      return handleSuccess(message, of: transaction.request, now: now)
    }
    guard let error = message.errorCode else { return counters.count("turn.malformed") }
    if error.code == ErrorCode.unauthenticated || error.code == ErrorCode.staleNonce {
      transactions.remove(at: index)
      _ = credential.learn(from: message)
      // Signed with the same nonce again it would be refused again.
      guard credential.isChallenged, credential.nonce != transaction.nonce, transaction.challenges < Client.challengeLimit else {
        return handleFailure(.refused(error), of: transaction.request, now: now)
      }
      return begin(transaction.request, challenges: transaction.challenges + 1, now: now)
    }
    // Some servers leave the integrity out of an error; a wrong one is never believed.
    guard !message.hasIntegrity || !isSigned || credential.verifies(message) else { return counters.count("turn.integrity") }
    transactions.remove(at: index)
    if error.code == ErrorCode.tryAlternate, transaction.request == .allocate, let server = message.address(.alternateServer) {
      stop(.failed)
      return emit(.redirected(to: server, domain: message.text(.alternateDomain)))
    }
    handleFailure(.refused(error), of: transaction.request, now: now)
  }

  private mutating func handleSuccess(_ message: borrowing Message, of request: Request, now: Instant) {
    switch request {
    case .allocate:
      relayedAddresses = message.xorAddresses(.xorRelayedAddress)
      mappedAddress = message.xorAddress(.xorMappedAddress)
      guard !relayedAddresses.isEmpty else { return fail(.malformedResponse) }
      state = .allocated
      if configuration.transport == .datagram { keepAliveAt = now + configuration.keepAliveInterval }
      scheduleRefresh(message, now: now)
      emit(.allocated)
    case .refresh: scheduleRefresh(message, now: now)
    case .release: begin(.allocate, now: now)
    case .close: break
    case .createPermission(let ip):
      guard let index = permissions.firstIndex(where: { $0.ip == ip }) else { return }
      let isNew = !permissions[index].isActive
      permissions[index] = Permission(
        ip: ip, isActive: true, refreshAt: now + Client.permissionRefresh, expiresAt: now + Client.permissionLifetime)
      if isNew { emit(.permitted(ip)) }
    case .channelBind(let peer, _):
      guard let index = channels.firstIndex(where: { $0.peer == peer }) else { return }
      let isNew = !channels[index].isBound
      channels[index].isBound = true
      channels[index].refreshAt = now + Client.channelRefresh
      if isNew { emit(.channelBound(peer)) }
    }
  }

  private mutating func scheduleRefresh(_ message: borrowing Message, now: Instant) {
    let lifetime = Interval.seconds(Int64(message.uint32(.lifetime) ?? 600))
    refreshAt = now + max(lifetime - .seconds(60 as Int64), lifetime / 2)
    expiresAt = now + lifetime
  }

  /// What a request that failed means, for the client as a whole or for one peer.
  mutating func handleFailure(_ failure: Failure, of request: Request, now: Instant) {
    if case .refused(let error) = failure, error.code == ErrorCode.allocationMismatch {
      switch request {
      case .allocate where mismatches < Client.mismatchLimit:
        mismatches += 1
        // Servers take a second or so to forget what was given back.
        if mismatches == 1 { begin(.release, now: now) } else { allocateAt = now + Client.mismatchPause }
        return
      case .release, .close: break
      default: return fail(failure)
      }
    }
    switch request {
    case .allocate: fail(failure)
    case .release: begin(.allocate, now: now)
    case .close: break
    case .refresh:
      if failure == .timeout, let expiresAt, now < expiresAt { begin(.refresh, now: now) } else { fail(failure) }
    case .createPermission(let ip):
      guard let index = permissions.firstIndex(where: { $0.ip == ip }) else { return }
      if failure == .timeout, let expiresAt = permissions[index].expiresAt, now < expiresAt {
        return begin(.createPermission(ip), now: now)
      }
      permissions.remove(at: index)
      emit(.refused(ip, failure))
    case .channelBind(let peer, let number):
      guard let index = channels.firstIndex(where: { $0.peer == peer }) else { return }
      if failure == .timeout { return begin(.channelBind(peer, number), now: now) }
      // The entry stays, so that the server is not asked again; data goes in indications.
      channels[index].isBound = false
    }
  }

  private mutating func fail(_ failure: Failure) {
    stop(.failed)
    emit(.failed(failure))
  }
}
