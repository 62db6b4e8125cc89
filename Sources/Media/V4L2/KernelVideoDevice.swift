import Base
import CV4L2
import Glibc

/// A video device by its kernel driver.
public final class KernelVideoDevice: VideoDevice {
  public let name: String
  public let descriptor: Int32

  /// Opens a device node.
  public init(path: String) throws(V4L2Error) {
    name = path
    descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw V4L2Error(call: "open", subject: path, code: errno) }
  }

  deinit { close(descriptor) }

  /// Throws what the kernel says when a call has failed.
  func check(_ status: Int32, _ call: String, _ detail: @autoclosure () -> String = "") throws(V4L2Error) {
    guard status != 0 else { return }
    let code = errno
    let detail = detail()
    throw V4L2Error(call: call, subject: detail.isEmpty ? name : "\(name), \(detail)", code: code)
  }

  /// Asks for entries number 0, 1, … until the driver has no more. A driver that does not know the question has none.
  func list<Entry>(_ call: String, _ entry: (UInt32) -> Entry?) throws(V4L2Error) -> [Entry] {
    var entries: [Entry] = []
    while entries.count < 256 {
      guard let next = entry(UInt32(entries.count)) else {
        let code = errno
        if V4L2Error(call: call, subject: name, code: code).isUnsupported { break }
        throw V4L2Error(call: call, subject: name, code: code)
      }
      entries.append(next)
    }
    return entries
  }

  public func wait(for wanted: Readiness, timeout: Interval) throws(V4L2Error) -> Readiness {
    var entry = pollfd(fd: descriptor, events: 0, revents: 0)
    if wanted.contains(.capture) { entry.events |= Int16(POLLIN) }
    if wanted.contains(.output) { entry.events |= Int16(POLLOUT) }
    if wanted.contains(.event) { entry.events |= Int16(POLLPRI) }
    // A part of a millisecond is waited for whole, so that nobody comes back early and asks in vain.
    let milliseconds = (max(0, timeout.nanoseconds) + 999_999) / 1_000_000
    let count = unsafe poll(&entry, 1, Int32(clamping: milliseconds))
    guard count >= 0 || errno == EINTR else { throw V4L2Error(call: "poll", subject: name, code: errno) }
    guard count > 0 else { return [] }
    var ready: Readiness = []
    if entry.revents & Int16(POLLIN) != 0 { ready.insert(.capture) }
    if entry.revents & Int16(POLLOUT) != 0 { ready.insert(.output) }
    if entry.revents & Int16(POLLPRI) != 0 { ready.insert(.event) }
    if entry.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { ready.insert(.error) }
    return ready
  }

  // MARK: What the device is

  public func capability() throws(V4L2Error) -> DeviceCapability {
    var answer = v4l2_capability()
    try check(v4l2_query_capability(descriptor, &answer), "VIDIOC_QUERYCAP")
    let ofNode = answer.capabilities & 0x8000_0000 != 0 ? answer.device_caps : answer.capabilities
    return DeviceCapability(
      driver: text(answer.driver), card: text(answer.card), bus: text(answer.bus_info),
      capabilities: DeviceCapability.Capabilities(rawValue: ofNode))
  }

  public func formats(of type: BufferType) throws(V4L2Error) -> [FormatOffer] {
    try list("VIDIOC_ENUM_FMT") { index in
      var entry = v4l2_fmtdesc()
      (entry.index, entry.type) = (index, type.rawValue)
      guard v4l2_enumerate_formats(descriptor, &entry) == 0 else { return nil }
      return FormatOffer(
        FourCC(rawValue: entry.pixelformat), isCompressed: entry.flags & UInt32(V4L2_FMT_FLAG_COMPRESSED) != 0,
        isEmulated: entry.flags & UInt32(V4L2_FMT_FLAG_EMULATED) != 0)
    }
  }

  public func sizes(of format: FourCC) throws(V4L2Error) -> [SizeOffer] {
    var isList = true
    return try list("VIDIOC_ENUM_FRAMESIZES") { index in
      var entry = v4l2_frmsizeenum()
      (entry.index, entry.pixel_format) = (index, format.rawValue)
      // Sizes in steps are one entry; some drivers repeat it for ever.
      guard isList, v4l2_enumerate_sizes(descriptor, &entry) == 0 else {
        if !isList { errno = EINVAL }
        return nil
      }
      isList = entry.type == V4L2_FRMSIZE_TYPE_DISCRETE.rawValue
      guard !isList else { return SizeOffer(width: Int(entry.discrete.width), height: Int(entry.discrete.height)) }
      let steps = entry.stepwise
      return SizeOffer(
        width: Int(steps.min_width)...Int(max(steps.min_width, steps.max_width)), widthStep: Int(steps.step_width),
        height: Int(steps.min_height)...Int(max(steps.min_height, steps.max_height)), heightStep: Int(steps.step_height))
    }
  }

  public func intervals(of format: FourCC, width: Int, height: Int) throws(V4L2Error) -> [IntervalOffer] {
    var isList = true
    return try list("VIDIOC_ENUM_FRAMEINTERVALS") { index in
      var entry = v4l2_frmivalenum()
      (entry.index, entry.pixel_format, entry.width, entry.height) = (index, format.rawValue, UInt32(width), UInt32(height))
      guard isList, v4l2_enumerate_intervals(descriptor, &entry) == 0 else {
        if !isList { errno = EINVAL }
        return nil
      }
      isList = entry.type == V4L2_FRMIVAL_TYPE_DISCRETE.rawValue
      guard !isList else { return IntervalOffer(FrameInterval(entry.discrete)) }
      return IntervalOffer(shortest: FrameInterval(entry.stepwise.min), longest: FrameInterval(entry.stepwise.max))
    }
  }

  public func format(of type: BufferType) throws(V4L2Error) -> PictureFormat {
    var picture = v4l2_picture()
    try check(v4l2_get_picture(descriptor, type.rawValue, &picture), "VIDIOC_G_FMT")
    return PictureFormat(picture)
  }

  public func setFormat(_ format: PictureFormat, of type: BufferType) throws(V4L2Error) -> PictureFormat {
    var picture = v4l2_picture(format)
    try check(
      v4l2_set_picture(descriptor, type.rawValue, &picture, 0), "VIDIOC_S_FMT", "\(format.pixelFormat) \(format.width)x\(format.height)")
    return PictureFormat(picture)
  }

  public func tryFormat(_ format: PictureFormat, of type: BufferType) throws(V4L2Error) -> PictureFormat {
    var picture = v4l2_picture(format)
    try check(
      v4l2_set_picture(descriptor, type.rawValue, &picture, 1), "VIDIOC_TRY_FMT", "\(format.pixelFormat) \(format.width)x\(format.height)")
    return PictureFormat(picture)
  }

  public func interval(of type: BufferType) throws(V4L2Error) -> FrameInterval {
    var parameters = v4l2_streamparm()
    parameters.type = type.rawValue
    try check(v4l2_get_parameters(descriptor, &parameters), "VIDIOC_G_PARM")
    return FrameInterval(type.isCapture ? parameters.parm.capture.timeperframe : parameters.parm.output.timeperframe)
  }

  public func setInterval(_ interval: FrameInterval, of type: BufferType) throws(V4L2Error) -> FrameInterval {
    var parameters = v4l2_streamparm()
    parameters.type = type.rawValue
    let fraction = v4l2_fract(numerator: interval.numerator, denominator: interval.denominator)
    if type.isCapture { parameters.parm.capture.timeperframe = fraction } else { parameters.parm.output.timeperframe = fraction }
    try check(v4l2_set_parameters(descriptor, &parameters), "VIDIOC_S_PARM", "\(interval.framesPerSecond) pictures a second")
    return FrameInterval(type.isCapture ? parameters.parm.capture.timeperframe : parameters.parm.output.timeperframe)
  }

  public func input() -> VideoInput? {
    var index: Int32 = 0
    guard v4l2_get_input(descriptor, &index) == 0 else { return nil }
    var entry = v4l2_input()
    entry.index = UInt32(index)
    guard v4l2_enumerate_inputs(descriptor, &entry) == 0 else { return nil }
    let lost = UInt32(V4L2_IN_ST_NO_POWER | V4L2_IN_ST_NO_SIGNAL | V4L2_IN_ST_NO_H_LOCK | V4L2_IN_ST_NO_SYNC)
    return VideoInput(
      index: Int(index), name: text(entry.name), hasSignal: entry.status & lost == 0,
      hasTimings: entry.capabilities & UInt32(V4L2_IN_CAP_DV_TIMINGS) != 0)
  }

  public func adoptTimings() throws(V4L2Error) { try check(v4l2_adopt_timings(descriptor), "VIDIOC_S_DV_TIMINGS") }
}

/// The text in a C array of characters.
func text<Characters>(_ characters: Characters) -> String {
  withUnsafeBytes(of: characters) { bytes in unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
}

extension FrameInterval {
  fileprivate init(_ fraction: v4l2_fract) { self.init(numerator: fraction.numerator, denominator: fraction.denominator) }
}

extension PictureFormat {
  fileprivate init(_ picture: v4l2_picture) {
    let count = Int(picture.plane_count)
    let (strides, sizes) = (numbers(picture.strides, count), numbers(picture.sizes, count))
    self.init(
      pixelFormat: FourCC(rawValue: picture.format), width: Int(picture.width), height: Int(picture.height),
      planes: zip(strides, sizes).map { Plane(stride: Int($0), size: Int($1)) },
      colors: Colors(
        space: picture.color_space, encoding: picture.encoding, quantization: picture.quantization, transfer: picture.transfer),
      field: picture.field)
  }
}

extension v4l2_picture {
  fileprivate init(_ format: PictureFormat) {
    self.init()
    (width, height, self.format, field) = (UInt32(format.width), UInt32(format.height), format.pixelFormat.rawValue, format.field)
    (color_space, encoding) = (format.colors.space, format.colors.encoding)
    (quantization, transfer) = (format.colors.quantization, format.colors.transfer)
    plane_count = UInt32(format.planes.count)
    withUnsafeMutableBytes(of: &strides) { bytes in
      for (index, plane) in format.planes.prefix(8).enumerated() {
        unsafe bytes.storeBytes(of: UInt32(plane.stride), toByteOffset: 4 * index, as: UInt32.self)
      }
    }
    withUnsafeMutableBytes(of: &sizes) { bytes in
      for (index, plane) in format.planes.prefix(8).enumerated() {
        unsafe bytes.storeBytes(of: UInt32(plane.size), toByteOffset: 4 * index, as: UInt32.self)
      }
    }
  }
}

/// The first numbers of a C array.
private func numbers<Numbers>(_ array: Numbers, _ count: Int) -> [UInt32] {
  withUnsafeBytes(of: array) { bytes in (0..<count).map { unsafe bytes.load(fromByteOffset: 4 * $0, as: UInt32.self) } }
}
