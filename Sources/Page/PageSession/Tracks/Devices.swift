import BridgeMessages
import Call
import DTLS

/// The box's devices as one origin sees them.
struct Devices {
  let media: PageService.Media
  let origin: String
  let salt: [UInt8]
  let roster: DeviceRoster

  /// What pages of this origin know a device as: different for every origin and box, the same from start to start (W3C `deviceId`).
  func identifier(_ device: String) -> String {
    let text = Array(origin.utf8) + [0] + Array(device.utf8)
    return HashFunction.sha256.digest(salt + text).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private func group(_ device: String) -> String { identifier("group\u{0}" + device) }

  /// W3C `enumerateDevices`: without a grant at most one of a kind, nameless.
  func reply(_ grant: PageService.Grant) -> DevicesReply {
    var devices: [DevicesReply.Device] = []
    if let microphone = media.microphone, isOffered(.microphone) {
      devices.append(
        grant.microphone
          ? device(.microphone, microphone.identifier, .audioinput, capabilities(of: .microphone))
          : DevicesReply.Device(hidden: .audioinput))
    }
    let offered = media.cameras.indices.filter { isOffered(.camera($0)) }
    if grant.camera {
      for index in offered {
        devices.append(device(.camera(index), media.cameras[index].identifier, .videoinput, capabilities(of: .camera(index))))
      }
    } else if !offered.isEmpty {
      devices.append(DevicesReply.Device(hidden: .videoinput))
    }
    if media.speaker != nil, roster[.speaker].isPresent {
      var speaker = device(.speaker, "speaker", .audiooutput, nil)
      speaker.deviceId = "default"
      devices.append(grant.microphone ? speaker : DevicesReply.Device(hidden: .audiooutput))
    }
    return DevicesReply(devices: devices, grants: DevicesReply.Grants(camera: grant.camera, microphone: grant.microphone))
  }

  /// Whether a page can open it.
  private func isOffered(_ device: DeviceRoster.Device) -> Bool { roster[device].isPresent || roster[device].isExpected }

  private func device(
    _ device: DeviceRoster.Device, _ name: String, _ kind: DevicesReply.Device.Kind, _ capabilities: DeviceCapabilities?
  ) -> DevicesReply.Device {
    var result = DevicesReply.Device(
      deviceId: identifier(name), groupId: group(name), kind: kind, label: label(of: device), capabilities: capabilities)
    if !roster[device].isPresent { result.isAbsent = true }
    return result
  }

  /// What the device calls itself, or called itself last.
  private func label(of device: DeviceRoster.Device) -> String {
    let fallback: String? =
      switch device {
      case .camera(let index): media.cameras[index].label
      case .microphone: media.microphone?.label
      case .speaker: media.speaker?.label
      }
    guard let name = roster[device].name else { return fallback ?? "" }
    // Two cameras of one make are told apart.
    guard case .camera(let index) = device, media.cameras.indices.count(where: { roster[.camera($0)].name == name }) > 1 else {
      return name
    }
    return "\(name) \(index + 1)"
  }

  /// What a device can be set to; nil: nothing is known of it.
  func capabilities(of device: DeviceRoster.Device) -> DeviceCapabilities? {
    switch device {
    case .camera(let index): pictureCapabilities(media.cameras[index])
    case .microphone: media.microphone.map(soundCapabilities)
    case .speaker: nil
    }
  }

  private func pictureCapabilities(_ camera: PageService.Media.Camera) -> DeviceCapabilities {
    var result = DeviceCapabilities()
    let format = camera.camera.pictures.format
    let (width, height) = (Double(format.width), Double(format.height))
    result.width = .init(min: 16, max: width)
    result.height = .init(min: 16, max: height)
    result.aspectRatio = .init(min: 16 / height, max: width / 16)
    result.frameRate = .init(min: 1, max: format.framesPerSecond)
    result.facingMode = []
    result.resizeMode = ["none", "crop-and-scale"]
    result.deviceId = identifier(camera.identifier)
    result.groupId = group(camera.identifier)
    return result
  }

  private func soundCapabilities(_ microphone: PageService.Media.Microphone) -> DeviceCapabilities {
    var result = DeviceCapabilities()
    // What holds where a page says nothing stands first.
    func choices(_ usual: Bool?) -> [Bool] { usual.map { [$0, !$0] } ?? [false] }
    let usual = microphone.processing
    result.echoCancellation = choices(usual?.echoCancellation)
    result.noiseSuppression = choices(usual?.noiseSuppression)
    result.autoGainControl = choices(usual?.autoGainControl)
    result.sampleRate = .init(min: 48_000, max: 48_000)
    result.sampleSize = .init(min: 16, max: 16)
    result.channelCount = .init(min: 1, max: 1)
    result.latency = .init(min: 0.01, max: 0.01)
    result.deviceId = identifier(microphone.identifier)
    result.groupId = group(microphone.identifier)
    return result
  }

  /// The source behind a device; any of its kind when none is named, one that is there before others.
  func open(_ kind: TrackKind, deviceId: String?) throws(ReplyError) -> TrackSource {
    let wanted = deviceId.flatMap { $0.isEmpty || $0 == "default" ? nil : $0 }
    switch kind {
    case .video:
      let fitting = media.cameras.indices.filter {
        isOffered(.camera($0)) && (wanted == nil || identifier(media.cameras[$0].identifier) == wanted)
      }
      if let index = fitting.first(where: { roster[.camera($0)].isPresent }) ?? fitting.first {
        return .camera(index: index, media.cameras[index].camera.pictures)
      }
    case .audio:
      if let microphone = media.microphone, isOffered(.microphone), wanted == nil || identifier(microphone.identifier) == wanted {
        return .microphone(microphone)
      }
    }
    throw ReplyError("NotFoundError", "there is no such \(kind == .video ? "camera" : "microphone")")
  }

  /// What `track.open` and `track.apply` are answered with.
  func reply(of track: Track) -> TrackReply {
    var reply = TrackReply(settings: settings(of: track), label: track.source.device.map(label(of:)) ?? "")
    if let device = track.source.device, roster[device].isMuted { reply.isMuted = true }
    return reply
  }

  /// W3C `getSettings`: what holds now.
  func settings(of track: Track) -> TrackSettings {
    var result = TrackSettings()
    switch track.source {
    case .camera(let index, _):
      let format = track.pictures?.format ?? VideoFanOut.Format()
      (result.width, result.height, result.frameRate) = (format.width, format.height, format.framesPerSecond)
      result.aspectRatio = Double(format.width) / Double(format.height)
      let native = media.cameras[index].camera.pictures.format
      let isNative = format.width == native.width && format.height == native.height
      result.resizeMode = isNative ? track.wanted.resizeMode ?? "none" : "crop-and-scale"
      (result.deviceId, result.groupId) = (identifier(media.cameras[index].identifier), group(media.cameras[index].identifier))
    case .microphone(let microphone):
      let processing = track.processing ?? .none
      (result.echoCancellation, result.noiseSuppression) = (processing.echoCancellation, processing.noiseSuppression)
      result.autoGainControl = processing.autoGainControl
      (result.sampleRate, result.sampleSize, result.channelCount, result.latency) = (48_000, 16, 1, 0.01)
      (result.deviceId, result.groupId) = (identifier(microphone.identifier), group(microphone.identifier))
    case .receivedVideo, .madeVideo:
      if let frame = track.pictures?.newest { (result.width, result.height) = (frame.width, frame.height) }
    case .receivedAudio, .madeAudio: break
    }
    return result
  }
}

extension DevicesReply.Device {
  /// All that a document without a grant learns of a kind of device: that there is one.
  fileprivate init(hidden kind: Kind) { self.init(deviceId: "", groupId: "", kind: kind, label: "") }
}
