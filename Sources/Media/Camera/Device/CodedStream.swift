import Base
import Codecs
import Frames
import V4L2

/// The H.264 that a camera codes itself: its buffers as access units, key frames that are asked for, a bitrate to follow, and pictures if somebody
/// looks. Used on one thread.
final class CodedStream {
  /// What a camera without the control has to go through for a key frame: the caller stops the stream and starts it.
  enum KeyFrameStep: Equatable { case none, restart }

  private let device: any VideoDevice
  private let format: PictureFormat
  private var reader = AccessUnitReader()
  private var decoder: (any VideoDecoder)?
  /// Key frames in a row that no picture was made of.
  private var undecodedCount = 0
  private let forcesKeyFrames: Bool
  private let bitrateControl: VideoControl?
  private var bitrate: Int?
  /// Whether a key frame is to come, and when the camera was asked for it last.
  private var needsKeyFrame = false
  private var lastRequest: Instant?
  /// The number of the next unit, and whether units are missing since the last key frame.
  private var following: Int?
  private var isBroken = false

  /// A key frame that was asked for may take a few pictures to come. A stream that starts anew takes longer, and others see it.
  private var patience: Interval { forcesKeyFrames ? .milliseconds(250) : .seconds(2) }

  /// The stream of a camera that is about to be started with `format`.
  init(_ device: any VideoDevice, format: PictureFormat) {
    (self.device, self.format) = (device, format)
    forcesKeyFrames = device.control(.forceKeyFrame)?.isWritable ?? false
    bitrateControl = device.control(.bitrate).flatMap { $0.isWritable ? $0 : nil }
    CodedStream.prepare(device, format)
  }

  /// Whether a camera's bitrate can be set, without which its stream cannot follow a network.
  static func followsBitrate(_ device: any VideoDevice) -> Bool { device.control(.bitrate)?.isWritable ?? false }

  /// What makes a camera's encoder fit for a conversation: a constant rate, no B pictures, headers with each key frame, a profile that every peer
  /// takes, and the level that size and rate need at least 3.1. What it lacks is left as it is: each SPS says what the stream is.
  private static func prepare(_ device: any VideoDevice, _ format: PictureFormat) {
    func prefer(_ identifier: VideoControl.Identifier, _ value: Int64) {
      guard let control = device.control(identifier), control.isWritable, (control.minimum...control.maximum).contains(value) else {
        return
      }
      do { try device.set([ControlSetting(identifier, value)]) } catch {
        Log.info("\(device.name) refuses \(control.name) \(value): \(error)")
      }
    }
    prefer(.bitrateMode, 1)
    prefer(.bFrames, 0)
    prefer(.headerMode, 1)
    prefer(.repeatsSequenceHeader, 1)
    prefer(.h264Profile, 1)
    // Entry 9 of the kernel's `enum v4l2_mpeg_video_h264_level`, enough for 1280 by 720 pixels at 30 pictures a second: what peers say at least.
    if format.width * format.height <= 1_280 * 720 { prefer(.h264Level, 9) }
  }

  /// The access unit in a buffer that the driver filled; nil: there is none, for it holds parameter sets, or what was damaged, which is counted.
  func unit(in buffer: QueueBuffer, memory: UnsafeMutableRawBufferPointer, figures: inout CameraFigures) -> AccessUnit? {
    let plane = buffer.planes[0]
    let length = min(plane.byteCount, memory.count)
    guard !buffer.flags.contains(.error) else { return lose(.flagged, &figures) }
    guard length > plane.offset else { return lose(.short, &figures) }
    do throws(AccessUnitFault) {
      guard let unit = try unsafe reader.read([UInt8](memory[plane.offset..<length])) else { return nil }
      guard unit.format.map(isOfSize) ?? true else { return lose(.wrongSize, &figures) }
      if unit.frame.isKeyFrame {
        (needsKeyFrame, isBroken) = (false, false)
      } else if let following, unit.number != following {
        // What was damaged is counted already.
        if !isBroken { figures[.missing] += 1 }
        (needsKeyFrame, isBroken) = (true, true)
      }
      following = unit.number + 1
      return unit
    } catch {
      return lose(error == .empty ? .short : .corrupt, &figures, isNoted: true)
    }
  }

  /// Some encoders do not say in their SPS that 1,088 coded rows are 1,080 pictured ones.
  private func isOfSize(_ unit: AccessUnit.Format) -> Bool {
    (0..<16).contains(unit.width - format.width) && (0..<16).contains(unit.height - format.height)
  }

  private func lose(_ reason: CameraDiscard, _ figures: inout CameraFigures, isNoted: Bool = false) -> AccessUnit? {
    figures[reason] += 1
    if !isNoted { reader.lose() }
    (needsKeyFrame, isBroken) = (true, true)
    return nil
  }

  /// The picture of a unit, for who cannot do with units; nil: there is none yet. Units have to come in order, and all of them. Throws when no
  /// decoder is up to the stream.
  func picture(of unit: AccessUnit) throws(CameraFailure) -> VideoFrame? {
    // What refers to a picture that is missing is never shown.
    guard !isBroken else { return nil }
    do throws(CodecError) {
      if decoder == nil { decoder = try CodecFactory.videoDecoder(.h264) }
      guard let decoder else { return nil }
      guard let picture = try decoder.decode(unit.frame) else { return nil }
      ColorConversion.normalize(picture.buffer, matrix: format.matrix, isFullRange: format.isFullRange)
      undecodedCount = 0
      return picture
    } catch {
      needsKeyFrame = true
      undecodedCount += unit.frame.isKeyFrame ? 1 : 0
      guard undecodedCount < 3 else { throw .broken("\(device.name): its H.264 cannot be decoded: \(error)") }
      return nil
    }
  }

  /// Nobody looks: pictures begin with a key frame when somebody does again.
  func forgetPictures() { decoder = nil }

  /// A key frame is wanted.
  func requestKeyFrame() { needsKeyFrame = true }

  /// The stream was stopped and started.
  func restarted() { reader.lose() }

  /// Asks the camera for a key frame if one is wanted. It is asked again while none comes.
  func askForKeyFrame(now: Instant) -> KeyFrameStep {
    guard needsKeyFrame, lastRequest.map({ now - $0 >= patience }) ?? true else { return .none }
    lastRequest = now
    guard forcesKeyFrames else { return .restart }
    // A button; a driver that refuses it now is asked again.
    do { try device.set([ControlSetting(.forceKeyFrame, 1)]) } catch { Log.info("\(device.name) gives no key frame: \(error)") }
    return .none
  }

  /// Has the camera code at about `wanted` bits per second.
  func setBitrate(_ wanted: Int) {
    guard let control = bitrateControl, bitrate.map({ abs($0 - wanted) > $0 / 20 }) ?? true else { return }
    bitrate = wanted
    let step = max(1, control.step)
    let clamped = min(max(Int64(wanted), control.minimum), control.maximum)
    let value = control.minimum + (clamped - control.minimum) / step * step
    do { try device.set([ControlSetting(.bitrate, value)]) } catch { Log.info("\(device.name) refuses \(value) bit/s: \(error)") }
  }
}
