import Base
import BridgeMessages
import Call
import DTLS
import Frames
import Net
import WebRTC

/// One document with a `native` object: what it made, and how what it says is answered.
final class Document: @unchecked Sendable {
  // Unchecked: used on the network thread alone, as all of the bridge.

  let number: UInt32
  let origin: String
  let url: String
  private let opening: DocumentOpen
  unowned let client: BridgeClient
  unowned let bridge: PageBridge
  var connections: [UInt32: PageConnection] = [:]
  /// Which connection each data channel belongs to.
  var channels: [UInt32: PageConnection] = [:]
  var tracks: [UInt32: Track] = [:]
  var videos: [UInt32: PlayedVideo] = [:]
  var elements: [UInt32: PlayedElement] = [:]
  var taps: [UInt32: Tap] = [:]
  var certificates: [UInt32: Certificate] = [:]
  private var certificatesInMaking = 0
  private var lastNumber: UInt32 = 0
  private(set) var isClosed = false

  /// More objects of one kind than any page needs: from then on they are refused.
  static let limit = 2_048
  /// More peer connections than any page needs: each has sockets.
  static let connectionLimit = 500
  /// More certificates than any page needs: an RSA key takes the processor's time.
  static let certificateLimit = 256
  /// More data channels than SCTP has streams for are of no use.
  static let channelLimit = 65_535
  /// A call's answer when there is none: no picture.
  static let noAnswer = [UInt8](repeating: 0, count: 8)

  init(_ message: DocumentOpen, client: BridgeClient, bridge: PageBridge) {
    (opening, self.client, self.bridge) = (message, client, bridge)
    (number, origin, url) = (message.document, message.origin, message.url)
  }

  var loop: EventLoop { bridge.network.loop }

  /// What the document may capture: asked anew each time, for the configuration may change.
  var grant: PageService.Grant { bridge.admission.grant(opening) }

  /// A number for an object that this side makes: even ones.
  func nextNumber() -> UInt32 {
    lastNumber &+= 2
    return lastNumber
  }

  /// Frees everything that the document made.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    for video in videos.values { video.stop() }
    for tap in taps.values { tap.stop() }
    for element in elements.values { element.stop() }
    for connection in connections.values { connection.close() }
    for track in tracks.values { track.stop() }
    (connections, channels, tracks, videos, elements, taps, certificates) = ([:], [:], [:], [:], [:], [:], [:])
  }

  // MARK: Out

  func send(_ message: some ControlMessage) {
    guard !isClosed else { return }
    client.send(message, to: number)
  }

  /// Sends what a page that reads too slowly can do without.
  func sendSparing(_ message: some ControlMessage) {
    guard !client.isCongested else { return count("bridge.spared") }
    send(message)
  }

  func reply<Value: Encodable & Sendable>(_ id: UInt32, _ result: Result<Value, ReplyError>) {
    guard !isClosed else { return }
    client.send(control: MessageCoding.encode(Reply(id: id, result: result)), to: number)
  }

  func count(_ reason: String) { bridge.counters.count(reason) }

  /// Data channels wait while the page does not read.
  func setHoldsMessages(_ holds: Bool) { for connection in connections.values { connection.setHoldsMessages(holds) } }

  // MARK: In

  /// Takes one frame.
  func take(_ frame: BridgeFrame) {
    switch frame.kind {
    case .control: takeControl(frame.payload)
    case .dataChannelText, .dataChannelBinary:
      guard let connection = channels[frame.target] else { return count("channel.unknown") }
      connection.send(frame.payload, isText: frame.kind == .dataChannelText, on: frame.target)
    case .audio: takeAudio(frame)
    case .video: takeVideo(frame)
    case .call:
      let answer = answer(frame.payload)
      client.send(.callAnswer, to: number, target: 0, answer.span.bytes)
    case .callAnswer: count("bridge.unexpectedKind")
    }
  }

  private func takeControl(_ payload: [UInt8]) {
    let message: DocumentMessage
    do throws(MessageError) {
      message = try MessageCoding.decode(DocumentMessage.self, from: payload)
    } catch {
      count("bridge.malformed")
      Log.info("\(origin): a message cannot be read: \(error)")
      // A request is answered all the same, or its promise would never settle.
      guard let id = try? MessageCoding.decode(Envelope.self, from: payload).id else { return }
      return reply(id, Result<NoValue, _>.failure(ReplyError("TypeError", "\(error)")))
    }
    handle(message)
  }

  private func handle(_ message: DocumentMessage) {
    switch message {
    case .connectionCreate(let message): create(message)
    case .connectionConfigure(let message):
      request(message.id, on: message.connection) { connection throws(ReplyError) in
        try connection.configure(message.configuration)
        return NoValue()
      }
    case .createOffer(let message):
      request(message.id, on: message.connection) { connection throws(ReplyError) in try connection.createOffer(message) }
    case .createAnswer(let message):
      request(message.id, on: message.connection) { connection throws(ReplyError) in try connection.createAnswer() }
    case .setLocalDescription(let message):
      request(message.id, on: message.connection) { connection throws(ReplyError) in try connection.setLocal(message.description) }
    case .setRemoteDescription(let message):
      request(message.id, on: message.connection) { connection throws(ReplyError) in try connection.setRemote(message.description) }
    case .addIceCandidate(let message):
      request(message.id, on: message.connection) { connection throws(ReplyError) in try connection.add(message.candidate) }
    case .getStats(let message):
      request(message.id, on: message.connection, write: StatisticsText.reply) { connection throws(ReplyError) in
        try connection.statistics(message)
      }
    case .restartIce(let message): tell(message.connection) { $0.restartIce() }
    case .connectionClose(let message): closeConnection(message.connection)
    case .transceiverAdd(let message): tell(message.connection) { connection throws(ReplyError) in try connection.add(message) }
    case .transceiverSet(let message): tell(message.connection) { connection throws(ReplyError) in try connection.set(message) }
    case .transceiverStop(let message): tell(message.connection) { connection throws(ReplyError) in try connection.stop(message) }
    case .senderSetTrack(let message):
      request(message.id, on: message.connection) { connection throws(ReplyError) in try connection.setTrack(message) }
    case .senderSetParameters(let message):
      request(message.id, on: message.connection) { connection throws(ReplyError) in try connection.setParameters(message) }
    case .senderTones(let message): tell(message.connection) { connection throws(ReplyError) in try connection.insertTones(message) }
    case .channelCreate(let message): tell(message.connection) { connection throws(ReplyError) in try connection.createChannel(message) }
    case .channelClose(let message):
      guard let connection = channels[message.channel] else { return count("channel.unknown") }
      connection.closeChannel(message.channel)
    case .certificateGenerate(let message): generate(message)
    case .certificateRelease(let message): certificates[message.certificate] = nil
    default: handleMedia(message)
    }
  }

  /// Answers a request that concerns a connection.
  private func request<Value: Encodable & Sendable>(
    _ id: UInt32, on number: UInt32, _ body: (PageConnection) throws(ReplyError) -> Value
  ) {
    request(id, on: number, write: { MessageCoding.encode(Reply(id: $0, result: .success($1))) }, body)
  }

  /// Answers a request that concerns a connection with what `write` makes of the request's number and the value.
  private func request<Value>(
    _ id: UInt32, on number: UInt32, write: (UInt32, Value) -> [UInt8], _ body: (PageConnection) throws(ReplyError) -> Value
  ) {
    guard let connection = connections[number] else {
      return reply(id, Result<NoValue, _>.failure(ReplyError("InvalidStateError", "there is no open connection \(number)")))
    }
    do throws(ReplyError) {
      let value = try body(connection)
      if !isClosed { client.send(control: write(id, value), to: self.number) }
    } catch {
      reply(id, Result<NoValue, _>.failure(error))
    }
  }

  /// Does what a message asks for that nobody answers.
  private func tell(_ number: UInt32, _ body: (PageConnection) throws(ReplyError) -> Void) {
    guard let connection = connections[number] else { return count("connection.unknown") }
    do throws(ReplyError) {
      try body(connection)
    } catch {
      count("connection.refused")
      Log.info("\(origin): \(error.name): \(error.message)")
    }
  }

  // MARK: Connections

  private func create(_ message: ConnectionCreate) {
    guard connections[message.connection] == nil, connections.count < Document.connectionLimit else {
      return count("connection.refused")
    }
    connections[message.connection] = PageConnection(message, document: self)
  }

  private func closeConnection(_ number: UInt32) {
    guard let connection = connections.removeValue(forKey: number) else { return count("connection.unknown") }
    connection.close()
    bridge.connectionsChanged()
  }

  private func generate(_ message: CertificateGenerate) {
    guard certificates[message.certificate] == nil, certificates.count + certificatesInMaking < Document.certificateLimit else {
      return reply(message.id, Result<NoValue, _>.failure(ReplyError("OperationError", "the page has too many certificates")))
    }
    certificatesInMaking += 1
    // An RSA key takes a tenth of a second or more, and must not hold the network up.
    let (loop, seconds) = (self.loop, message.expires.map { $0 / 1_000 })
    Task.detached { [weak self] in
      let made = Result { () throws(DTLSError) in try Document.makeCertificate(message.algorithm, expires: seconds) }
      loop.run { [weak self] in self?.finish(message, made) }
    }
  }

  private static func makeCertificate(_ algorithm: CertificateGenerate.Algorithm, expires: Double?) throws(DTLSError) -> Certificate {
    let now = Double(MonotonicClock.wallClock()) / 1e9
    // Whole days, at most W3C's year, and no second too short: JavaScript compares the exact time that was asked for.
    let days = max(1, min(365, ((expires.map { $0 - now + 1 } ?? 29 * 86_400) / 86_400).rounded(.down) + 1))
    return try Certificate.generate(validDays: days.isFinite ? Int(days) : 30, keyType: algorithm == .rsa ? .rsa2048 : .ecdsaP256)
  }

  private func finish(_ message: CertificateGenerate, _ made: Result<Certificate, DTLSError>) {
    certificatesInMaking -= 1
    guard !isClosed else { return }
    switch made {
    case .success(let certificate):
      certificates[message.certificate] = certificate
      let fingerprint = certificate.fingerprint()
      let value = fingerprint.description.split(separator: " ").last.map { $0.lowercased() } ?? ""
      reply(
        message.id,
        Result<CertificateReply, ReplyError>.success(
          CertificateReply(
            expires: min(message.expires ?? .infinity, Double(certificate.expires) * 1_000),
            fingerprints: [.init(algorithm: fingerprint.algorithm, value: value)])))
    case .failure(let error): reply(message.id, Result<NoValue, _>.failure(ReplyError("OperationError", "\(error)")))
    }
  }

  // MARK: Calls

  private func answer(_ payload: [UInt8]) -> [UInt8] {
    do throws(MessageError) {
      switch try MessageCoding.decode(CallMessage.self, from: payload) {
      case .frameGrab(let message): return grab(message.track)
      case .getCapabilities: return MessageCoding.encode(CapabilitiesReply(bridge.configuration.session))
      case .receiverSources(let message):
        return MessageCoding.encode(connections[message.connection]?.sources(message.transceiver) ?? SourcesReply())
      }
    } catch {
      count("bridge.malformed")
      Log.info("\(origin): a call cannot be read: \(error)")
      return Document.noAnswer
    }
  }
}
