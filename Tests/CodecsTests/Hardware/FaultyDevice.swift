import Frames
import Synchronization

@testable import Codecs

/// Coding hardware that is software in truth, and does one thing wrong.
final class FaultyDevice: CodingDevice {
  enum Fault: Sendable, Equatable {
    case none
    /// Never comes back from a call.
    case hangs
    case hangsWhenOpened
    /// Says that it failed.
    case fails
    /// Has no room for one more.
    case isFull
    /// Exchanges the colours.
    case swapsColours
    /// Gives nothing for a picture.
    case holdsBack
    case ignoresKeyFrameRequests
    /// Says that what it gets is broken.
    case refuses
  }

  let name: String
  private let onlyDirection: CodecChoice.Direction?
  private let fault = Mutex(Fault.none)
  private let release = WakeSignal()

  init(_ name: String = "test device", only direction: CodecChoice.Direction? = nil, fault: Fault = .none) {
    (self.name, onlyDirection) = (name, direction)
    self.fault.withLock { $0 = fault }
  }

  func begin(_ value: Fault) { fault.withLock { $0 = value } }
  /// Lets a call that hangs come back, when the test is over.
  func letGo() { release.signal() }
  fileprivate var current: Fault { fault.withLock { $0 } }
  fileprivate func hang() { release.wait() }

  func supports(_ codec: VideoCodec, _ direction: CodecChoice.Direction) -> Bool { onlyDirection == nil || onlyDirection == direction }

  func makeEncoder(_ codec: VideoCodec, settings: VideoEncoderSettings) throws(CodecError) -> any VideoEncoder {
    if current == .hangsWhenOpened { hang() }
    if current == .isFull { throw .unavailable("all sessions are taken") }
    return Encoder(device: self, inner: try CodecFactory.softwareEncoder(codec, settings: settings))
  }

  func makeDecoder(_ codec: VideoCodec) throws(CodecError) -> any VideoDecoder {
    if current == .hangsWhenOpened { hang() }
    if current == .isFull { throw .unavailable("all sessions are taken") }
    return Decoder(device: self, inner: try CodecFactory.softwareDecoder(codec))
  }

  private final class Encoder: VideoEncoder {
    let device: FaultyDevice
    let inner: any VideoEncoder
    var implementationName: String { device.name }
    init(device: FaultyDevice, inner: any VideoEncoder) { (self.device, self.inner) = (device, inner) }

    func setBitrate(_ bitrate: Int, framesPerSecond: Double) throws(CodecError) {
      try inner.setBitrate(bitrate, framesPerSecond: framesPerSecond)
    }

    func encode(_ frame: VideoFrame, forceKeyFrame: Bool) throws(CodecError) -> EncodedVideoFrame? {
      switch device.current {
      case .hangs:
        device.hang()
        return nil
      case .fails: throw .encodingFailed("input/output error")
      case .holdsBack: return nil
      case .ignoresKeyFrameRequests: return try inner.encode(frame, forceKeyFrame: false)
      case .swapsColours:
        var wrong = frame
        wrong.buffer = swapped(frame.buffer)
        return try inner.encode(wrong, forceKeyFrame: forceKeyFrame)
      default: return try inner.encode(frame, forceKeyFrame: forceKeyFrame)
      }
    }
  }

  private final class Decoder: VideoDecoder {
    let device: FaultyDevice
    let inner: any VideoDecoder
    var implementationName: String { device.name }
    var lastQuantizer: Int? { nil }
    init(device: FaultyDevice, inner: any VideoDecoder) { (self.device, self.inner) = (device, inner) }

    func decode(_ frame: EncodedVideoFrame) throws(CodecError) -> VideoFrame? {
      switch device.current {
      case .hangs:
        device.hang()
        return nil
      case .fails: throw .encodingFailed("input/output error")
      case .refuses: throw .malformed("the device's error flag")
      case .holdsBack: return nil
      case .swapsColours:
        guard var shown = try inner.decode(frame) else { return nil }
        shown.buffer = swapped(shown.buffer)
        return shown
      default: return try inner.decode(frame)
      }
    }
  }
}

private func swapped(_ buffer: VideoBuffer) -> VideoBuffer {
  let result = VideoBuffer(width: buffer.width, height: buffer.height)
  unsafe result.copy(
    luma: buffer.luma, lumaStride: buffer.lumaStride, chromaU: buffer.chromaV, chromaV: buffer.chromaU, chromaStride: buffer.chromaStride)
  return result
}
