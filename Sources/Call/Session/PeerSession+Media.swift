import Base
import Bytes
import Codecs
import Frames
import Net
import RTP
import SDP
import WebRTC

/// What a session sends and shows, per transceiver. It is set before or after the transceiver is negotiated, in any order.
struct MediaPlan {
  /// Where sound goes, and how it is heard there.
  struct Playing {
    var playout: PlayoutThread
    var sound: PlayedSound
  }

  var sources: [TransceiverIdentifier: SenderSource] = [:]
  var limits: [TransceiverIdentifier: EncodingLimits] = [:]
  var outputs: [TransceiverIdentifier: @Sendable (VideoFrame) -> Void] = [:]
  var playing: [TransceiverIdentifier: Playing] = [:]
}

extension PeerSession {
  /// Sends what `camera` sees on a transceiver, as long as it may send.
  public func send(_ camera: CameraThread, on identifier: TransceiverIdentifier) { send(.video(camera.pictures), on: identifier) }

  /// Sends what `microphone` hears on a transceiver, as long as it may send.
  public func send(_ microphone: MicrophoneThread, on identifier: TransceiverIdentifier) { send(.audio(microphone.sound), on: identifier) }

  /// Sends what `source` gives on a transceiver, as long as it may send; nil: nothing. A running sender goes on with the new source, without
  /// negotiation (W3C `replaceTrack`).
  public func send(_ source: SenderSource?, on identifier: TransceiverIdentifier) {
    loop.checkIsolated()
    plan.sources[identifier] = source
    if let running = senders[identifier] { running.setSource(source) }
    followTransceivers()
  }

  /// Limits what a transceiver sends (W3C `setParameters`).
  public func setLimits(_ limits: EncodingLimits, on identifier: TransceiverIdentifier) {
    loop.checkIsolated()
    plan.limits[identifier] = limits
    senders[identifier]?.setLimits(limits, source: plan.sources[identifier])
  }

  /// Gives each picture that a transceiver receives to `output`, on the decoder's thread.
  public func show(_ identifier: TransceiverIdentifier, output: @escaping @Sendable (VideoFrame) -> Void) {
    loop.checkIsolated()
    plan.outputs[identifier] = output
    followTransceivers()
  }

  /// Plays the sound that a transceiver receives, as `sound` says.
  public func play(_ identifier: TransceiverIdentifier, on playout: PlayoutThread, as sound: PlayedSound = PlayedSound()) {
    loop.checkIsolated()
    plan.playing[identifier] = MediaPlan.Playing(playout: playout, sound: sound)
    followTransceivers()
  }

  /// Starts and stops media as negotiation and connection go.
  func followNegotiation(_ event: PeerConnectionEvent) {
    switch event {
    case .signalingStateChange(let state) where state == .stable: followTransceivers()
    case .connectionStateChange(let state):
      if state == .connected { isMediaFlowing = true }
      if state == .failed || state == .closed { isMediaFlowing = false }
      followTransceivers()
    default: break
    }
  }

  private func followTransceivers() {
    guard !isEnded else { return }
    for transceiver in connection.transceivers {
      followSending(transceiver)
      followReceiving(transceiver)
    }
  }

  private func followSending(_ transceiver: Transceiver) {
    let identifier = transceiver.identifier
    let codec = transceiver.currentDirection?.sends == true && isMediaFlowing ? transceiver.sendCodec : nil
    if let running = senders[identifier] {
      if let capability = codec?.capability, capability.name.lowercased() == running.codecName.lowercased(),
        capability.parameters == running.codecParameters
      {
        return
      }
      running.stop()
      senders[identifier] = nil
    }
    guard let codec else { return }
    guard let source = plan.sources[identifier] else { return }
    do throws(CodecError) {
      let made: Sender
      if case .video(let pictures) = source, let video = VideoCodec(named: codec.capability.name) {
        made = try sender(pictures.format, codec: video, as: codec.capability, on: identifier)
      } else if case .audio = source, let audio = AudioCodec(named: codec.capability.name) {
        made = try Sender(audio: audio) { [weak self] packet in
          guard let self else { return }
          self.loop.run { self.sendAudio(packet, on: identifier) }
        }
      } else {
        return
      }
      made.codecParameters = codec.capability.parameters
      senders[identifier] = made
      if let limits = plan.limits[identifier] { made.setLimits(limits, source: nil) }
      made.setSource(source)
    } catch {
      Log.error("\(codec.capability.mimeType) cannot be sent: \(error)")
    }
  }

  private func sender(
    _ pictures: VideoFanOut.Format, codec: VideoCodec, as capability: CodecCapability, on identifier: TransceiverIdentifier
  ) throws(CodecError) -> Sender {
    var settings = VideoEncoderSettings(
      width: pictures.width, height: pictures.height, framesPerSecond: pictures.framesPerSecond, bitrate: connection.targetBitrate)
    var accepted: H264Profile?
    switch capability.payloadFormat {
    // What a packet of 1,200 bytes leaves once headers, extensions and a retransmission's two bytes are taken off.
    case .h264(packetizationMode: 0): settings.maximumSliceCount = 1_100
    // A camera's slices are of any size.
    case .h264: accepted = H264Profile(FormatParameters(capability.parameters))
    default: break
    }
    return try Sender(video: codec, settings: settings, accepted: accepted) { [weak self] frame, time in
      guard let self else { return }
      self.loop.run { self.sendVideo(frame, encodeTime: time, on: identifier) }
    }
  }

  private func sendVideo(_ frame: EncodedVideoFrame, encodeTime: Interval, on identifier: TransceiverIdentifier) {
    guard !isEnded else { return }
    let now = MonotonicClock.now()
    let captureTime = frame.ledger[.capture] ?? now
    encoded[identifier, default: EncoderFigures()].count(frame, time: encodeTime)
    connection.sendVideo(
      frame.bytes.span.bytes, isKeyFrame: frame.isKeyFrame, captureTime: captureTime, rotation: UInt8(frame.rotation.rawValue / 90),
      on: identifier, now: now)
    // A frame that never leaves (the sender was stopped) must not stay for ever.
    if leaving.count > 64 { leaving.removeAll() }
    leaving[captureTime] = frame.ledger
    network.wake(self)
  }

  /// Completes the sending half of a frame's ledger.
  func frameSent(captured: Instant, first: Instant, last: Instant) {
    guard var ledger = leaving.removeValue(forKey: captured) else { return }
    (ledger[.pace], ledger[.send]) = (first, last)
    latency.record(ledger, steps: [.encode, .pace, .send, .sent], now: last)
  }

  private func sendAudio(_ frame: AudioEncoding.Packet, on identifier: TransceiverIdentifier) {
    guard !isEnded else { return }
    connection.sendAudio(
      frame.bytes.span.bytes, timestamp: frame.timestamp, captureTime: frame.captureTime, level: frame.level, on: identifier,
      now: MonotonicClock.now())
    network.wake(self)
  }

  // MARK: Receiving

  private func followReceiving(_ transceiver: Transceiver) {
    let identifier = transceiver.identifier
    guard transceiver.currentDirection?.receives == true else {
      videoReceivers.removeValue(forKey: identifier)?.stop()
      audioReceivers.removeValue(forKey: identifier)?.stop()
      arriving.remove(identifier)
      return
    }
    // The decoder of the likeliest codec is made before the first packet comes.
    guard let codec = transceiver.sendCodec?.capability, transceiver.kind == .video, videoReceivers[identifier] == nil else { return }
    _ = videoReceiver(identifier, codec)
  }

  private func videoReceiver(_ identifier: TransceiverIdentifier, _ capability: CodecCapability) -> VideoReceiver? {
    if let receiver = videoReceivers[identifier], receiver.codec.rawValue.lowercased() == capability.name.lowercased() { return receiver }
    videoReceivers.removeValue(forKey: identifier)?.stop()
    guard let codec = VideoCodec(named: capability.name), let format = capability.payloadFormat, let show = plan.outputs[identifier] else {
      return nil
    }
    do throws(CodecError) {
      let receiver = try VideoReceiver(codec: codec, format: format, latency: latency, show: show) { [weak self] in
        guard let self else { return }
        self.loop.run {
          let isDue = self.videoReceivers[identifier]?.requireKeyFrame(now: MonotonicClock.now()) ?? false
          if isDue { self.requestKeyFrame(of: identifier) }
        }
      }
      videoReceivers[identifier] = receiver
      return receiver
    } catch {
      Log.error("\(capability.mimeType) cannot be received: \(error)")
      return nil
    }
  }

  private func audioReceiver(_ identifier: TransceiverIdentifier, _ capability: CodecCapability) -> AudioReceiver? {
    if let receiver = audioReceivers[identifier], receiver.codec.rawValue.lowercased() == capability.name.lowercased() { return receiver }
    audioReceivers.removeValue(forKey: identifier)?.stop()
    guard let codec = AudioCodec(named: capability.name), let playing = plan.playing[identifier] else { return nil }
    do throws(CodecError) {
      let receiver = try AudioReceiver(codec: codec, playout: playing.playout, sound: playing.sound)
      audioReceivers[identifier] = receiver
      return receiver
    } catch {
      Log.error("\(capability.mimeType) cannot be received: \(error)")
      return nil
    }
  }

  /// Takes a media packet out of the datagram it arrived in.
  func take(_ received: ReceivedMedia, in datagram: RawSpan, now: Instant) {
    let packet = datagram.extracting(received.packet)
    synchronize(now: now)
    if arriving.insert(received.transceiver).inserted { onMedia(received.transceiver) }
    if let receiver = videoReceiver(received) {
      let rotation = received.videoOrientation.flatMap { VideoFrame.Rotation(rawValue: Int($0 & 3) * 90) }
      let isKeyFrameDue = receiver.receive(
        packet, header: received.header, rotation: rotation, roundTripTime: connection.roundTripTime, now: now)
      notePicture(receiver, of: received.transceiver, now: now)
      if let first = receiver.firstNeeded { connection.discardMissing(of: received.transceiver, before: first) }
      if isKeyFrameDue { requestKeyFrame(of: received.transceiver) }
      scheduleJitterBuffers()
    } else if received.codec.kind == .audio, let receiver = audioReceiver(received.transceiver, received.codec) {
      receiver.receive(packet.extracting(received.header.payload), header: received.header, now: now)
    } else {
      counters.count("media.unwanted")
    }
  }

  private func videoReceiver(_ received: ReceivedMedia) -> VideoReceiver? {
    received.codec.kind == .video ? videoReceiver(received.transceiver, received.codec) : nil
  }

  func requestKeyFrame(of identifier: TransceiverIdentifier) {
    guard !isEnded else { return }
    connection.requestKeyFrame(of: identifier, now: MonotonicClock.now())
    network.wake(self)
  }

  /// Sets the timer to when a jitter buffer gives up waiting.
  private func scheduleJitterBuffers() {
    let deadline = videoReceivers.values.compactMap(\.deadline).min()
    let timer = jitterTimer ?? loop.makeTimer { [weak self] in self?.advanceJitterBuffers() }
    jitterTimer = timer
    loop.set(timer, to: deadline)
  }

  private func advanceJitterBuffers() {
    let now = MonotonicClock.now()
    for (identifier, receiver) in videoReceivers {
      if receiver.advance(now: now) { requestKeyFrame(of: identifier) }
      notePicture(receiver, of: identifier, now: now)
    }
    scheduleJitterBuffers()
  }

  func stopMedia() {
    for sender in senders.values { sender.stop() }
    for receiver in videoReceivers.values { receiver.stop() }
    for receiver in audioReceivers.values { receiver.stop() }
    (senders, videoReceivers, audioReceivers) = ([:], [:], [:])
    if let jitterTimer { loop.cancel(jitterTimer) }
    jitterTimer = nil
  }
}

extension VideoCodec {
  init?(named name: String) { self.init(rawValue: name.uppercased()) }
}

extension AudioCodec {
  init?(named name: String) {
    guard let codec = AudioCodec.allCases.first(where: { $0.rawValue.lowercased() == name.lowercased() }) else { return nil }
    self = codec
  }
}

/// Counts of one encoder, with their W3C names.
struct EncoderFigures: Sendable {
  var framesEncoded = 0
  var keyFramesEncoded = 0
  var quantizerSum = 0
  var totalEncodeTime = Interval.zero
  var (frameWidth, frameHeight) = (0, 0)
  var rate = FrameRate()

  mutating func count(_ frame: EncodedVideoFrame, time: Interval) {
    framesEncoded += 1
    if frame.isKeyFrame { keyFramesEncoded += 1 }
    quantizerSum += frame.quantizer ?? 0
    totalEncodeTime += time
    (frameWidth, frameHeight) = (frame.width, frame.height)
    rate.note(MonotonicClock.now())
  }
}
