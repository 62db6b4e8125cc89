import Base
import STUN

extension Client {
  /// Sends a request in a new transaction.
  mutating func begin(_ request: Request, challenges: Int = 0, now: Instant) {
    let id = TransactionID(using: &random)
    var builder = MessageBuilder(.request, method(request), transactionID: id)
    switch request {
    case .allocate:
      builder.append(.requestedTransport, uint32: 17 << 24)
      builder.append(.lifetime, uint32: UInt32(clamping: Int(configuration.lifetime.seconds)))
      if configuration.addressFamilies.contains(.v6) {
        let both = configuration.addressFamilies.contains(.v4)
        builder.append(both ? .additionalAddressFamily : .requestedAddressFamily, uint32: 2 << 24)
      }
    case .refresh: builder.append(.lifetime, uint32: UInt32(clamping: Int(configuration.lifetime.seconds)))
    case .release, .close: builder.append(.lifetime, uint32: 0)
    case .createPermission(let ip): builder.append(.xorPeerAddress, xorAddress: SocketAddress(ip, 0))
    case .channelBind(let peer, let number):
      builder.append(.channelNumber, uint32: UInt32(number) << 16)
      builder.append(.xorPeerAddress, xorAddress: peer)
    }
    credential.sign(&builder)
    let timer =
      switch configuration.transport {
      case .datagram:
        RetransmissionTimer(now: now, timeout: configuration.retransmissionTimeout, attempts: configuration.attempts)
      case .stream: RetransmissionTimer(now: now, streamTimeout: configuration.streamTimeout)
      }
    transactions.append(
      Transaction(
        id: id, request: request, bytes: builder.bytes, timer: timer, nonce: credential.isChallenged ? credential.nonce : nil,
        challenges: challenges))
    transmit(builder.bytes)
  }

  private func method(_ request: Request) -> Method {
    switch request {
    case .allocate: .allocate
    case .refresh, .release, .close: .refresh
    case .createPermission: .createPermission
    case .channelBind: .channelBind
    }
  }

  /// When `handleTimeout` wants to be called next; nil when only the owner or the server can move anything.
  public var deadline: Instant? {
    guard state != .closed, state != .failed else { return nil }
    var earliest: Instant?
    func consider(_ instant: Instant?) {
      if let instant { earliest = min(earliest ?? instant, instant) }
    }
    for transaction in transactions { consider(transaction.timer.deadline) }
    for permission in permissions { consider(permission.refreshAt) }
    for channel in channels { consider(channel.refreshAt) }
    consider(refreshAt)
    consider(allocateAt)
    consider(keepAliveAt)
    return earliest
  }

  /// Does what time asks for: retransmissions, refreshes, giving up.
  public mutating func handleTimeout(now: Instant) {
    guard state != .closed, state != .failed else { return }
    for id in transactions.map(\.id) {
      guard let index = transactions.firstIndex(where: { $0.id == id }) else { continue }
      switch transactions[index].timer.fire(now: now) {
      case .wait: break
      case .retransmit: transmit(transactions[index].bytes)
      case .giveUp:
        let request = transactions.remove(at: index).request
        handleFailure(.timeout, of: request, now: now)
      }
    }
    if let due = allocateAt, due <= now {
      allocateAt = nil
      begin(.allocate, now: now)
    }
    guard state == .allocated else { return }
    if let due = refreshAt, due <= now {
      refreshAt = nil
      begin(.refresh, now: now)
    }
    for index in permissions.indices {
      guard let due = permissions[index].refreshAt, due <= now else { continue }
      permissions[index].refreshAt = nil
      begin(.createPermission(permissions[index].ip), now: now)
    }
    for index in channels.indices {
      guard let due = channels[index].refreshAt, due <= now else { continue }
      channels[index].refreshAt = nil
      begin(.channelBind(channels[index].peer, channels[index].number), now: now)
    }
    if let due = keepAliveAt, due <= now {
      transmit(MessageBuilder(.indication, .binding, transactionID: TransactionID(using: &random)).bytes)
      keepAliveAt = now + configuration.keepAliveInterval
    }
  }
}
