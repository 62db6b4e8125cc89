import Base
import Frames
import V4L2

/// A stateful encoder of the kernel (Linux, userspace-api/media/v4l/dev-encoder), for any coded format: a picture in, its frame out, one at a time.
///
/// Its calls wait for the driver: it belongs on a thread that nobody waits for longer than a picture may take.
final class MemoryToMemoryEncoder: VideoEncoder {
  let implementationName: String
  var isHardware: Bool { true }

  /// After this time a frame is not waited for any more. Those who wait for the thread have long given up by then.
  private static let limit = Interval.seconds(2)

  /// What is set up for pictures of one size.
  private struct Session {
    var width: Int
    var height: Int
    var pictures: BufferQueue
    var coded: BufferQueue
    /// Nil: pictures come in another device's memory.
    var layout: RawLayout?
    var isFresh = true
  }

  private enum Outcome {
    case coded([UInt8], isKeyFrame: Bool)
    case dropped
    case failed(String)
  }

  private let device: any VideoDevice
  private let format: CodedFormat
  private let capability: DeviceCapability
  private var settings: VideoEncoderSettings
  private var session: Session?
  private var takesDeviceMemory = true
  private var conformance: H264Conformance?
  private var quantizer = H264Quantizer()
  private var pictureCount: Int64 = 0

  /// Takes over an open device. Throws when it cannot do what the settings ask for.
  init(_ device: any VideoDevice, _ format: CodedFormat, name: String, settings: VideoEncoderSettings) throws(CodecError) {
    try settings.validate()
    (self.device, self.format, self.settings, implementationName) = (device, format, settings, name)
    if format == .h264 { conformance = H264Conformance(settings) }
    do throws(V4L2Error) { capability = try device.capability() } catch { throw .unavailable("\(error)") }
    guard capability.isConverter else { throw .unavailable("\(device.name) is no codec") }
    try open(width: settings.width, height: settings.height, deviceBuffer: nil)
  }

  // The queues are wanted in every line; a device that is no converter was refused.
  private var capture: BufferType { capability.captureType ?? .capture }
  private var output: BufferType { capability.outputType ?? .output }

  func setBitrate(_ bitrate: Int, framesPerSecond: Double) throws(CodecError) {
    try VideoEncoderSettings.validate(bitrate: bitrate, framesPerSecond: framesPerSecond)
    (settings.bitrate, settings.framesPerSecond) = (bitrate, framesPerSecond)
    do throws(V4L2Error) {
      // To many drivers the interval is a hint that they take only while they stand still.
      _ = try? device.setInterval(FrameInterval(framesPerSecond: framesPerSecond), of: output)
      try setBitrate()
    } catch {
      guard error.isBusy else { throw .encodingFailed("\(error)") }
      session = nil
    }
  }

  private func setBitrate() throws(V4L2Error) {
    guard let control = device.control(.bitrate) else { return }
    try device.set([ControlSetting(.bitrate, min(max(Int64(settings.bitrate), control.minimum), control.maximum))])
  }

  func encode(_ frame: VideoFrame, forceKeyFrame: Bool) throws(CodecError) -> EncodedVideoFrame? {
    let buffer = frame.buffer
    var deviceBuffer = takesDeviceMemory ? frame.deviceBuffer : nil
    // A picture that was scaled or turned over is in the buffer alone.
    if deviceBuffer.map({ ($0.width, $0.height) != (buffer.width, buffer.height) }) ?? false { deviceBuffer = nil }
    let fits =
      session.map { $0.width == buffer.width && $0.height == buffer.height && ($0.layout == nil) == (deviceBuffer != nil) } ?? false
    if !fits {
      var changed = settings
      (changed.width, changed.height) = (buffer.width, buffer.height)
      try changed.validate()
      settings = changed
      try open(width: buffer.width, height: buffer.height, deviceBuffer: deviceBuffer)
    }
    let outcome: Outcome
    do throws(V4L2Error) {
      if forceKeyFrame, session?.isFresh == false { try requestKeyFrame() }
      session?.isFresh = false
      outcome = try exchange(frame)
    } catch { throw .encodingFailed("\(error)") }
    switch outcome {
    case .dropped: return nil
    case .failed(let what): throw .encodingFailed("\(device.name): \(what)")
    case .coded(let bytes, let isKeyFrame):
      let checked = try conformance?.checked(bytes) ?? bytes
      return EncodedVideoFrame(
        bytes: checked, isKeyFrame: isKeyFrame, width: buffer.width, height: buffer.height, ledger: frame.ledger, rotation: frame.rotation,
        quantizer: format == .h264 ? quantizer.read(checked) : nil)
    }
  }

  // MARK: Set up

  private func open(width: Int, height: Int, deviceBuffer: DeviceBuffer?) throws(CodecError) {
    session = nil
    conformance = format == .h264 ? H264Conformance(settings) : nil
    do {
      if let deviceBuffer {
        do {
          session = try importing(deviceBuffer)
          return
        } catch {
          Log.info("\(device.name) does not take pictures from the camera's memory: \(error)")
          takesDeviceMemory = false
        }
      }
      session = try copying(width: width, height: height)
    } catch let error as CodecError {
      throw error
    } catch {
      throw .unavailable("\(error)")
    }
  }

  /// A session whose pictures are copied into the driver's memory.
  private func copying(width: Int, height: Int) throws -> Session {
    try setCodedFormat(width: width, height: height)
    let offered = try device.formats(of: output).map(\.pixelFormat)
    guard let raw = RawLayout.formats.first(where: offered.contains) else {
      throw CodecError.unavailable("\(device.name) takes none of \(RawLayout.formats.map(\.description).joined(separator: ", "))")
    }
    let wanted = PictureFormat(pixelFormat: raw, width: width, height: height, colors: .bt601)
    let taken = try device.setFormat(wanted, of: output)
    guard taken.pixelFormat == raw, let layout = RawLayout(taken) else {
      throw CodecError.unavailable("\(device.name) takes \(taken.pixelFormat), in a layout that is not known here")
    }
    let queues = try start(taken, width: width, height: height, memory: .mapped)
    return Session(width: width, height: height, pictures: queues.pictures, coded: queues.coded, layout: layout)
  }

  /// A session whose pictures stay where the camera put them. Throws where the driver wants them laid out in another way.
  private func importing(_ buffer: DeviceBuffer) throws -> Session {
    guard let shape = DeviceMemoryShape(buffer) else { throw CodecError.unavailable("its format is of no use to codecs") }
    try setCodedFormat(width: buffer.width, height: buffer.height)
    var wanted = PictureFormat(pixelFormat: shape.format, width: buffer.width, height: buffer.height, colors: .bt601)
    wanted.planes[0].stride = shape.stride
    let taken = try device.setFormat(wanted, of: output)
    guard taken.pixelFormat == shape.format, taken.planes.count == 1, taken.planes[0].stride == shape.stride,
      taken.height == buffer.height || shape.isPacked, taken.planes[0].size <= shape.byteCount
    else {
      let plane = taken.planes.first ?? .init()
      throw CodecError.unavailable(
        "\(shape.format) with \(shape.stride) bytes a row, \(shape.byteCount) in all, would be \(taken.pixelFormat), \(plane.stride) and \(plane.size)"
      )
    }
    let queues = try start(taken, width: buffer.width, height: buffer.height, memory: .dmaBuffer)
    return Session(width: buffer.width, height: buffer.height, pictures: queues.pictures, coded: queues.coded, layout: nil)
  }

  private func setCodedFormat(width: Int, height: Int) throws {
    // Half of a raw picture holds any frame of a call.
    let size = max(64 << 10, width * height * 3 / 4)
    let wanted = PictureFormat(pixelFormat: format.pixelFormat, width: width, height: height, planes: [.init(size: size)])
    guard try device.setFormat(wanted, of: capture).pixelFormat == format.pixelFormat else {
      throw CodecError.unavailable("\(device.name) does not write \(format.pixelFormat)")
    }
  }

  /// Makes the buffers and starts both queues.
  private func start(_ taken: PictureFormat, width: Int, height: Int, memory: BufferMemory) throws -> (
    pictures: BufferQueue, coded: BufferQueue
  ) {
    guard taken.width >= width, taken.height >= height else {
      throw CodecError.unavailable("\(device.name) takes pictures of at most \(taken.width)×\(taken.height) pixels, not \(width)×\(height)")
    }
    _ = try? device.setInterval(FrameInterval(framesPerSecond: settings.framesPerSecond), of: output)
    if (taken.width, taken.height) != (width, height) {
      let seen = try device.setSelection(Selection(width: width, height: height), .crop, of: output)
      guard (seen.width, seen.height) == (width, height) else {
        throw CodecError.unavailable("\(device.name) cannot hide what it adds to \(width)×\(height) pixels")
      }
    }
    try setControls()
    let pictures = try BufferQueue(device, output, format: taken, count: 2, memory: memory)
    let coded = try BufferQueue(device, capture, format: try device.format(of: capture), count: 3)
    try coded.enqueueAll()
    try pictures.start()
    try coded.start()
    return (pictures, coded)
  }

  /// What makes an encoder fit for a conversation: a constant rate, no B pictures, key frames only when they are asked for, headers with each.
  private func setControls() throws {
    func prefer(_ identifier: VideoControl.Identifier, _ value: Int64) {
      guard let control = device.control(identifier), control.isWritable else { return }
      let setting = ControlSetting(identifier, min(max(value, control.minimum), control.maximum), isWide: control.kind == .wideInteger)
      do { try device.set([setting]) } catch { Log.info("\(device.name) refuses \(control.name) \(setting.value): \(error)") }
    }
    prefer(.controlsRate, 1)
    prefer(.bitrateMode, 1)
    try setBitrate()
    prefer(.mayDropFrames, settings.mayDropFrames ? 2 : 0)
    prefer(.bFrames, 0)
    // The longest there is.
    prefer(.groupSize, .max)
    guard format == .h264 else { return }
    prefer(.h264KeyFramePeriod, .max)
    prefer(.headerMode, 1)
    prefer(.repeatsSequenceHeader, 1)
    prefer(.prependsParameterSets, 1)
    switch settings.profile {
    case .constrainedBaseline: prefer(.h264Profile, 1)
    case .main: prefer(.h264Profile, 2)
    case .high: prefer(.h264Profile, 4)
    }
    prefer(.h264EntropyMode, settings.profile == .constrainedBaseline ? 0 : 1)
    if let level = settings.level, let entry = MemoryToMemoryEncoder.levels.firstIndex(of: level) { prefer(.h264Level, Int64(entry)) }
    if let limit = settings.maximumSliceCount {
      guard device.control(.sliceMode) != nil, let size = device.control(.sliceByteLimit), size.minimum <= Int64(limit) else {
        throw CodecError.unavailable("\(device.name) cannot limit slices to \(limit) bytes, as packetization mode 0 needs it")
      }
      try device.set([ControlSetting(.sliceMode, 2)])
      try device.set([ControlSetting(.sliceByteLimit, min(Int64(limit), size.maximum))])
    }
  }

  /// `level_idc` of each entry of the kernel's `enum v4l2_mpeg_video_h264_level`; 9 is level 1b.
  private static let levels = [10, 9, 11, 12, 13, 20, 21, 22, 30, 31, 32, 40, 41, 42, 50, 51, 52, 60, 61, 62]

  // MARK: Pictures

  private func requestKeyFrame() throws(V4L2Error) {
    if device.control(.forceKeyFrame) != nil { return try device.set([ControlSetting(.forceKeyFrame, 1)]) }
    // The reset sequence: what comes after it stands alone.
    guard let session else { return }
    try drain(session)
    try session.coded.stop()
    try session.coded.enqueueAll()
    try session.coded.start()
  }

  /// Has the driver hand out what it still holds. Nothing, as a rule: a picture waits for the frame of the one before it.
  private func drain(_ session: Session) throws(V4L2Error) {
    do throws(V4L2Error) { try device.tellEncoder(.stop) } catch {
      guard error.isUnsupported else { throw error }
      return
    }
    let deadline = monotonicNow() + MemoryToMemoryEncoder.limit
    while monotonicNow() < deadline {
      do throws(V4L2Error) {
        if let buffer = try session.coded.dequeue() {
          if buffer.flags.contains(.last) { return }
          try session.coded.enqueueAll()
          continue
        }
      } catch {
        guard error.isDrained else { throw error }
        return
      }
      if try device.wait(for: .capture, timeout: deadline - monotonicNow()).contains(.error) { return }
    }
  }

  private func exchange(_ frame: VideoFrame) throws(V4L2Error) -> Outcome {
    guard let session else { return .failed("is not set up") }
    let deadline = monotonicNow() + MemoryToMemoryEncoder.limit
    while session.pictures.idle.isEmpty, try session.pictures.dequeue() == nil {
      guard monotonicNow() < deadline else { return .failed("gives no picture back") }
      _ = try device.wait(for: .output, timeout: deadline - monotonicNow())
    }
    guard let index = session.pictures.idle.last else { return .failed("gives no picture back") }

    pictureCount += 1
    // Whole microseconds, which is what the driver copies to the frame.
    let time = Instant(nanoseconds: pictureCount * 1_000)
    if let layout = session.layout {
      unsafe layout.write(frame.buffer, to: session.pictures.planes(of: index))
      try session.pictures.enqueue(index, time: time) { buffer in
        for plane in 0..<buffer.planeCount { buffer.planes[plane].byteCount = layout.format.planes[plane].size }
      }
    } else if let descriptor = frame.deviceBuffer?.planes.first?.descriptor {
      let size = session.pictures.format.planes[0].size
      try session.pictures.enqueue(index, time: time) { buffer in
        buffer.planes[0].descriptor = descriptor
        buffer.planes[0].byteCount = size
      }
    }

    var bytes: [UInt8] = []
    while true {
      guard let buffer = try session.coded.dequeue() else {
        guard monotonicNow() < deadline else { return .failed("gives no frame within \(Int(MemoryToMemoryEncoder.limit.seconds)) s") }
        let ready = try device.wait(for: .capture, timeout: deadline - monotonicNow())
        if ready.contains(.error) { return .failed("its queues have stopped") }
        continue
      }
      let (start, end) = (buffer.planes[0].offset, buffer.planes[0].byteCount)
      // What is left of an earlier picture that was given up.
      let isOfThisPicture = buffer.time == time || !buffer.flags.contains(.copiedTime)
      if isOfThisPicture, start < end, !buffer.flags.contains(.error) {
        let memory = unsafe session.coded.planes(of: buffer.index)[0]
        unsafe bytes.append(contentsOf: memory[start..<min(end, memory.count)])
      }
      try session.coded.enqueue(buffer.index)
      guard isOfThisPicture else { continue }
      if buffer.flags.contains(.error) { return .failed("flags a frame as damaged") }
      if bytes.isEmpty { return .dropped }
      // Parameter sets may come in a buffer of their own.
      if format == .h264, !AnnexB.holdsPicture(bytes) { continue }
      // The camera may have its memory back.
      while session.layout == nil, session.pictures.idle.count < session.pictures.count, try session.pictures.dequeue() == nil {
        guard monotonicNow() < deadline else { return .failed("gives no picture back") }
        _ = try device.wait(for: .output, timeout: deadline - monotonicNow())
      }
      return .coded(bytes, isKeyFrame: format.isKeyFrame(bytes, flags: buffer.flags))
    }
  }
}
