import Base
import Codecs
import Frames
import Glibc
import V4L2

/// A camera that takes pictures: few buffers, always drained to the newest picture. Used on one thread.
public final class CaptureSession {
  /// How pictures are taken.
  public let mode: CaptureMode
  /// What is seen of each picture, in pixels.
  public var width: Int { mode.width }
  public var height: Int { mode.height }
  /// Whether the camera codes H.264 itself.
  public var isCoded: Bool { coded != nil }
  /// Whether the camera gives pictures both ways: coded by itself, at a bitrate that follows, and not.
  public let offersH264: Bool
  /// The device, to wait for (readable when there is a picture or news).
  public var descriptor: Int32 { device.descriptor }
  /// What came of the settings that the camera did not take, for the log.
  public let refusals: [String]
  /// Pictures counted since the start.
  public internal(set) var figures = CameraFigures()

  let device: any VideoDevice
  let type: BufferType
  private let format: PictureFormat
  /// Makes pictures of what a camera gives that codes no H.264.
  private let converter: PictureConverter?
  /// What a camera gives that does.
  let coded: CodedStream?
  /// A mapping of each plane of each buffer.
  var memory: [[UnsafeMutableRawBufferPointer]] = []
  /// A descriptor of each plane of each buffer for other devices; empty: the driver exports none.
  private var exports: [[Int32]] = []
  private let lent: LentBuffers
  /// How many buffers the driver holds.
  var queuedCount = 0
  private let input: VideoInput?
  private var isOpen = true

  /// More make no picture newer. One is being filled, one is next, one is being converted; the others are for those who show from them.
  private static let bufferCount = 5
  /// So many stay with the driver, whoever wants to show from them.
  private static let driverShare = 2

  /// Starts the camera that `device` is, in the best mode that it takes; with `takesUnits` somebody sends what it codes itself. `wake` is called from
  /// any thread when `takePicture` has something to do though the device says nothing.
  public init(
    device: any VideoDevice, settings: CameraSettings, takesUnits: Bool = false, wake: @escaping @Sendable () -> Void = {}
  ) throws(CameraFailure) {
    self.device = device
    do throws(V4L2Error) {
      let capability = try device.capability()
      guard capability.isCamera, let type = capability.captureType else {
        throw V4L2Error(call: "VIDIOC_QUERYCAP", subject: "\(device.name), no camera", code: ENODEV)
      }
      self.type = type
      input = device.input()
      if input?.hasTimings == true {
        try? device.subscribe(to: .sourceChange, control: nil)
        // A driver that cannot say what comes in keeps the timings it has.
        try? device.adoptTimings()
      }
      let controls = CameraControls(settings, on: device)
      var wanted = FormatChoice(width: settings.width, height: settings.height, framesPerSecond: settings.framesPerSecond)
      // Coded pictures are not turned over here.
      wanted.takesH264 = settings.ownH264 != .never && (!settings.isMirrored || controls.mirrors)
      var modes = wanted.ranked(try CaptureOffer.all(of: device, type: type, wanted: wanted))
      let (isFirst, hasOthers) = (modes.first?.pixelFormat == .h264, modes.contains { $0.pixelFormat != .h264 })
      offersH264 = isFirst && hasOthers && CodedStream.followsBitrate(device)
      if settings.ownH264 == .automatic, hasOthers, !(takesUnits && offersH264) { modes.removeAll { $0.pixelFormat == .h264 } }
      var started: Started?
      var refusal = V4L2Error(call: "VIDIOC_ENUM_FMT", subject: "\(device.name), no format that can be used", code: ENOTSUP)
      // What one mode lacks, such as room on the bus, another may have.
      for mode in modes.prefix(12) where started == nil {
        do throws(V4L2Error) {
          started = try CaptureSession.start(
            device, type, mode, wantedRate: settings.framesPerSecond, isMirrored: settings.isMirrored && !controls.mirrors)
        } catch {
          if error.isGone || error.isBusy { throw error }
          refusal = error
        }
      }
      guard let started else { throw refusal }
      (mode, format, converter, coded) = (started.mode, started.format, started.converter, started.coded)
      (memory, exports, queuedCount) = (started.memory, started.exports, started.memory.count)
      refusals = controls.refusals
    } catch {
      throw CameraFailure(error)
    }
    lent = LentBuffers(count: memory.count, wake: wake)
    try checkSignal()
  }

  deinit { close() }

  private struct Started {
    var mode: CaptureMode
    var format: PictureFormat
    var converter: PictureConverter?
    var coded: CodedStream?
    var memory: [[UnsafeMutableRawBufferPointer]]
    var exports: [[Int32]]
  }

  /// Starts one mode, or leaves nothing behind.
  private static func start(
    _ device: any VideoDevice, _ type: BufferType, _ mode: CaptureMode, wantedRate: Double, isMirrored: Bool
  ) throws(V4L2Error) -> Started {
    let isApart = mode.pixelFormat == FormatChoice.nv12Apart ? 2 : mode.pixelFormat == FormatChoice.yuv420Apart ? 3 : 1
    let format = try device.setFormat(
      PictureFormat(
        pixelFormat: mode.pixelFormat, width: mode.width, height: mode.height,
        planes: Array(repeating: PictureFormat.Plane(), count: isApart)), of: type)
    guard format.pixelFormat == mode.pixelFormat else {
      throw V4L2Error(call: "VIDIOC_S_FMT", subject: "\(device.name), \(format.pixelFormat) instead of \(mode.pixelFormat)", code: EINVAL)
    }
    var mode = mode
    // A driver without rates takes pictures as they come.
    let rate = mode.framesPerSecond > 0 ? mode.framesPerSecond : max(1, wantedRate)
    if let interval = try? device.setInterval(FrameInterval(framesPerSecond: rate), of: type),
      interval.framesPerSecond > 0
    {
      mode.framesPerSecond = interval.framesPerSecond
    } else if let interval = try? device.interval(of: type) {
      mode.framesPerSecond = interval.framesPerSecond
    }
    let seen = PictureLayout.visibleSize(
      of: format, wanted: (mode.width, mode.height), selection: try? device.selection(.compose, of: type))
    let coded = mode.pixelFormat == .h264 ? CodedStream(device, format: format) : nil
    let converter = coded == nil ? PictureConverter(format, width: seen.width, height: seen.height, isMirrored: isMirrored) : nil
    guard coded != nil || converter != nil else {
      throw V4L2Error(call: "VIDIOC_S_FMT", subject: "\(device.name), \(format.pixelFormat) in buffers too small", code: EINVAL)
    }
    guard coded == nil || (format.width, format.height) == (mode.width, mode.height) else {
      throw V4L2Error(call: "VIDIOC_S_FMT", subject: "\(device.name), H264 of another size", code: EINVAL)
    }
    (mode.width, mode.height) = seen

    let count = try device.requestBuffers(CaptureSession.bufferCount, memory: .mapped, of: type)
    var memory: [[UnsafeMutableRawBufferPointer]] = []
    var exports: [[Int32]] = []
    do throws(V4L2Error) {
      guard count >= 2 else { throw V4L2Error(call: "VIDIOC_REQBUFS", subject: "\(device.name), \(count)", code: ENOMEM) }
      for index in 0..<count {
        let buffer = try device.buffer(index, memory: .mapped, of: type)
        var planes: [UnsafeMutableRawBufferPointer] = []
        // Kept at once, so that they are unmapped whatever happens.
        memory.append([])
        for plane in 0..<buffer.planeCount {
          planes.append(try device.map(buffer.planes[plane]))
          memory[index] = planes
        }
      }
      if let converter, let layout = converter.layout, converter.keepsColors, !converter.isMirrored {
        exports = export(device, type, count: count, planeCount: layout.parts.map(\.plane).max()! + 1)
      }
      for index in 0..<count { try device.enqueue(QueueBuffer(index: index), memory: .mapped, of: type) }
      try device.startStreaming(type)
    } catch {
      release(device, type, memory, exports)
      throw error
    }
    return Started(mode: mode, format: format, converter: converter, coded: coded, memory: memory, exports: exports)
  }

  /// Descriptors of all buffers; none when one cannot be had.
  private static func export(_ device: any VideoDevice, _ type: BufferType, count: Int, planeCount: Int) -> [[Int32]] {
    var exports = [[Int32]](repeating: [], count: count)
    for index in 0..<count {
      for plane in 0..<planeCount {
        guard let descriptor = try? device.export(index, plane: plane, of: type) else {
          for descriptor in exports.joined() { Glibc.close(descriptor) }
          return []
        }
        exports[index].append(descriptor)
      }
    }
    return exports
  }

  private static func release(
    _ device: any VideoDevice, _ type: BufferType, _ memory: [[UnsafeMutableRawBufferPointer]], _ exports: [[Int32]]
  ) {
    for descriptor in exports.joined() { Glibc.close(descriptor) }
    for plane in memory.joined() { unsafe device.unmap(plane) }
    // A device that was unplugged refuses.
    _ = try? device.requestBuffers(0, memory: .mapped, of: type)
  }

  /// The newest picture that the camera has taken, if one came since the last call; older ones and damaged ones are counted. `now` is the time on
  /// `CLOCK_MONOTONIC`, `ready` when a buffer could be taken at the earliest, as far as the caller knows. Once it has thrown, the session is over.
  public func takePicture(now: () -> Instant, ready: Instant? = nil) throws(CameraFailure) -> VideoFrame? {
    guard let converter else { return try takeUnits(now: now, ready: ready, wantsPicture: true, unit: { _ in }) }
    do throws(V4L2Error) {
      while let index = lent.take() { try enqueue(index) }
      var newest: QueueBuffer?
      while let buffer = try device.dequeue(memory: .mapped, of: type) {
        queuedCount -= 1
        if buffer.flags.contains(.error) {
          figures[.flagged] += 1
          try enqueue(buffer.index)
          continue
        }
        if let old = newest {
          figures[.superseded] += 1
          try enqueue(old.index)
        }
        newest = buffer
      }
      guard let buffer = newest else { return nil }
      let arrival = now()
      let picture: VideoBuffer
      do throws(CameraDiscard) {
        picture = try unsafe converter.convert(buffer, memory: memory[buffer.index])
      } catch {
        figures[error] += 1
        try enqueue(buffer.index)
        return nil
      }
      var ledger = Ledger()
      ledger[.capture] = note(buffer, arrival: arrival, ready: ready)
      figures.conversionTime = now() - arrival
      var frame = VideoFrame(buffer: picture, ledger: ledger)
      if queuedCount >= CaptureSession.driverShare, let shared = share(buffer.index) {
        frame.deviceBuffer = shared
      } else {
        try enqueue(buffer.index)
      }
      return frame
    } catch {
      throw CameraFailure(error)
    }
  }

  /// Takes note of what the device says beside pictures. Throws when it has to be started anew, with another size perhaps.
  public func takeEvents() throws(CameraFailure) {
    while true {
      let event: VideoEvent?
      do throws(V4L2Error) { event = try device.nextEvent() } catch { throw CameraFailure(error) }
      guard let event else { return }
      if case .sourceChange = event { throw .broken("\(device.name): another signal") }
    }
  }

  /// Throws when the cable brings no signal, as far as the driver knows. A camera that is none of those with cables always has one.
  public func checkSignal() throws(CameraFailure) {
    guard input?.hasTimings == true, let now = device.input(), !now.hasSignal else { return }
    throw .broken("\(device.name): no signal")
  }

  func enqueue(_ index: Int) throws(V4L2Error) {
    try device.enqueue(QueueBuffer(index: index), memory: .mapped, of: type)
    queuedCount += 1
  }

  /// Counts a picture, and returns when it was taken.
  func note(_ buffer: QueueBuffer, arrival: Instant, ready: Instant?) -> Instant {
    let time = CaptureSession.captureTime(of: buffer, arrival: arrival)
    let isBeginning = buffer.flags.contains(.startOfExposure) && time == buffer.time
    figures.transferTime = isBeginning ? max(.zero, min(ready ?? arrival, arrival) - time) : .zero
    figures.count(frameAt: arrival.nanoseconds)
    return time
  }

  /// The driver's time, where it is of our clock and can be true.
  private static func captureTime(of buffer: QueueBuffer, arrival: Instant) -> Instant {
    guard buffer.flags.contains(.monotonic), buffer.time <= arrival, arrival - buffer.time < .seconds(1) else { return arrival }
    return buffer.time
  }

  /// The buffer for other devices, which comes back when the last of them lets it go; nil: it cannot be shared.
  private func share(_ index: Int) -> DeviceBuffer? {
    guard !exports.isEmpty, let layout = converter?.layout else { return nil }
    var planes: [DeviceBuffer.Plane] = []
    planes.reserveCapacity(layout.parts.count)
    var descriptors: InlineArray<4, Int32> = .init(repeating: -1)
    for part in layout.parts {
      if descriptors[part.plane] < 0 { descriptors[part.plane] = fcntl(exports[index][part.plane], F_DUPFD_CLOEXEC, 0) }
      planes.append(DeviceBuffer.Plane(descriptor: descriptors[part.plane], offset: part.offset, stride: part.stride))
    }
    guard planes.allSatisfy({ $0.descriptor >= 0 }) else {
      for plane in 0..<4 where descriptors[plane] >= 0 { Glibc.close(descriptors[plane]) }
      return nil
    }
    let code: FourCC =
      switch format.pixelFormat {
      case FormatChoice.nv12Apart: .nv12
      case FormatChoice.yuv420Apart: .yuv420
      default: format.pixelFormat
      }
    // The kernel's codes for both kinds of devices are the same for these formats.
    return DeviceBuffer(width: width, height: height, format: code.rawValue, planes: planes) { [lent] in lent.giveBack(index) }
  }

  /// Stops the camera and lets the device go. Pictures that others show stay whole.
  public func close() {
    guard isOpen else { return }
    isOpen = false
    lent.close()
    try? device.stopStreaming(type)
    CaptureSession.release(device, type, memory, exports)
    (memory, exports) = ([], [])
  }
}
