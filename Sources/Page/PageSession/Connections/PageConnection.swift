import Base
import BridgeMessages
import Call
import Net
import WebRTC

/// One peer connection of a document.
final class PageConnection: @unchecked Sendable {
  // Unchecked: used on the network thread alone, as all of the bridge.

  let number: UInt32
  unowned let document: Document
  let session: PeerSession
  var transceivers = TransceiverNumbers()
  var channels = ChannelNumbers()
  /// What kind of description each of the current ones is, once there are two.
  private var currentTypes: (local: DescriptionType, remote: DescriptionType)?
  private(set) var state = PeerConnectionState.new
  /// Events that wait until the page has been told of the description that they came of.
  private var held: [PeerConnectionEvent]?

  init(_ message: ConnectionCreate, document: Document) {
    (number, self.document) = (message.connection, document)
    var configuration = document.bridge.configuration.session
    let servers = PageConnection.servers(message.configuration)
    if !servers.isEmpty { configuration.iceServers = servers }
    if message.configuration.iceTransportPolicy == "relay" { configuration.isRelayOnly = true }
    if let certificate = message.configuration.certificate.flatMap({ document.certificates[$0] }) {
      configuration.certificate = certificate
    }
    session = PeerSession(on: document.bridge.network, configuration: configuration)
    session.onEvent = { [unowned self] in take($0) }
    session.onMedia = { [unowned self] in mediaArrived($0) }
    session.onProcessed = { [unowned self] in tellDrained() }
    if document.client.isCongested { setHoldsMessages(true) }
  }

  private static func servers(_ configuration: ConnectionConfiguration) -> [ICEServer] {
    (configuration.iceServers ?? []).flatMap { server in
      server.urls.map { ICEServer(url: $0, username: server.username, credential: server.credential) }
    }
  }

  /// Closes the connection and frees all that belongs to it in the document.
  func close() {
    session.close()
    for channel in channels.numbers { document.channels[channel] = nil }
    for track in transceivers.receiving.values { document.tracks.removeValue(forKey: track.number)?.stop() }
    (transceivers, channels) = (TransceiverNumbers(), ChannelNumbers())
  }

  /// Does something with the connection; what it refuses is an error as the page knows it.
  func perform<Value>(_ body: (inout PeerConnection, Instant) throws(PeerConnectionError) -> Value) throws(ReplyError) -> Value {
    do throws(PeerConnectionError) {
      return try session.withConnection(body)
    } catch {
      throw ReplyError(error)
    }
  }

  // MARK: Descriptions

  func configure(_ configuration: ConnectionConfiguration) throws(ReplyError) {
    session.withConnection { connection, _ in connection.setRelayOnly(configuration.iceTransportPolicy == "relay") }
    session.replaceIceServers(PageConnection.servers(configuration))
  }

  func createOffer(_ message: CreateOffer) throws(ReplyError) -> Description {
    let offer = try perform { connection, now throws(PeerConnectionError) in
      let offer = try connection.createOffer(isIceRestart: message.options?.iceRestart == true, now: now)
      return connection.createdOfferText ?? offer.description
    }
    return Description(type: .offer, sdp: offer)
  }

  func createAnswer() throws(ReplyError) -> Description {
    let answer = try perform { connection, now throws(PeerConnectionError) in
      let answer = try connection.createAnswer(now: now)
      return connection.createdAnswerText ?? answer.description
    }
    return Description(type: .answer, sdp: answer)
  }

  func setLocal(_ description: Description?) throws(ReplyError) -> Snapshot {
    holdEvents()
    try perform { connection, now throws(PeerConnectionError) in
      guard let description else { return try connection.setLocalDescription(now: now) }
      let type = DescriptionType(description.type)
      if type == .rollback {
        try connection.setLocalDescription(.rollback, now: now)
      } else {
        try connection.setLocalDescription(type, sdp: description.sdp, now: now)
      }
    }
    return settled()
  }

  func setRemote(_ description: Description) throws(ReplyError) -> Snapshot {
    holdEvents()
    try perform { connection, now throws(PeerConnectionError) in
      try connection.setRemoteDescription(DescriptionType(description.type), sdp: description.sdp, now: now)
    }
    return settled()
  }

  func add(_ candidate: Candidate?) throws(ReplyError) -> Snapshot {
    try perform { connection, now throws(PeerConnectionError) in
      try connection.addIceCandidate(
        candidate.map {
          IceCandidate(
            candidate: $0.candidate ?? "", sdpMid: $0.sdpMid, sdpMLineIndex: $0.sdpMLineIndex, usernameFragment: $0.usernameFragment)
        }, now: now)
    }
    return snapshot()
  }

  func restartIce() { session.withConnection { connection, _ in connection.restartIce() } }

  /// What is to be done once a description is set; then what there is.
  private func settled() -> Snapshot {
    if session.connection.signalingState == .stable, let local = session.connection.localDescription,
      let remote = session.connection.remoteDescription
    {
      currentTypes = (local.type, remote.type)
    }
    followTransceivers()
    return snapshot()
  }

  /// The local descriptions as they are now.
  var localDescriptions: LocalDescriptions {
    let pending = session.connection.pendingLocalDescription
    let type = session.connection.localDescription?.type ?? .offer
    let current = session.connection.currentLocalDescription
    return LocalDescriptions(
      pendingLocal: pending.map { Description(type: .init(type), sdp: $0.description) },
      currentLocal: current.map { Description(type: .init(pending == nil ? type : currentTypes?.local ?? .offer), sdp: $0.description) })
  }

  private func snapshot() -> Snapshot {
    let connection = session
    let pendingRemote = connection.connection.pendingRemoteDescription
    let remoteType = connection.connection.remoteDescription?.type ?? .offer
    let locals = localDescriptions
    return Snapshot(
      signalingState: connection.connection.signalingState.rawValue, pendingLocal: locals.pendingLocal, currentLocal: locals.currentLocal,
      pendingRemote: pendingRemote.map { Description(type: .init(remoteType), sdp: $0.description) },
      currentRemote: connection.connection.currentRemoteDescription.map {
        Description(type: .init(pendingRemote == nil ? remoteType : currentTypes?.remote ?? .offer), sdp: $0.description)
      },
      canTrickleIceCandidates: connection.connection.canTrickleIceCandidates,
      transceivers: connection.connection.transceivers.compactMap { described($0) }, sctp: sctpTransport, channels: describedChannels)
  }

  // MARK: Events

  /// Events wait until the answer to what is being done now has been sent: W3C has them come after it.
  private func holdEvents() {
    guard held == nil else { return }
    held = []
    document.bridge.network.loop.run { [weak self] in
      guard let self, let events = held else { return }
      held = nil
      for event in events { take(event) }
    }
  }

  private func take(_ event: PeerConnectionEvent) {
    guard held == nil else {
      held?.append(event)
      return
    }
    switch event {
    case .negotiationNeeded: document.send(NegotiationNeeded(connection: number))
    case .iceCandidate(let candidate):
      document.send(
        IceCandidateFound(
          connection: number,
          candidate: candidate.map {
            Candidate(
              candidate: $0.candidate, sdpMid: $0.sdpMid, sdpMLineIndex: $0.sdpMLineIndex, usernameFragment: $0.usernameFragment,
              url: $0.url, relayProtocol: $0.relayProtocol?.rawValue)
          }, localDescriptions: localDescriptions))
    case .iceCandidateError(let url, let address, let code, let text):
      document.send(IceCandidateError(connection: number, address: address, port: nil, url: url, errorCode: code, errorText: text))
    case .iceGatheringStateChange(let state):
      document.send(IceGatheringState(connection: number, state: state.rawValue, localDescriptions: localDescriptions))
    case .iceConnectionStateChange(let state): document.send(IceConnectionState(connection: number, state: state.rawValue))
    case .connectionStateChange(let state):
      self.state = state
      document.send(ConnectionState(connection: number, state: state.rawValue))
      document.bridge.connectionsChanged()
    case .dtlsTransportStateChange, .selectedCandidatePairChange: sendTransport()
    case .sctpTransportChange(let transport):
      let described = Snapshot.SCTPTransport(transport)
      document.send(
        SCTPState(
          connection: number, state: described.state, maxMessageSize: described.maxMessageSize, maxChannels: described.maxChannels))
    case .tone(let identifier, let tone, let rest):
      guard let transceiver = transceivers.numbers[identifier] else { return }
      document.send(Tone(connection: number, transceiver: transceiver, tone: tone, rest: rest))
    case .sendParametersChange(let identifier): followParameters(identifier)
    default: takeChannel(event)
    }
  }

  private func sendTransport() {
    let pair = session.connection.selectedCandidatePair.map { DTLSState.Pair(local: $0.local.description, remote: $0.remote.description) }
    document.send(
      DTLSState(
        connection: number, state: session.connection.dtlsTransportState.rawValue,
        remoteCertificates: session.connection.remoteCertificates.map { MessageCoding.base64($0) }, selectedPair: pair))
  }

  // MARK: Statistics

  func statistics(_ message: GetStats) throws(ReplyError) -> [StatisticsDictionary] {
    let report = session.statistics()
    guard let number = message.transceiver else { return Array(report.values) }
    guard let identifier = transceivers[number], let transceiver = session.connection.transceiver(identifier) else {
      throw ReplyError("InvalidAccessError", "the connection has no transceiver \(number)")
    }
    return report.selected(of: transceiver, side: message.side ?? .sender)
  }
}

extension DescriptionType {
  init(_ kind: Description.Kind) {
    self =
      switch kind {
      case .offer: .offer
      case .pranswer: .pranswer
      case .answer: .answer
      case .rollback: .rollback
      }
  }
}

extension Description.Kind {
  init(_ type: DescriptionType) {
    self =
      switch type {
      case .offer: .offer
      case .pranswer: .pranswer
      case .answer: .answer
      case .rollback: .rollback
      }
  }
}

extension ReplyError {
  init(_ error: PeerConnectionError) {
    self.init(error.name.rawValue, error.message, errorDetail: error.detail?.rawValue, sdpLineNumber: error.sdpLineNumber)
  }
}

extension StatisticsReport {
  /// W3C's stats selection algorithm: the streams of one sender or receiver, and everything that they refer to.
  func selected(of transceiver: Transceiver, side: GetStats.Side) -> [StatisticsDictionary] {
    let (type, peer) = side == .sender ? ("outbound-rtp", "remote-inbound-rtp") : ("inbound-rtp", "remote-outbound-rtp")
    var wanted = values.filter { statistic in
      guard statistic["type"] == .text(type), let mid = transceiver.mid else { return false }
      return statistic["mid"] == .text(mid)
    }
    var found: StatisticsReport = [:]
    while let statistic = wanted.popLast() {
      guard case .text(let identifier)? = statistic["id"], found[identifier] == nil else { continue }
      found[identifier] = statistic
      for (member, value) in statistic where member.hasSuffix("Id") {
        if case .text(let reference) = value, let referred = self[reference] { wanted.append(referred) }
      }
      // What the peer reports of the stream refers to it.
      wanted += values.filter { $0["type"] == .text(peer) && $0["localId"] == .text(identifier) }
    }
    return Array(found.values)
  }
}
