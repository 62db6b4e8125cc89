import Base
import BridgeMessages
import Call
import DTLS
import Glibc
import Net
import WebRTC

/// Everything of a page service that lives on the network thread: the socket, who is connected to it, and the documents.
final class PageBridge: @unchecked Sendable {
  // Unchecked: used on the network thread alone, which the sockets and sessions in it check.
  let network: NetworkThread
  let configuration: PageService.Configuration
  let media: PageService.Media
  let roster: DeviceRoster
  let playout: PlayoutThread
  let videos: ShownVideos
  private(set) var admission: Admission
  let onEvent: @Sendable (PageEvent) -> Void
  /// Counts of everything that was dropped or refused.
  var counters = Counters()
  private(set) var settings: PageSettings
  private var listener: UnixListener?
  private var clients: [BridgeClient] = []
  private var host: BridgeClient?
  private let ownsPlayout: Bool
  private var isStopped = false

  init(
    configuration: PageService.Configuration, network: NetworkThread, videos: ShownVideos, media: PageService.Media,
    onEvent: @escaping @Sendable (PageEvent) -> Void
  ) throws(SystemError) {
    (self.configuration, self.network, self.videos, self.media) = (configuration, network, videos, media)
    self.onEvent = onEvent
    settings = configuration.page
    admission = Admission(settings: configuration.page, grants: configuration.grants)
    roster = DeviceRoster(media, loop: network.loop)
    ownsPlayout = media.speaker == nil
    // Whoever is not heard is still received: jitter buffers are emptied at their pace.
    playout = media.speaker?.playout ?? PlayoutThread { _, _ in }
    let isShared = configuration.allowedUser.map { $0 != getuid() } ?? false
    do throws(SystemError) {
      listener = try UnixListener(path: configuration.runtimeFolder + "/bridge.sock", mode: isShared ? 0o666 : 0o600, on: network.loop) {
        [unowned self] in accept($0)
      }
    } catch {
      if ownsPlayout { playout.stop() }
      throw error
    }
    roster.onChange = { [unowned self] in deviceChanged($0, before: $1) }
    videos.onWatched.with {
      $0 = { [weak self, loop = network.loop] message in
        loop.run { [weak self] in self?.document(of: message.video)?.sendSparing(message) }
      }
    }
  }

  func stop() {
    guard !isStopped else { return }
    isStopped = true
    videos.onWatched.with { $0 = nil }
    roster.stop()
    command(HostExit())
    listener?.close()
    for client in clients { disconnect(client, reason: nil) }
    if ownsPlayout { playout.stop() }
  }

  // MARK: Clients

  private func accept(_ stream: UnixStream) {
    guard let user = stream.peerUser, user == configuration.allowedUser ?? getuid() || user == getuid() else {
      counters.count("bridge.wrongUser")
      Log.warning("user \(stream.peerUser.map { "\($0)" } ?? "unknown") may not use the bridge")
      return stream.close()
    }
    clients.append(BridgeClient(stream, bridge: self))
  }

  /// Cuts a client off and frees what it left; `reason` is what it did wrong.
  func disconnect(_ client: BridgeClient, reason: String?) {
    guard !client.isClosed else { return }
    if let reason {
      counters.count("bridge.cutOff")
      Log.error("the \(client === host ? "page host" : "web process") is cut off from the bridge: \(reason)")
    }
    client.close()
    let documents = client.documents.values
    client.documents = [:]
    for document in documents { document.close() }
    clients.removeAll { $0 === client }
    if !documents.isEmpty { connectionsChanged() }
    guard client === host else { return }
    host = nil
    if !isStopped { onEvent(.hostLost) }
  }

  /// Takes one frame.
  func take(_ frame: BridgeFrame, from client: BridgeClient) {
    guard frame.document != 0 else { return takeSender(frame, from: client) }
    if let document = client.documents[frame.document] { return document.take(frame) }
    guard client.refused.contains(frame.document) else {
      return disconnect(client, reason: "document \(frame.document) is not open")
    }
    counters.count("document.notAdmitted")
    guard frame.kind == .call else { return }
    let answer = Document.noAnswer
    client.send(.callAnswer, to: frame.document, target: 0, answer.span.bytes)
  }

  private func takeSender(_ frame: BridgeFrame, from client: BridgeClient) {
    guard frame.kind == .control else { return disconnect(client, reason: "a frame of kind \(frame.kind) belongs to a document") }
    do throws(MessageError) {
      let message = try MessageCoding.decode(SenderMessage.self, from: frame.payload)
      switch message {
      case .documentOpen(let message): open(message, client)
      case .documentClose(let message): close(message.document, client)
      case .hello(let message): hello(message, client)
      default:
        guard client === host else { return disconnect(client, reason: "it speaks as the page host, which it is not") }
        takeHost(message)
      }
    } catch {
      disconnect(client, reason: "a message cannot be read: \(error)")
    }
  }

  // MARK: The host

  private func hello(_ message: HostHello, _ client: BridgeClient) {
    guard client.role == .unknown, host == nil else { return disconnect(client, reason: "there is a page host already") }
    client.role = .host
    host = client
    client.send(settings)
    onEvent(.hostConnected(version: message.version, process: message.process))
  }

  private func takeHost(_ message: SenderMessage) {
    switch message {
    case .loading(let message): onEvent(.loading(url: message.url))
    case .committed(let message): onEvent(.committed(url: message.url))
    case .drawn(let message): onEvent(.drawn(url: message.url))
    case .finished(let message): onEvent(.finished(url: message.url))
    case .title(let message): onEvent(.title(message.title))
    case .failed(let message): onEvent(.failed(code: message.code, reason: message.reason, url: message.url))
    case .refused(let message): onEvent(.refused(url: message.url, reason: message.reason))
    case .dialogOpen(let message):
      let kind = PageEvent.DialogKind(rawValue: message.kind.rawValue) ?? .alert
      onEvent(.dialog(identifier: message.dialog, kind: kind, origin: message.origin, text: message.text, value: message.value))
    case .dialogCancel(let message): onEvent(.dialogCancelled(identifier: message.dialog))
    case .log(let message): log(message)
    case .documentOpen, .documentClose, .hello: break
    }
  }

  private func log(_ message: HostLog) {
    let level: Log.Level =
      switch message.level {
      case .error: .error
      case .warning: .warning
      case .notice: .notice
      case .info: .info
      case .debug: .debug
      }
    Log.write(level, "page: \(message.text)")
  }

  func load(_ url: String) {
    settings.url = url
    admission.admit(url: url)
    command(PageLoad(url: url))
  }

  func command(_ message: some ControlMessage) { host?.send(message) }

  // MARK: Documents

  private func open(_ message: DocumentOpen, _ client: BridgeClient) {
    guard client.role != .host else { return disconnect(client, reason: "the page host has no documents") }
    client.role = .documents
    let isKnown = client.documents[message.document] != nil || client.refused.contains(message.document)
    guard message.document != 0, !isKnown else {
      return disconnect(client, reason: "document \(message.document) is open already")
    }
    guard admission.admits(message) else {
      counters.count("document.notAdmitted")
      client.refused.insert(message.document)
      Log.warning("a document of \(message.origin) is not admitted to calls")
      return
    }
    let document = Document(message, client: client, bridge: self)
    client.documents[message.document] = document
    document.send(Clock(monotonic: MonotonicClock.now().milliseconds))
  }

  private func close(_ number: UInt32, _ client: BridgeClient) {
    if client.refused.remove(number) != nil { return }
    guard let document = client.documents.removeValue(forKey: number) else {
      return disconnect(client, reason: "document \(number), which it closes, is not open")
    }
    document.close()
    connectionsChanged()
  }

  private var documents: [Document] { clients.flatMap { $0.documents.values } }

  /// Bytes that wait for clients to read them.
  var bufferedByteCount: Int { clients.reduce(0) { $0 + $1.stream.bufferedByteCount } }

  /// The document that plays a video.
  func document(of video: UInt32) -> Document? { documents.first { $0.videos[video] != nil } }

  /// Tells the owner how calls stand.
  func connectionsChanged() {
    guard !isStopped else { return }
    onEvent(.callStateChanged(documents.flatMap { $0.connections.values.map(\.state) }.filter { $0 != .new }.map(\.rawValue)))
  }

  private func deviceChanged(_ device: DeviceRoster.Device, before: DeviceRoster.Entry) {
    guard !isStopped else { return }
    let now = roster[device]
    if now.isMuted != before.isMuted || now.name != before.name { for document in documents { document.deviceChanged(device) } }
    if now.isPresent != before.isPresent || now.name != before.name || !before.isSettled { devicesChanged() }
  }

  /// Tells all documents that devices or grants are others now.
  func devicesChanged() { for document in documents { document.send(DevicesChanged()) } }

  func networkChanged() {
    for document in documents { for connection in document.connections.values { connection.session.networkChanged() } }
  }

  func statistics() -> PageStatistics {
    var result = PageStatistics()
    let now = MonotonicClock.now()
    result.discards = counters
    for document in documents {
      for connection in document.connections.sorted(by: { $0.key < $1.key }).map(\.value) {
        result.peerConnections.append(connection.session.statistics())
        result.connectionStates.append(connection.state.rawValue)
        result.latency.append(connection.session.latency.figures(now: now))
        result.discards.add(connection.session.discards)
      }
      result.documents.append(
        PageStatistics.Document(
          origin: document.origin, url: document.url, connections: document.connections.count, tracks: document.tracks.count,
          channels: document.channels.count))
    }
    return result
  }
}

extension Instant {
  /// Milliseconds since the clock's origin.
  var milliseconds: Double { Double(nanoseconds) / 1e6 }
}
