import Base
import Bytes
import ICE
import RTP

extension PeerConnection {
  // MARK: Sockets

  /// Tells of a UDP socket that the owner bound to `address`. It may come at any time: a new network gives new candidates.
  public mutating func addSocket(_ socket: SocketIdentifier, address: SocketAddress) {
    transport.ice.addSocket(socket, address: address)
  }

  /// Tells that a socket is gone.
  public mutating func removeSocket(_ socket: SocketIdentifier, now: Instant) {
    transport.ice.removeSocket(socket, now: now)
  }

  /// Names the STUN and TURN servers, when their addresses become known later than the connection was made.
  public mutating func setIceServers(_ servers: [ICE.Server], now: Instant) {
    transport.ice.setServers(servers, now: now)
  }

  /// The stream asked for by `.openStream` is open.
  public mutating func streamOpened(_ stream: SocketIdentifier, local: SocketAddress, now: Instant) {
    transport.ice.streamOpened(stream, local: local, now: now)
  }

  /// The stream asked for by `.openStream` could not be opened, or has ended.
  public mutating func streamFailed(_ stream: SocketIdentifier, reason: String, now: Instant) {
    transport.ice.streamFailed(stream, reason: reason, now: now)
  }

  // MARK: In

  /// Takes a datagram, which is decrypted in place. A media packet is given back for the jitter buffer.
  public mutating func receive(
    _ datagram: inout MutableRawSpan, from: SocketAddress, on socket: SocketIdentifier, now: Instant
  ) -> ReceivedMedia? {
    guard !isClosed else { return nil }
    let arrival = transport.receive(&datagram, from: from, on: socket, now: now)
    return take(arrival, in: &datagram, now: now)
  }

  /// Takes bytes of a TCP or TLS stream; packets in them come out of `pollStreamPacket`.
  public mutating func receiveStream(_ bytes: RawSpan, on stream: SocketIdentifier, now: Instant) {
    transport.ice.receiveStream(bytes, on: stream, now: now)
  }

  /// A whole packet out of a stream, for `receive(streamPacket:)`.
  public mutating func pollStreamPacket() -> [UInt8]? { transport.pollStreamPacket() }

  /// Takes a packet that came out of a stream.
  public mutating func receive(streamPacket packet: inout MutableRawSpan, now: Instant) -> ReceivedMedia? {
    guard !isClosed else { return nil }
    let arrival = transport.receive(application: &packet, 0..<packet.byteCount, now: now)
    return take(arrival, in: &packet, now: now)
  }

  private mutating func take(_ arrival: Transport.Arrival, in datagram: inout MutableRawSpan, now: Instant) -> ReceivedMedia? {
    switch arrival {
    case .nothing:
      receiveApplicationData(now: now)
      return nil
    case .rtp(let range): return media.receive(&datagram, range, now: now)
    case .rtcp(let range):
      media.receiveControl(datagram.bytes.extracting(range), now: now)
      takeMediaEvents()
      return nil
    }
  }

  mutating func takeMediaEvents() {
    while let event = media.pollEvent() {
      switch event {
      case .keyFrameRequested(let identifier): events.append(.keyFrameRequested(identifier))
      case .targetBitrate(let bitrate): events.append(.targetBitrate(bitrate))
      case .packetLoss(let identifier, let fraction): events.append(.packetLoss(identifier, fraction: fraction))
      case .tone(let identifier, let tone, let rest): events.append(.tone(identifier, tone: tone, rest: rest))
      case .frameSent(let identifier, let frame):
        events.append(.frameSent(identifier, captured: frame.captured, first: frame.first, last: frame.last))
      }
    }
  }

  // MARK: Time

  /// When `handleTimeout` must be called next; nil while nothing is waited for.
  public var deadline: Instant? {
    var result = earliest(transport.deadline, association?.deadline)
    if transport.isSecure { result = earliest(result, media.deadline) }
    return result
  }

  /// Does what is due at `now`. Calling it early does no harm.
  public mutating func handleTimeout(now: Instant) {
    transport.handleTimeout(now: now)
    if let deadline = association?.deadline, deadline <= now { association?.handleTimeout(now: now) }
    receiveApplicationData(now: now)
    if transport.isSecure { media.handleTimeout(roundTripTime: transport.ice.roundTripTime, now: now) }
    takeMediaEvents()
  }

  // MARK: Out

  /// Writes the next packet to be sent into `buffer` (at least 2,048 bytes) and says where it goes; nil when there is none now.
  public mutating func pollTransmit(into buffer: inout MutableRawSpan, now: Instant) -> Outgoing? {
    if let control = transport.pollTransmit(into: &buffer, now: now) { return control }
    if association != nil, transport.isSecure {
      while let count = association?.pollTransmit(into: &buffer, now: now) {
        transport.send(applicationData: buffer.bytes.extracting(0..<count))
        if let data = transport.pollTransmit(into: &buffer, now: now) { return data }
      }
    }
    guard transport.canProtect else { return nil }
    while let packet = media.pollTransmit(into: &buffer, now: now) {
      takeMediaEvents()
      if let outgoing = transport.protect(&buffer, count: packet.count, isControl: packet.isControl) { return outgoing }
    }
    guard isClosed, transport.closeRoute(now: now) else { return nil }
    return transport.pollTransmit(into: &buffer, now: now)
  }
}
