import BridgeMessages
import Call
import DTLS

/// The box's devices as one origin sees them.
struct Devices {
  let media: PageService.Media
  let origin: String
  let salt: [UInt8]

  /// What pages of this origin know a device as: different for every origin and box, the same from start to start (W3C `deviceId`).
  func identifier(_ device: String) -> String {
    let text = Array(origin.utf8) + [0] + Array(device.utf8)
    return HashFunction.sha256.digest(salt + text).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private func group(_ device: String) -> String { identifier("group\u{0}" + device) }

  /// W3C `enumerateDevices`: without a grant at most one of a kind, nameless.
  func reply(_ grant: PageService.Grant) -> DevicesReply {
    var devices: [DevicesReply.Device] = []
    if let microphone = media.microphone {
      devices.append(
        grant.microphone
          ? DevicesReply.Device(
            deviceId: identifier(microphone.identifier), groupId: group(microphone.identifier), kind: .audioinput, label: microphone.label,
            capabilities: soundCapabilities(microphone))
          : DevicesReply.Device(deviceId: "", groupId: "", kind: .audioinput, label: ""))
    }
    for (index, camera) in media.cameras.enumerated() where grant.camera || index == 0 {
      devices.append(
        grant.camera
          ? DevicesReply.Device(
            deviceId: identifier(camera.identifier), groupId: group(camera.identifier), kind: .videoinput, label: camera.label,
            capabilities: pictureCapabilities(camera))
          : DevicesReply.Device(deviceId: "", groupId: "", kind: .videoinput, label: ""))
    }
    if media.playout != nil {
      devices.append(
        grant.microphone
          ? DevicesReply.Device(deviceId: "default", groupId: group("speaker"), kind: .audiooutput, label: "Speaker")
          : DevicesReply.Device(deviceId: "", groupId: "", kind: .audiooutput, label: ""))
    }
    return DevicesReply(devices: devices, grants: DevicesReply.Grants(camera: grant.camera, microphone: grant.microphone))
  }

  private func pictureCapabilities(_ camera: PageService.Media.Camera) -> DeviceCapabilities {
    var result = DeviceCapabilities()
    let (width, height) = (Double(camera.camera.width), Double(camera.camera.height))
    result.width = .init(min: 16, max: width)
    result.height = .init(min: 16, max: height)
    result.aspectRatio = .init(min: 16 / height, max: width / 16)
    result.frameRate = .init(min: 1, max: camera.camera.framesPerSecond)
    result.facingMode = []
    result.resizeMode = ["none", "crop-and-scale"]
    result.deviceId = identifier(camera.identifier)
    result.groupId = group(camera.identifier)
    return result
  }

  private func soundCapabilities(_ microphone: PageService.Media.Microphone) -> DeviceCapabilities {
    var result = DeviceCapabilities()
    (result.echoCancellation, result.noiseSuppression, result.autoGainControl) = ([false], [false], [false])
    result.sampleRate = .init(min: 48_000, max: 48_000)
    result.sampleSize = .init(min: 16, max: 16)
    result.channelCount = .init(min: 1, max: 1)
    result.latency = .init(min: 0.01, max: 0.01)
    result.deviceId = identifier(microphone.identifier)
    result.groupId = group(microphone.identifier)
    return result
  }

  /// The source behind a device; any of its kind when none is named.
  func open(_ kind: TrackKind, deviceId: String?) throws(ReplyError) -> TrackSource {
    let wanted = deviceId.flatMap { $0.isEmpty || $0 == "default" ? nil : $0 }
    switch kind {
    case .video:
      let index = media.cameras.firstIndex { wanted == nil || identifier($0.identifier) == wanted }
      if let index { return .camera(index: index, media.cameras[index].camera.pictures) }
    case .audio:
      if let microphone = media.microphone, wanted == nil || identifier(microphone.identifier) == wanted {
        return .microphone(microphone.microphone.sound)
      }
    }
    throw ReplyError("NotFoundError", "there is no such \(kind == .video ? "camera" : "microphone")")
  }

  /// W3C `getSettings`: what holds now.
  func settings(of track: Track) -> TrackSettings {
    var result = TrackSettings()
    switch track.source {
    case .camera(let index, _):
      let format = track.pictures?.format ?? VideoFanOut.Format()
      (result.width, result.height, result.frameRate) = (format.width, format.height, format.framesPerSecond)
      result.aspectRatio = Double(format.width) / Double(format.height)
      let isNative = format.width == media.cameras[index].camera.width && format.height == media.cameras[index].camera.height
      result.resizeMode = isNative ? track.wanted.resizeMode ?? "none" : "crop-and-scale"
      (result.deviceId, result.groupId) = (identifier(media.cameras[index].identifier), group(media.cameras[index].identifier))
    case .microphone:
      (result.echoCancellation, result.noiseSuppression, result.autoGainControl) = (false, false, false)
      (result.sampleRate, result.sampleSize, result.channelCount, result.latency) = (48_000, 16, 1, 0.01)
      if let microphone = media.microphone {
        (result.deviceId, result.groupId) = (identifier(microphone.identifier), group(microphone.identifier))
      }
    case .receivedVideo, .madeVideo:
      if let frame = track.pictures?.newest { (result.width, result.height) = (frame.width, frame.height) }
    case .receivedAudio, .madeAudio: break
    }
    return result
  }

  func label(of track: Track) -> String {
    switch track.source {
    case .camera(let index, _): media.cameras[index].label
    case .microphone: media.microphone?.label ?? ""
    default: ""
    }
  }
}
