import Base
import BridgeMessages
import Bytes
import Call
import Frames
import Net

extension Document {
  func handleMedia(_ message: DocumentMessage) {
    switch message {
    case .devicesList(let message):
      bridge.roster.whenSettled { [weak self] in
        guard let self else { return }
        reply(message.id, Result<DevicesReply, ReplyError>.success(devices.reply(grant)))
      }
    case .trackOpen(let message): answer(message.id) { () throws(ReplyError) in try open(message) }
    case .trackApply(let message): answer(message.id) { () throws(ReplyError) in try apply(message) }
    case .trackMake(let message):
      guard isFree(track: message.track) else { return count("track.refused") }
      tracks[message.track] = Track(
        number: message.track, identifier: message.trackId,
        source: message.kind == .video ? .madeVideo(VideoFanOut(keepsNewest: true)) : .madeAudio(AudioFanOut()))
    case .trackClone(let message):
      guard let original = tracks[message.from] else { return count("track.unknown") }
      guard isFree(track: message.track) else { return count("track.refused") }
      tracks[message.track] = Track(copying: original, number: message.track, identifier: message.trackId)
    case .trackEnable(let message):
      guard let track = tracks[message.track] else { return count("track.unknown") }
      track.setEnabled(message.isEnabled)
      followElements()
    case .trackStop(let message): stopTrack(message.track)
    case .videoPlay(let message): play(message)
    case .videoHold(let message):
      guard let video = videos[message.video] else { return count("video.unknown") }
      video.setHeld(message.isHeld)
    case .videoWatch(let message):
      guard videos[message.video] != nil else { return count("video.unknown") }
      bridge.videos.watch(message.video, message.isWatched)
    case .audioPlay(let message): play(message)
    case .audioTap(let message):
      guard let sound = tracks[message.track]?.sound else { return count("track.unknown") }
      guard taps[message.tap] == nil, taps.count < Document.limit else { return count("tap.refused") }
      taps[message.tap] = Tap(number: message.tap, sound: sound, document: self)
    case .audioUntap(let message):
      guard let tap = taps.removeValue(forKey: message.tap) else { return count("tap.unknown") }
      tap.stop()
    default: preconditionFailure("messages of connections are handled before")
    }
  }

  private func answer<Value: Encodable & Sendable>(_ id: UInt32, _ body: () throws(ReplyError) -> Value) {
    do throws(ReplyError) {
      reply(id, Result<Value, _>.success(try body()))
    } catch {
      reply(id, Result<Value, _>.failure(error))
    }
  }

  private func isFree(track: UInt32) -> Bool { tracks[track] == nil && tracks.count < Document.limit }

  // MARK: Capture

  var devices: Devices {
    Devices(media: bridge.media, origin: origin, salt: bridge.configuration.deviceSalt, roster: bridge.roster)
  }

  private func open(_ message: TrackOpen) throws(ReplyError) -> TrackReply {
    let isAllowed = message.kind == .video ? grant.camera : grant.microphone
    guard isAllowed else {
      count("capture.denied")
      bridge.onEvent(.mediaDenied(origin: origin, device: message.kind == .video ? .camera : .microphone))
      throw ReplyError("NotAllowedError", "this origin has no grant for the \(message.kind == .video ? "camera" : "microphone")")
    }
    guard isFree(track: message.track) else { throw ReplyError("NotReadableError", "the page has too many tracks") }
    let source = try devices.open(message.kind, deviceId: message.deviceId)
    let track = Track(number: message.track, identifier: message.trackId, source: source)
    tracks[message.track] = track
    track.apply(message.settings ?? TrackSettings())
    return devices.reply(of: track)
  }

  private func apply(_ message: TrackApply) throws(ReplyError) -> TrackReply {
    guard let track = tracks[message.track] else { throw ReplyError("InvalidStateError", "there is no track \(message.track)") }
    track.apply(message.settings)
    return devices.reply(of: track)
  }

  /// A device stopped giving media for now, or gives it again, perhaps in another form. Its tracks stay: they end with the page's `stop` alone.
  func deviceChanged(_ device: DeviceRoster.Device) {
    let isMuted = bridge.roster[device].isMuted
    for track in tracks.values.sorted(by: { $0.number < $1.number }) where track.source.device == device {
      var message = TrackMuted(track: track.number, isMuted: isMuted)
      if !isMuted {
        track.refresh()
        (message.settings, message.capabilities) = (devices.settings(of: track), devices.capabilities(of: device))
      }
      send(message)
    }
  }

  private func stopTrack(_ number: UInt32) {
    guard let track = tracks.removeValue(forKey: number) else { return count("track.unknown") }
    track.stop()
    for (identifier, video) in videos where video.track === track {
      video.stop()
      videos[identifier] = nil
    }
    followElements()
  }

  // MARK: What the page makes

  func takeAudio(_ frame: BridgeFrame) {
    guard case .madeAudio(let sound) = tracks[frame.target]?.source else { return count("track.unknown") }
    guard frame.payload.count == 2 * AudioBlock.sampleCount else { return count("track.malformed") }
    let bytes = frame.payload
    let samples = (0..<AudioBlock.sampleCount).map { Int16(bitPattern: UInt16(bytes[2 * $0]) | UInt16(bytes[2 * $0 + 1]) << 8) }
    sound.put(AudioBlock(samples: samples, captureTime: MonotonicClock.now()))
  }

  func takeVideo(_ frame: BridgeFrame) {
    guard let track = tracks[frame.target], case .madeVideo(let pictures) = track.source else { return count("track.unknown") }
    let bytes = frame.payload.span.bytes
    guard bytes.byteCount >= 8 else { return count("track.malformed") }
    let (width, height) = (Int(bytes.uint32(at: 0)), Int(bytes.uint32(at: 4)))
    guard (2...8_192).contains(width), (2...8_192).contains(height), bytes.byteCount == 8 + width * height * 4 else {
      return count("track.malformed")
    }
    let buffer = track.pool.buffer(width: width, height: height)
    buffer.copy(rgba: bytes.extracting(8..<bytes.byteCount))
    var ledger = Ledger()
    ledger[.capture] = MonotonicClock.now()
    pictures.put(VideoFrame(buffer: buffer, ledger: ledger))
  }

  // MARK: What the page shows and plays

  private func play(_ message: VideoPlay) {
    guard let number = message.track else {
      guard let video = videos.removeValue(forKey: message.video) else { return count("video.unknown") }
      return video.stop()
    }
    guard let track = tracks[number], let pictures = track.pictures else { return count("track.unknown") }
    if let old = videos.removeValue(forKey: message.video) { old.stop() }
    guard message.video != 0, videos.count < Document.limit,
      let video = PlayedVideo(identifier: message.video, track: track, pictures: pictures, document: self)
    else { return count("video.refused") }
    videos[message.video] = video
  }

  private func play(_ message: AudioPlay) {
    if message.tracks.isEmpty {
      elements.removeValue(forKey: message.element)?.stop()
      return followElements()
    }
    guard elements[message.element] != nil || elements.count < Document.limit else { return count("element.refused") }
    let element = elements[message.element] ?? PlayedElement(playout: bridge.playout)
    elements[message.element] = element
    element.tracks = message.tracks
    let volume = message.volume ?? 1
    element.volume = message.isMuted == true || !volume.isFinite ? 0 : min(max(volume, 0), 1)
    followElements()
  }

  /// Makes audible what the elements say now: of received tracks by their gain, of others by a playback of their own.
  func followElements() {
    var gains: [ObjectIdentifier: Double] = [:]
    for element in elements.values { element.follow(tracks, gains: &gains) }
    for connection in connections.values { connection.setGains { gains[ObjectIdentifier($0)] ?? 0 } }
  }

  func grab(_ number: UInt32) -> [UInt8] {
    guard let track = tracks[number], let frame = track.grab() else { return Document.noAnswer }
    let (width, height, pixels) = frame.rgba(from: track.pool)
    guard pixels.count + 8 <= BridgeFrame.maximumPayload else { return Document.noAnswer }
    var answer: [UInt8] = []
    answer.reserveCapacity(8 + pixels.count)
    for value in [width, height] { for shift in [24, 16, 8, 0] { answer.append(UInt8(truncatingIfNeeded: value >> shift)) } }
    answer.append(contentsOf: pixels)
    return answer
  }
}
