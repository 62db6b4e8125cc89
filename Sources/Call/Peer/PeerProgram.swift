import Base
import Bytes
import Camera
import Codecs
import DTLS
import Dispatch
import FoundationEssentials
import Frames
import Glibc
import ICE
import Net
import SCTP
import SDP
import Sound
import WebRTC

/// `parlor peer`: one bare peer on the terminal. Descriptions and candidates go in and out as JSON lines, the media is synthetic, and the
/// statistics come at the end.
public final class PeerProgram: @unchecked Sendable {
  // Unchecked: everything but the constants is touched on the network thread only.

  private let options: PeerOptions
  private let network: NetworkThread
  private let session: PeerSession
  private let camera: CameraThread?
  private let microphone: MicrophoneThread?
  private let playout: PlayoutThread
  private let pictures: PictureProbe
  private let sounds: SoundProbe
  private let echo = EchoTest()
  private let ending = AsyncStream<Ending>.makeStream()
  private var offered: Instant?
  private var connected: Instant?
  private var echoChannel: DataChannelIdentifier?
  private var waitingCandidates: [IceCandidate?] = []

  private enum Ending: Sendable {
    case connected, closed
    case failed(String)
  }

  /// Runs a peer until its time is up, the other side closes, or nothing works. Returns the process's exit code.
  public static func run(_ options: PeerOptions) async throws -> Int32 {
    let certificate = try Certificate.generate()
    var configuration = PeerSession.Configuration(certificate: certificate)
    configuration.iceServers = options.iceServers
    configuration.isRelayOnly = options.isRelayOnly
    configuration.concealsAddresses = options.concealsAddresses
    configuration.includesLoopback = true
    configuration.bitrate = (options.bitrate, options.bitrate)
    configuration.codecs = codecs(options)
    if !options.authorities.isEmpty { configuration.trust = try TrustStore(files: options.authorities) }
    for server in options.iceServers { _ = try ServerURL(parsing: server.url) }
    let network = await NetworkThread()
    let settings = configuration
    let program = await network.loop.perform { PeerProgram(options, network, PeerSession(on: network, configuration: settings)) }
    let code = await program.run()
    network.stop()
    return code
  }

  private static func codecs(_ options: PeerOptions) -> [CodecCapability] {
    let all = CodecCapability.all.filter { codec in
      switch codec.kind {
      case .video: options.videoCodec == nil || codec.name == options.videoCodec?.rawValue
      case .audio: options.audioCodec == nil || codec.isAuxiliary || codec.name.lowercased() == options.audioCodec?.rawValue.lowercased()
      }
    }
    guard options.videoCodec == .h264 else { return all }
    return all.filter { $0.kind == .audio || $0.parameter("packetization-mode") == "\(options.packetizationMode)" }
  }

  private init(_ options: PeerOptions, _ network: NetworkThread, _ session: PeerSession) {
    (self.options, self.network, self.session) = (options, network, session)
    pictures = PictureProbe(recording: options.recording, framesPerSecond: Int(options.framesPerSecond.rounded()))
    sounds = SoundProbe()
    camera =
      options.hasVideo && options.sends
      ? CameraThread(source: SyntheticCamera(width: options.width, height: options.height, framesPerSecond: options.framesPerSecond)) : nil
    microphone = options.hasAudio && options.sends ? MicrophoneThread(source: SyntheticMicrophone()) : nil
    let listener = sounds
    playout = PlayoutThread { listener.listen(to: $0, time: $1) }
    session.onEvent = { [unowned self] in handle($0) }
  }

  private func run() async -> Int32 {
    readLines()
    network.loop.run { self.begin() }
    let deadline = Task { [options, ending] in
      try await Task.sleep(for: .seconds(options.connectSeconds))
      ending.continuation.yield(.failed("no connection within \(Int(options.connectSeconds)) s"))
    }
    var code: Int32 = 0
    loop: for await event in ending.stream {
      switch event {
      case .connected:
        deadline.cancel()
        Task { [options, ending] in
          try await Task.sleep(for: .seconds(options.seconds))
          ending.continuation.yield(.closed)
        }
      case .closed: break loop
      case .failed(let reason):
        code = 69
        var line = PeerLine(event: "failed", detail: reason)
        line.connection = "failed"
        PeerProgram.write(line.text)
        break loop
      }
    }
    deadline.cancel()
    let result = await network.loop.perform { self.finish() }
    camera?.stop()
    microphone?.stop()
    playout.stop()
    PeerProgram.write(result)
    return code
  }

  // MARK: The conversation

  private func begin() {
    if options.role == .answer { return }
    perform {
      try self.addMedia()
      if self.options.hasData {
        var channel = ChannelOptions()
        channel.label = "echo"
        self.echoChannel = try self.session.withConnection { connection, _ throws(PeerConnectionError) in
          try connection.createDataChannel(channel)
        }
      }
      self.offered = MonotonicClock.now()
      try self.session.withConnection { connection, now throws(PeerConnectionError) in
        try connection.setLocalDescription(now: now)
        if let description = connection.localDescription {
          PeerProgram.write(PeerLine(description.type, sdp: description.description.description).text)
        }
      }
    }
  }

  /// Offers or, when the peer offers, makes ready the tracks that this side sends and receives.
  private func addMedia() throws(PeerConnectionError) {
    let direction: WebRTC.Direction = options.sends ? (options.receives ? .sendrecv : .sendonly) : .recvonly
    for kind in [MediaKind.audio, .video] where kind == .audio ? options.hasAudio : options.hasVideo {
      let identifier = try session.withConnection { connection, _ throws(PeerConnectionError) in
        if options.role == .offer { return try connection.addTransceiver(kind, direction: direction, streams: ["parlor"]) }
        let identifier = try connection.addTrack(kind, streams: ["parlor"])
        if direction != .sendrecv { try connection.setDirection(direction, of: identifier) }
        return identifier
      }
      attach(identifier, kind)
    }
  }

  private func attach(_ identifier: TransceiverIdentifier, _ kind: MediaKind) {
    switch kind {
    case .audio:
      if let microphone { session.send(microphone, on: identifier) }
      session.play(identifier, on: playout)
    case .video:
      if let camera { session.send(camera, on: identifier) }
      let probe = pictures
      session.show(identifier) { probe.look(at: $0, time: MonotonicClock.now()) }
    }
  }

  private func handle(_ event: PeerConnectionEvent) {
    switch event {
    case .iceCandidate(let candidate): PeerProgram.write(PeerLine(candidate).text)
    case .connectionStateChange(let state):
      var line = PeerLine(type: "state")
      line.connection = state.rawValue
      PeerProgram.write(line.text)
      if state == .connected, connected == nil {
        connected = MonotonicClock.now()
        ending.continuation.yield(.connected)
      }
      if state == .failed { ending.continuation.yield(.failed(session.connection.failureReason ?? "the connection failed")) }
    case .dtlsTransportStateChange(.closed): ending.continuation.yield(.closed)
    case .track(let identifier):
      guard let kind = session.connection.transceiver(identifier)?.kind else { return }
      attach(identifier, kind)
      PeerProgram.write(PeerLine(event: "track", detail: kind.rawValue).text)
    case .dataChannelOpen(let channel):
      PeerProgram.write(PeerLine(event: "dataChannelOpen").text)
      if channel == echoChannel { session.withConnection { connection, now in self.echo.start(channel, &connection, now: now) } }
    case .dataChannelMessage(let channel, let bytes, let isText):
      if channel == echoChannel {
        echo.receive(bytes, isText: isText)
      } else {
        perform {
          try self.session.withConnection { connection, now throws(PeerConnectionError) in
            try connection.send(bytes.span.bytes, isText: isText, on: channel, now: now)
          }
        }
      }
    case .iceCandidateError(let url, _, let code, let text):
      PeerProgram.write(PeerLine(event: "iceCandidateError", detail: "\(url): \(code) \(text)").text)
    default: break
    }
  }

  /// Reads standard input line by line on a thread of its own.
  private func readLines() {
    DispatchQueue(label: "parlor-peer-input").async { [weak self] in
      while let line = readLine() {
        guard let self else { return }
        self.network.loop.run { self.take(line) }
      }
      self?.ending.continuation.yield(.closed)
    }
  }

  private func take(_ text: String) {
    guard !text.isEmpty else { return }
    let line: PeerLine
    do {
      line = try JSONDecoder().decode(PeerLine.self, from: Data(text.utf8))
    } catch {
      PeerProgram.write(PeerLine(event: "error", detail: "not a line of this conversation: \(text.prefix(80))").text)
      return
    }
    switch line.type {
    case "description": if let description = line.description { take(description) }
    case "candidate":
      let candidate = line.candidate.map {
        IceCandidate(
          candidate: $0.candidate, sdpMid: $0.sdpMid, sdpMLineIndex: $0.sdpMLineIndex, usernameFragment: $0.usernameFragment)
      }
      if session.connection.remoteDescription == nil { waitingCandidates.append(candidate) } else { add(candidate) }
    case "close": ending.continuation.yield(.closed)
    default: PeerProgram.write(PeerLine(event: "error", detail: "unknown type \(line.type)").text)
    }
  }

  private func add(_ candidate: IceCandidate?) {
    perform {
      try self.session.withConnection { connection, now throws(PeerConnectionError) in
        try connection.addIceCandidate(candidate, now: now)
      }
    }
  }

  private func take(_ description: PeerLine.Description) {
    guard let type = DescriptionType(rawValue: description.type) else {
      PeerProgram.write(PeerLine(event: "error", detail: "unknown description type \(description.type)").text)
      return
    }
    if offered == nil { offered = MonotonicClock.now() }
    perform {
      if type == .offer, self.session.connection.transceivers.isEmpty { try self.addMedia() }
      try self.session.withConnection { connection, now throws(PeerConnectionError) in
        try connection.setRemoteDescription(type, sdp: description.sdp, now: now)
        guard type == .offer else { return }
        try connection.setLocalDescription(now: now)
        if let answer = connection.localDescription {
          PeerProgram.write(PeerLine(answer.type, sdp: answer.description.description).text)
        }
      }
      for candidate in self.waitingCandidates { self.add(candidate) }
      self.waitingCandidates = []
    }
  }

  private func perform(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      PeerProgram.write(PeerLine(event: "error", detail: "\(error)").text)
    }
  }

  // MARK: The end

  /// The last line: what was measured, and the statistics.
  struct Result: Encodable {
    var type = "result"
    var connectMilliseconds: Double?
    var firstFrameMilliseconds: Double?
    var framesSent = 0
    var framesShown = 0
    var timeCodesRead = 0
    var lumaPSNR: Double?
    var width = 0
    var height = 0
    var audioClicks = 0
    var audioLevel: Double?
    var dataSent = 0
    var dataEchoed = 0
    var dataWrong = 0
    var stats: StatisticsReport = [:]

    private enum CodingKeys: String, CodingKey {
      case type
      case connectMilliseconds = "connect_ms"
      case firstFrameMilliseconds = "first_frame_ms"
      case framesSent = "frames_sent"
      case framesShown = "frames_shown"
      case timeCodesRead = "time_codes_read"
      case lumaPSNR = "luma_psnr_db"
      case width
      case height
      case audioClicks = "audio_clicks"
      case audioLevel = "audio_level"
      case dataSent = "data_sent"
      case dataEchoed = "data_echoed"
      case dataWrong = "data_wrong"
      case stats
    }
  }

  private func finish() -> String {
    let (seen, heard) = (pictures.findings, sounds.findings)
    var result = Result()
    if let offered, let connected { result.connectMilliseconds = (connected - offered).milliseconds }
    if let offered, let first = seen.firstFrame { result.firstFrameMilliseconds = (first - offered).milliseconds }
    result.framesSent = session.encoded.values.reduce(0) { $0 + $1.framesEncoded }
    (result.framesShown, result.timeCodesRead, result.lumaPSNR) = (seen.frames, seen.timeCodes, seen.lumaPSNR)
    (result.width, result.height) = (seen.width, seen.height)
    (result.audioClicks, result.audioLevel) = (heard.clicks.count, heard.level)
    (result.dataSent, result.dataEchoed, result.dataWrong) = (echo.sent, echo.echoed, echo.wrong)
    result.stats = session.statistics()
    session.close()
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(result) else { preconditionFailure("figures are finite") }
    return String(decoding: data, as: UTF8.self)
  }

  private static let output = Guarded(())

  /// Writes a line at once, whole.
  private static func write(_ line: String) {
    output.with { _ in
      // Not through the C library's streams: one of them waits in the thread that reads.
      var rest = Array((line + "\n").utf8)[...]
      while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        if count < 0, errno != EINTR { return }
        rest = rest.dropFirst(max(0, count))
      }
    }
  }
}
