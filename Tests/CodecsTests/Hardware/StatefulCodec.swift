import Base
import Frames
import Glibc
import Synchronization
import V4L2

@testable import Codecs

/// A kernel driver's stateful encoder or decoder as userspace-api/media/v4l/dev-encoder and dev-decoder describe them, with software in the place of hardware.
///
/// Pictures are padded to sixteens. One thread at a time uses it; the log may be read by others.
final class StatefulCodec: VideoDevice {
  /// What kind of driver it is, and what is wrong with it.
  struct Options: Sendable {
    var codec = VideoCodec.h264
    var direction = CodecChoice.Direction.encode
    var rawFormat = FourCC.nv12
    var isMultiplanar = false
    var canCrop = true
    var canForceKeyFrames = true
    /// H.264: SPS and PPS come before the first key frame alone.
    var givesParameterSetsOnce = false
    /// H.264: SPS and PPS come in a buffer of their own.
    var separatesParameterSets = false
    /// Bitrates can be set while the coded queue stands still only.
    var isBusyWhileStreaming = false
    var hasSliceControls = false
    var copiesTimes = true
    /// Writes main profile, whatever it is told.
    var writesMainProfile = false
    /// The frame, counted from 0, that it flags as damaged, and the one after which it says nothing more.
    var damagedFrame: Int?
    var lastFrame: Int?
    /// The frame at which the device goes away.
    var goneFrame: Int?
    /// A decoder that shows each picture when the next one comes.
    var holdsBack = false
  }

  /// What a test looks at afterwards.
  final class Journal: Sendable {
    struct Entries: Sendable {
      var settings: [VideoControl.Identifier: Int64] = [:]
      var commands: [String] = []
      var openBuffers = 0
      var openMappings = 0
      var importedDescriptors: [Int32] = []
    }
    private let entries = Mutex(Entries())
    var current: Entries { entries.withLock { $0 } }
    fileprivate func note(_ body: (inout Entries) -> Void) { entries.withLock { body(&$0) } }
  }

  private struct Queue {
    var format: PictureFormat
    var memory: [[UnsafeMutableRawBufferPointer]] = []
    var kind = BufferMemory.mapped
    var waiting: [QueueBuffer] = []
    var done: [QueueBuffer] = []
    var isStreaming = false
  }

  let name = "/dev/video11"
  let descriptor: Int32 = -1
  private let options: Options
  private let journal: Journal
  private var coded: Queue
  private var raw: Queue
  private var crop: Selection?
  private var settings = VideoEncoderSettings(width: 16, height: 16)
  private var encoder: (any VideoEncoder)?
  private var decoder: (any VideoDecoder)?
  private var forcesKeyFrame = false
  private var frameCount = 0
  private var hasGivenParameterSets = false
  private var events: [VideoEvent] = []
  private var stream: (width: Int, height: Int) = (0, 0)
  private var awaitsCapture = false
  private var isDrained = false
  private var held: (picture: VideoBuffer, time: Instant)?
  private let pool = VideoBufferPool()

  init(_ options: Options, journal: Journal = Journal()) {
    (self.options, self.journal) = (options, journal)
    coded = Queue(format: PictureFormat(pixelFormat: CodedFormat(options.codec).pixelFormat, width: 16, height: 16))
    raw = Queue(format: StatefulCodec.layout(PictureFormat(pixelFormat: options.rawFormat, width: 16, height: 16)))
  }

  deinit {
    for planes in unsafe coded.memory + raw.memory { for plane in unsafe planes { unsafe plane.deallocate() } }
  }

  private static func layout(_ wanted: PictureFormat) -> PictureFormat {
    var format = wanted
    (format.width, format.height) = ((wanted.width + 15) & ~15, (wanted.height + 15) & ~15)
    let (stride, height) = (max(format.width, wanted.planes.first?.stride ?? 0), format.height)
    format.planes =
      switch wanted.pixelFormat {
      case FourCC("NM12"): [.init(stride: stride, size: stride * height), .init(stride: stride, size: stride * height / 2)]
      case FourCC("YM12"):
        [
          .init(stride: stride, size: stride * height), .init(stride: stride / 2, size: stride * height / 4),
          .init(stride: stride / 2, size: stride * height / 4),
        ]
      default: [.init(stride: stride, size: stride * height * 3 / 2)]
      }
    return format
  }

  private var isEncoder: Bool { options.direction == .encode }
  private var bufferTypes: (output: BufferType, capture: BufferType) {
    options.isMultiplanar ? (.multiplanarOutput, .multiplanarCapture) : (.output, .capture)
  }
  /// Whether a queue is the one of raw pictures.
  private func isRaw(_ type: BufferType) -> Bool { type.isCapture != isEncoder }
  private func with<Result>(_ type: BufferType, _ body: (inout Queue) throws(V4L2Error) -> Result) throws(V4L2Error) -> Result {
    if options.goneFrame.map({ frameCount > $0 }) ?? false { throw error("VIDIOC", ENODEV) }
    guard type == bufferTypes.output || type == bufferTypes.capture else { throw error("VIDIOC", EINVAL) }
    return isRaw(type) ? try body(&raw) : try body(&coded)
  }
  private func error(_ call: String, _ code: Int32) -> V4L2Error { V4L2Error(call: call, subject: name, code: code) }

  func capability() throws(V4L2Error) -> DeviceCapability {
    DeviceCapability(
      driver: "stateful", card: "Software", bus: "platform",
      capabilities: [options.isMultiplanar ? .multiplanarMemoryToMemory : .memoryToMemory, .streaming])
  }
  func formats(of type: BufferType) throws(V4L2Error) -> [FormatOffer] {
    isRaw(type)
      ? [FormatOffer(FourCC("GREY")), FormatOffer(options.rawFormat)] : [FormatOffer(coded.format.pixelFormat, isCompressed: true)]
  }
  func format(of type: BufferType) throws(V4L2Error) -> PictureFormat { try with(type) { $0.format } }
  func setFormat(_ format: PictureFormat, of type: BufferType) throws(V4L2Error) -> PictureFormat {
    let isRaw = isRaw(type)
    let pixelFormat = coded.format.pixelFormat
    let rawFormats = [options.rawFormat, FourCC.nv12]
    let result = try with(type) { queue throws(V4L2Error) in
      guard queue.memory.isEmpty else { throw error("VIDIOC_S_FMT", EBUSY) }
      var wanted = format
      if isRaw {
        if !rawFormats.contains(wanted.pixelFormat) { wanted.pixelFormat = rawFormats[0] }
        queue.format = StatefulCodec.layout(wanted)
      } else {
        wanted.pixelFormat = pixelFormat
        queue.format = wanted
      }
      return queue.format
    }
    if isRaw { crop = nil }
    return result
  }
  func tryFormat(_ format: PictureFormat, of type: BufferType) throws(V4L2Error) -> PictureFormat { format }
  func sizes(of format: FourCC) throws(V4L2Error) -> [SizeOffer] { [] }
  func intervals(of format: FourCC, width: Int, height: Int) throws(V4L2Error) -> [IntervalOffer] { [] }
  func setInterval(_ interval: FrameInterval, of type: BufferType) throws(V4L2Error) -> FrameInterval {
    settings.framesPerSecond = interval.framesPerSecond
    return interval
  }
  func interval(of type: BufferType) throws(V4L2Error) -> FrameInterval { FrameInterval(framesPerSecond: settings.framesPerSecond) }

  // MARK: Buffers

  func requestBuffers(_ count: Int, memory: BufferMemory, of type: BufferType) throws(V4L2Error) -> Int {
    let before = try with(type) { $0.memory.count }
    let count = count == 0 ? 0 : max(2, count)
    try with(type) { queue throws(V4L2Error) in
      guard !queue.isStreaming else { throw error("VIDIOC_REQBUFS", EBUSY) }
      for planes in unsafe queue.memory { for plane in unsafe planes { unsafe plane.deallocate() } }
      queue.kind = memory
      let sizes = queue.format.planes.map { max(16, $0.size) }
      unsafe queue.memory = (0..<count).map { _ in
        sizes.map { UnsafeMutableRawBufferPointer.allocate(byteCount: $0, alignment: 16) }
      }
    }
    journal.note { $0.openBuffers += count - before }
    return count
  }
  func buffer(_ index: Int, memory: BufferMemory, of type: BufferType) throws(V4L2Error) -> QueueBuffer {
    let isRaw = isRaw(type)
    return try with(type) { queue in
      var buffer = QueueBuffer(index: index)
      buffer.planeCount = queue.format.planes.count
      for plane in 0..<buffer.planeCount {
        buffer.planes[plane].length = queue.memory[index][plane].count
        buffer.planes[plane].mappingOffset = index * 16 + plane + (isRaw ? 1 << 16 : 0)
      }
      return buffer
    }
  }
  func map(_ plane: QueueBuffer.Plane) throws(V4L2Error) -> UnsafeMutableRawBufferPointer {
    journal.note { $0.openMappings += 1 }
    let number = plane.mappingOffset & 0xFFFF
    return unsafe (plane.mappingOffset >> 16 == 1 ? raw : coded).memory[number / 16][number % 16]
  }
  func unmap(_ memory: UnsafeMutableRawBufferPointer) { journal.note { $0.openMappings -= 1 } }
  func enqueue(_ buffer: QueueBuffer, memory: BufferMemory, of type: BufferType) throws(V4L2Error) {
    try with(type) { queue throws(V4L2Error) in
      guard buffer.index < queue.memory.count, !queue.waiting.contains(where: { $0.index == buffer.index }) else {
        throw error("VIDIOC_QBUF", EINVAL)
      }
      queue.waiting.append(buffer)
    }
    try work()
  }
  func dequeue(memory: BufferMemory, of type: BufferType) throws(V4L2Error) -> QueueBuffer? {
    if type.isCapture, isDrained, try with(type, { $0.done.isEmpty }) { throw error("VIDIOC_DQBUF", EPIPE) }
    return try with(type) { $0.done.isEmpty ? nil : $0.done.removeFirst() }
  }
  func export(_ index: Int, plane: Int, of type: BufferType) throws(V4L2Error) -> Int32 { throw error("VIDIOC_EXPBUF", EINVAL) }
  func startStreaming(_ type: BufferType) throws(V4L2Error) {
    try with(type) { $0.isStreaming = true }
    if type.isCapture {
      // A stream of its own begins.
      (awaitsCapture, isDrained, forcesKeyFrame) = (false, false, true)
    }
    try work()
  }
  func stopStreaming(_ type: BufferType) throws(V4L2Error) {
    try with(type) { queue in (queue.isStreaming, queue.waiting, queue.done) = (false, [], []) }
  }
  func wait(for wanted: Readiness, timeout: Interval) throws(V4L2Error) -> Readiness {
    var ready: Readiness = []
    if !events.isEmpty { ready.insert(.event) }
    if try !with(bufferTypes.capture, { $0.done.isEmpty }) { ready.insert(.capture) }
    if try !with(bufferTypes.output, { $0.done.isEmpty }) { ready.insert(.output) }
    // Nothing comes by itself.
    if ready.isDisjoint(with: wanted) { usleep(UInt32(max(0, timeout.nanoseconds / 1_000))) }
    return ready.intersection(wanted)
  }

  // MARK: Controls

  func control(_ identifier: VideoControl.Identifier) -> VideoControl? {
    switch identifier {
    case .bitrate: isEncoder ? VideoControl(.bitrate, range: 10_000...20_000_000) : nil
    case .groupSize: isEncoder ? VideoControl(.groupSize, range: 1...3_000) : nil
    case .bFrames, .bitrateMode, .headerMode: isEncoder ? VideoControl(identifier, range: 0...2) : nil
    case .h264Profile: isEncoder && options.codec == .h264 ? VideoControl(.h264Profile, kind: .menu, range: 0...4) : nil
    case .h264Level: isEncoder && options.codec == .h264 ? VideoControl(.h264Level, kind: .menu, range: 0...19) : nil
    case .forceKeyFrame: isEncoder && options.canForceKeyFrames ? VideoControl(.forceKeyFrame, kind: .button) : nil
    case .sliceMode: options.hasSliceControls ? VideoControl(.sliceMode, kind: .menu, range: 0...2) : nil
    case .sliceByteLimit: options.hasSliceControls ? VideoControl(.sliceByteLimit, range: 100...100_000) : nil
    case .minimumCaptureBuffers: isEncoder ? nil : VideoControl(.minimumCaptureBuffers, range: 1...32)
    default: nil
    }
  }
  func controls() -> [VideoControl] { [] }
  func menu(of control: VideoControl) -> [MenuEntry] { [] }
  func value(of control: VideoControl) throws(V4L2Error) -> Int64 { 3 }
  func set(_ values: [ControlSetting]) throws(V4L2Error) {
    for setting in values {
      guard let control = control(setting.identifier), (control.minimum...control.maximum).contains(setting.value) else {
        throw error("VIDIOC_S_EXT_CTRLS", EINVAL)
      }
      if setting.identifier == .bitrate {
        if options.isBusyWhileStreaming, coded.isStreaming { throw error("VIDIOC_S_EXT_CTRLS", EBUSY) }
        settings.bitrate = Int(setting.value)
        do throws(CodecError) { try encoder?.setBitrate(settings.bitrate, framesPerSecond: settings.framesPerSecond) } catch {
          throw self.error("VIDIOC_S_EXT_CTRLS", EINVAL)
        }
      }
      if setting.identifier == .forceKeyFrame { forcesKeyFrame = true }
      if setting.identifier == .h264Profile {
        settings.profile = setting.value == 4 ? .high : setting.value == 2 ? .main : .constrainedBaseline
      }
      if setting.identifier == .sliceByteLimit { settings.maximumSliceCount = Int(setting.value) }
      journal.note { $0.settings[setting.identifier] = setting.value }
    }
  }
  func subscribe(to kind: VideoEvent.Kind, control: VideoControl.Identifier?) throws(V4L2Error) {}
  func nextEvent() throws(V4L2Error) -> VideoEvent? { events.isEmpty ? nil : events.removeFirst() }
  func setPriority(_ priority: DevicePriority) throws(V4L2Error) {}
  func selection(_ target: Selection.Target, of type: BufferType) throws(V4L2Error) -> Selection {
    guard !isEncoder, target == .compose, type.isCapture else { throw error("VIDIOC_G_SELECTION", EINVAL) }
    return Selection(width: stream.width, height: stream.height)
  }
  func setSelection(_ selection: Selection, _ target: Selection.Target, of type: BufferType) throws(V4L2Error) -> Selection {
    guard isEncoder, target == .crop, !type.isCapture else { throw error("VIDIOC_S_SELECTION", EINVAL) }
    guard options.canCrop else { return Selection(width: raw.format.width, height: raw.format.height) }
    crop = selection
    return selection
  }
  func tellEncoder(_ command: CodecCommand) throws(V4L2Error) {
    journal.note { $0.commands.append("\(command)") }
    guard command == .stop else { return }
    guard !coded.waiting.isEmpty else { return }
    var buffer = coded.waiting.removeFirst()
    buffer.flags = .last
    buffer.planes[0].byteCount = 0
    coded.done.append(buffer)
    isDrained = true
  }
  func tellDecoder(_ command: CodecCommand) throws(V4L2Error) { journal.note { $0.commands.append("\(command)") } }
  func input() -> VideoInput? { nil }
  func adoptTimings() throws(V4L2Error) { throw error("VIDIOC_S_DV_TIMINGS", ENOTTY) }

  // MARK: Work

  private func work() throws(V4L2Error) {
    do {
      if isEncoder {
        while raw.isStreaming, coded.isStreaming, !isDrained, !raw.waiting.isEmpty, !coded.waiting.isEmpty, try encodeNext() {}
      } else {
        while coded.isStreaming, !awaitsCapture, !coded.waiting.isEmpty, try decodeNext() {}
      }
    } catch let error as V4L2Error { throw error } catch { throw self.error("\(error)", EIO) }
  }

  private func time(_ source: QueueBuffer) -> Instant { options.copiesTimes ? source.time : .zero }
  private var timeFlags: QueueBuffer.Flags { options.copiesTimes ? .copiedTime : [] }

  /// False when it waits for something.
  private func encodeNext() throws -> Bool {
    if options.lastFrame.map({ frameCount > $0 }) ?? false { return false }
    let source = raw.waiting.removeFirst()
    defer {
      raw.done.append(source)
      frameCount += 1
    }
    let (width, height) = (crop?.width ?? raw.format.width, crop?.height ?? raw.format.height)
    let picture = VideoBuffer(width: width, height: height)
    if raw.kind == .dmaBuffer {
      let descriptor = source.planes[0].descriptor
      journal.note { $0.importedDescriptors.append(descriptor) }
      let size = raw.format.planes[0].size
      guard let start = unsafe mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0), unsafe start != MAP_FAILED else {
        throw error("VIDIOC_QBUF", EINVAL)
      }
      defer { unsafe munmap(start, size) }
      let memory = unsafe [UnsafeMutableRawBufferPointer(start: start, count: size)]
      unsafe RawLayout(raw.format)?.read(Selection(width: width, height: height), from: memory, into: picture)
    } else {
      unsafe RawLayout(raw.format)?.read(Selection(width: width, height: height), from: raw.memory[source.index], into: picture)
    }
    if encoder == nil || (settings.width, settings.height) != (width, height) {
      (settings.width, settings.height) = (width, height)
      if options.writesMainProfile { settings.profile = .main }
      encoder = try CodecFactory.softwareEncoder(options.codec, settings: settings)
    }
    defer { forcesKeyFrame = false }
    guard let result = try encoder?.encode(VideoFrame(buffer: picture), forceKeyFrame: forcesKeyFrame) else { return true }
    var bytes = result.bytes
    if options.codec == .h264, result.isKeyFrame {
      let units = AnnexB.units(of: bytes)
      let firstSlice = units.first { bytes[$0.lowerBound] & 0x1F == AnnexB.UnitType.keyFrameSlice }!
      let start = firstSlice.lowerBound - 4
      if options.separatesParameterSets { give(Array(bytes[..<start]), flags: timeFlags, of: source) }
      if options.separatesParameterSets || options.givesParameterSetsOnce && hasGivenParameterSets { bytes.removeSubrange(..<start) }
      hasGivenParameterSets = true
    }
    let flags: QueueBuffer.Flags = options.damagedFrame == frameCount ? .error : result.isKeyFrame ? .keyFrame : []
    give(bytes, flags: flags.union(timeFlags), of: source)
    return true
  }

  private func give(_ bytes: [UInt8], flags: QueueBuffer.Flags, of source: QueueBuffer) {
    var target = coded.waiting.removeFirst()
    unsafe coded.memory[target.index][0].copyBytes(from: bytes)
    target.planes[0].byteCount = bytes.count
    (target.flags, target.time) = (flags, time(source))
    coded.done.append(target)
  }

  private func decodeNext() throws -> Bool {
    let source = coded.waiting[0]
    let bytes = unsafe Array(coded.memory[source.index][0][..<source.planes[0].byteCount])
    if let lastFrame = options.lastFrame, frameCount > lastFrame { return false }
    let isKeyFrame = CodedFormat(options.codec).isKeyFrame(bytes)
    if decoder == nil { decoder = try CodecFactory.softwareDecoder(options.codec) }
    // A decoder of its own looks for the size, so that the real one gets each frame once.
    if isKeyFrame, let look = try? CodecFactory.softwareDecoder(options.codec).decode(EncodedVideoFrame(bytes: bytes, isKeyFrame: true)),
      (look.width, look.height) != stream
    {
      stream = (look.width, look.height)
      raw.format = StatefulCodec.layout(PictureFormat(pixelFormat: options.rawFormat, width: look.width, height: look.height))
      awaitsCapture = true
      events.append(.sourceChange(isResolution: true))
      if raw.isStreaming, !raw.waiting.isEmpty {
        var last = raw.waiting.removeFirst()
        last.flags = .last
        last.planes[0].byteCount = 0
        raw.done.append(last)
        isDrained = true
      }
      return false
    }
    guard raw.isStreaming, !raw.waiting.isEmpty else { return false }
    coded.waiting.removeFirst()
    defer { frameCount += 1 }
    var finished = source
    let picture = try? decoder?.decode(EncodedVideoFrame(bytes: bytes, isKeyFrame: isKeyFrame))
    let isDamaged = options.damagedFrame == frameCount || (picture == nil && CodedFormat(options.codec).isShown(bytes))
    if isDamaged { finished.flags.insert(.error) }
    coded.done.append(finished)
    if isDamaged {
      show(nil, time: time(source))
    } else if let picture {
      if options.holdsBack {
        if let held { show(held.picture, time: held.time) }
        held = (picture.buffer, time(source))
      } else {
        show(picture.buffer, time: time(source))
      }
    }
    return true
  }

  private func show(_ picture: VideoBuffer?, time: Instant) {
    var target = raw.waiting.removeFirst()
    if let picture { unsafe RawLayout(raw.format)?.write(picture, to: raw.memory[target.index]) }
    for plane in raw.format.planes.indices { target.planes[plane].byteCount = raw.format.planes[plane].size }
    target.planeCount = raw.format.planes.count
    (target.flags, target.time) = (picture == nil ? timeFlags.union(.error) : timeFlags, time)
    raw.done.append(target)
  }
}
