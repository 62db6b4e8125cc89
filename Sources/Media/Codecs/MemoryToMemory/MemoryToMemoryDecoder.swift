import Base
import Frames
import V4L2

/// A stateful decoder of the kernel (Linux, userspace-api/media/v4l/dev-decoder), for any coded format: a frame in, its picture out, one at a time.
///
/// Its calls wait for the driver: it belongs on a thread that nobody waits for longer than a picture may take.
final class MemoryToMemoryDecoder: VideoDecoder {
  let implementationName: String
  var isHardware: Bool { true }
  /// Drivers do not tell.
  var lastQuantizer: Int? { nil }

  private static let limit = Interval.seconds(2)
  /// Room for a frame: more than a call's key frames have.
  private static let frameSize = 2 << 20

  /// Where pictures come out, once the driver has seen what size they have.
  private struct Pictures {
    var queue: BufferQueue
    var layout: RawLayout
    var visible: Selection
  }

  private enum Outcome {
    case shown(VideoBuffer)
    case nothing
    case malformed(String)
    case failed(String)
  }

  private let device: any VideoDevice
  private let format: CodedFormat
  private let capability: DeviceCapability
  private let frames: BufferQueue
  private var pictures: Pictures?
  private let pool = VideoBufferPool()
  private var needsKeyFrame = true
  private var frameCount: Int64 = 0

  private var capture: BufferType { capability.captureType ?? .capture }
  private var output: BufferType { capability.outputType ?? .output }

  /// Takes over an open device. Throws when it does not read the format.
  init(_ device: any VideoDevice, _ format: CodedFormat, name: String) throws(CodecError) {
    (self.device, self.format, implementationName) = (device, format, name)
    do {
      capability = try device.capability()
      guard capability.isConverter, let output = capability.outputType else { throw CodecError.unavailable("\(device.name) is no codec") }
      // The size is a guess, until the stream says it.
      let wanted = PictureFormat(
        pixelFormat: format.pixelFormat, width: 1_280, height: 720, planes: [.init(size: MemoryToMemoryDecoder.frameSize)])
      let taken = try device.setFormat(wanted, of: output)
      guard taken.pixelFormat == format.pixelFormat else {
        throw CodecError.unavailable("\(device.name) does not read \(format.pixelFormat)")
      }
      try device.subscribe(to: .sourceChange, control: nil)
      // Calls have no pictures that are shown in another order than they are sent in.
      if device.control(.displayDelay) != nil, device.control(.limitsDisplayDelay) != nil {
        _ = try? device.set([ControlSetting(.displayDelay, 0), ControlSetting(.limitsDisplayDelay, 1)])
      }
      frames = try BufferQueue(device, output, format: taken, count: 2)
      try frames.start()
    } catch let error as CodecError {
      throw error
    } catch {
      throw .unavailable("\(error)")
    }
  }

  func decode(_ frame: EncodedVideoFrame) throws(CodecError) -> VideoFrame? {
    if needsKeyFrame, !format.isKeyFrame(frame.bytes) { throw .keyFrameRequired }
    guard let room = frames.format.planes.first?.size, frame.bytes.count <= room else {
      needsKeyFrame = true
      throw .malformed("a frame of \(frame.bytes.count) bytes")
    }
    needsKeyFrame = true
    let outcome: Outcome
    do throws(V4L2Error) { outcome = try exchange(frame) } catch { throw .encodingFailed("\(error)") }
    switch outcome {
    case .failed(let what): throw .encodingFailed("\(device.name) \(what)")
    case .malformed(let what): throw .malformed("\(device.name) \(what)")
    case .nothing:
      needsKeyFrame = false
      return nil
    case .shown(let buffer):
      needsKeyFrame = false
      return VideoFrame(buffer: buffer, rotation: frame.rotation, ledger: frame.ledger)
    }
  }

  private func exchange(_ frame: EncodedVideoFrame) throws(V4L2Error) -> Outcome {
    let deadline = monotonicNow() + MemoryToMemoryDecoder.limit
    while frames.idle.isEmpty, try frames.dequeue() == nil {
      guard monotonicNow() < deadline else { return .failed("gives no buffer back") }
      _ = try device.wait(for: .output, timeout: deadline - monotonicNow())
    }
    guard let index = frames.idle.last else { return .failed("gives no buffer back") }
    frameCount += 1
    // Whole microseconds, which is what the driver copies to the picture.
    let time = Instant(nanoseconds: frameCount * 1_000)
    let memory = unsafe frames.planes(of: index)[0]
    unsafe memory.copyBytes(from: frame.bytes)
    try frames.enqueue(index, time: time) { $0.planes[0].byteCount = frame.bytes.count }

    let isShown = format.isShown(frame.bytes)
    while true {
      while let event = try device.nextEvent() {
        if case .sourceChange(isResolution: true) = event, let problem = try setUpPictures() { return .failed(problem) }
      }
      while let done = try frames.dequeue() {
        if done.index == index, done.flags.contains(.error) { return .malformed("flags the frame as damaged") }
        if done.index == index, !isShown { return .nothing }
      }
      if let pictures, let outcome = try take(time, from: pictures) { return outcome }
      guard monotonicNow() < deadline else { return .failed("gives no picture within \(Int(MemoryToMemoryDecoder.limit.seconds)) s") }
      // A frame that shows nothing is done when its buffer comes back, and only then is that worth waking up for.
      let wanted: Readiness = isShown ? [.capture, .event] : [.capture, .event, .output]
      let ready = try device.wait(for: wanted, timeout: deadline - monotonicNow())
      if ready == .error { return .failed("has stopped its queues") }
    }
  }

  /// The picture of `time`; nil: it is not there yet.
  private func take(_ time: Instant, from pictures: Pictures) throws(V4L2Error) -> Outcome? {
    while true {
      let buffer: QueueBuffer
      do throws(V4L2Error) {
        guard let next = try pictures.queue.dequeue() else { return nil }
        buffer = next
      } catch {
        // The last picture before a change of size was taken; the event says what to do.
        guard error.isDrained else { throw error }
        return nil
      }
      // The last one of a size, which may be empty, stays out: the queue is made anew.
      if buffer.flags.contains(.last), buffer.planes[0].byteCount == 0 { return nil }
      let isWanted = buffer.time == time || !buffer.flags.contains(.copiedTime)
      var shown: VideoBuffer?
      if isWanted, !buffer.flags.contains(.error) {
        let copy = pool.buffer(width: pictures.visible.width, height: pictures.visible.height)
        unsafe pictures.layout.read(pictures.visible, from: pictures.queue.planes(of: buffer.index), into: copy)
        shown = copy
      }
      if !buffer.flags.contains(.last) { try pictures.queue.enqueue(buffer.index) }
      guard isWanted else { continue }
      return shown.map { .shown($0) } ?? .malformed("flags the picture as damaged")
    }
  }

  /// The capture setup sequence: buffers for pictures as the stream has them now. Returns what is wrong, if something is.
  private func setUpPictures() throws(V4L2Error) -> String? {
    pictures = nil
    var format = try device.format(of: capture)
    if !RawLayout.formats.contains(format.pixelFormat) {
      let offered = try device.formats(of: capture).map(\.pixelFormat)
      guard let known = RawLayout.formats.first(where: offered.contains) else { return "gives pictures as \(format.pixelFormat) only" }
      format.pixelFormat = known
      format.planes = [PictureFormat.Plane()]
      format = try device.setFormat(format, of: capture)
    }
    guard let layout = RawLayout(format) else { return "lays pictures out as nothing known here" }
    let visible = (try? device.selection(.compose, of: capture)) ?? Selection(width: format.width, height: format.height)
    guard visible.x >= 0, visible.y >= 0, visible.x % 2 == 0, visible.y % 2 == 0, visible.width > 0, visible.height > 0,
      visible.x + visible.width <= format.width, visible.y + visible.height <= format.height
    else { return "shows a part of its pictures that does not lie in them" }
    var count: Int64 = 4
    if let minimum = device.control(.minimumCaptureBuffers), let value = try? device.value(of: minimum) { count = value + 2 }
    let queue = try BufferQueue(device, capture, format: format, count: Int(min(max(count, 3), 32)))
    try queue.enqueueAll()
    try queue.start()
    pictures = Pictures(queue: queue, layout: layout, visible: visible)
    return nil
  }
}
