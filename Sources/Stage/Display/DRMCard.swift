import Base
import CDRM
import Frames
import Glibc

/// A graphics card, by its kernel driver. Used on one thread.
final class DRMCard: DRMDevice {
  /// Where its device node is.
  let path: String
  let descriptor: Int32
  /// Properties by name, of each object that was asked for them.
  private var properties: [UInt32: [String: Property]] = [:]
  /// What the driver can do; set once.
  let capabilities: CardSnapshot.Capabilities
  let driver: String

  /// A property of a connector, CRTC or plane.
  struct Property {
    var id: UInt32
    var value: UInt64
    var flags: UInt32
    /// Of enumerations and bit masks: values by name.
    var values: [String: UInt64]
    /// Of ranges: the least and the greatest.
    var range: ClosedRange<UInt64>?
  }

  /// Opens a card. Who opens one that nobody shows anything on becomes its master. Without `usesAtomic`, what is shown is changed piece by piece
  /// even where the driver takes whole commits.
  init(path: String, usesAtomic: Bool = true) throws(DRMError) {
    self.path = path
    let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw DRMError(operation: path, code: errno) }
    self.descriptor = descriptor
    func value(of capability: Int32) -> UInt64 {
      var value: UInt64 = 0
      return unsafe drmGetCap(descriptor, UInt64(capability), &value) == 0 ? value : 0
    }
    drmSetClientCap(descriptor, UInt64(DRM_CLIENT_CAP_UNIVERSAL_PLANES), 1)
    var capabilities: CardSnapshot.Capabilities = []
    if usesAtomic && drmSetClientCap(descriptor, UInt64(DRM_CLIENT_CAP_ATOMIC), 1) == 0 { capabilities.insert(.atomic) }
    let known: [(Int32, CardSnapshot.Capabilities)] = [
      (DRM_CAP_DUMB_BUFFER, .dumbBuffers), (DRM_CAP_ADDFB2_MODIFIERS, .modifiers), (DRM_CAP_CRTC_IN_VBLANK_EVENT, .crtcInEvents),
      (DRM_CAP_TIMESTAMP_MONOTONIC, .monotonicTimestamps),
    ]
    for (number, capability) in known where value(of: number) != 0 { capabilities.insert(capability) }
    let sharing = value(of: DRM_CAP_PRIME)
    if sharing & UInt64(DRM_PRIME_CAP_IMPORT) != 0 { capabilities.insert(.imports) }
    if sharing & UInt64(DRM_PRIME_CAP_EXPORT) != 0 { capabilities.insert(.exports) }
    if let version = unsafe drmGetVersion(descriptor) {
      driver = unsafe String(cString: version.pointee.name)
      unsafe drmFreeVersion(version)
    } else {
      driver = "unknown"
    }
    self.capabilities = capabilities
    guard let resources = unsafe drmModeGetResources(descriptor) else {
      let code = errno
      close(descriptor)
      throw DRMError(operation: "\(path) has no display", code: code)
    }
    unsafe drmModeFreeResources(resources)
  }

  /// Opens the card at `path`; without one, the first that has a monitor, else the first that could have one.
  static func open(_ path: String?, usesAtomic: Bool = true) throws(DRMError) -> DRMCard {
    if let path { return try DRMCard(path: path, usesAtomic: usesAtomic) }
    var failure = DRMError(operation: "/dev/dri/card0", code: ENOENT)
    var first: DRMCard?
    for index in 0..<16 {
      let path = "/dev/dri/card\(index)"
      guard access(path, F_OK) == 0 else { continue }
      do throws(DRMError) {
        let card = try DRMCard(path: path, usesAtomic: usesAtomic)
        if try card.snapshot(probes: true).connectors.contains(where: { $0.status == .connected && !$0.isWriteback }) { return card }
        if first == nil { first = card }
      } catch {
        failure = error
      }
    }
    guard let first else { throw failure }
    return first
  }

  deinit { close(descriptor) }

  /// Whether what is shown may be changed.
  var isMaster: Bool { drmIsMaster(descriptor) != 0 }

  func becomeMaster() throws(DRMError) {
    guard isMaster || drmSetMaster(descriptor) == 0 else { throw DRMError(operation: "\(path): DRM master", code: errno) }
  }

  func dropMaster() { drmDropMaster(descriptor) }

  // MARK: Properties

  /// The properties of an object by name; `isFresh` reads their values anew.
  func properties(of object: UInt32, _ kind: UInt32, isFresh: Bool = false) -> [String: Property] {
    if !isFresh, let known = properties[object] { return known }
    var found: [String: Property] = [:]
    if let list = unsafe drmModeObjectGetProperties(descriptor, object, kind) {
      for index in 0..<Int(unsafe list.pointee.count_props) {
        guard let property = unsafe drmModeGetProperty(descriptor, list.pointee.props[index]) else { continue }
        let (name, entry) = unsafe DRMCard.read(property, value: list.pointee.prop_values[index])
        found[name] = entry
        unsafe drmModeFreeProperty(property)
      }
      unsafe drmModeFreeObjectProperties(list)
    }
    properties[object] = found
    return found
  }

  private static func read(_ property: UnsafeMutablePointer<drmModePropertyRes>, value: UInt64) -> (String, Property) {
    let content = unsafe property.pointee
    var values: [String: UInt64] = [:]
    for index in 0..<Int(content.count_enums) {
      let entry = unsafe content.enums[index]
      values[DRMCard.text(entry.name)] = entry.value
    }
    var range: ClosedRange<UInt64>?
    if content.flags & UInt32(DRM_MODE_PROP_RANGE) != 0, content.count_values == 2 {
      let (low, high) = unsafe (content.values[0], content.values[1])
      if low <= high { range = low...high }
    }
    return (DRMCard.text(content.name), Property(id: content.prop_id, value: value, flags: content.flags, values: values, range: range))
  }

  /// The text in a C array of characters.
  static func text<Characters>(_ characters: Characters) -> String {
    withUnsafeBytes(of: characters) { bytes in unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
  }

  // MARK: Buffers

  func makeBuffer(width: Int, height: Int, format: PixelFormat) throws(DRMError) -> DumbBuffer {
    // Chroma planes follow in the same memory, as further rows.
    let isChroma = format.isLumaChroma
    var request = drm_mode_create_dumb()
    (request.width, request.bpp) = (UInt32(width + width % 2), isChroma ? 8 : 32)
    request.height = UInt32(isChroma ? (height + 1) / 2 * 3 : height)
    guard unsafe drm_create_dumb(descriptor, &request) == 0 else {
      throw DRMError(operation: "a buffer of \(width)x\(height)", code: errno)
    }
    var map = drm_mode_map_dumb()
    map.handle = request.handle
    let size = Int(request.size)
    guard unsafe drm_map_dumb(descriptor, &map) == 0,
      let memory = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, off_t(map.offset)),
      unsafe memory != MAP_FAILED
    else {
      let code = errno
      drm_destroy_dumb(descriptor, request.handle)
      throw DRMError(operation: "the memory of a buffer", code: code)
    }
    let stride = Int(request.pitch)
    let rows = (height + 1) / 2 * 2
    let layout: [(offset: Int, stride: Int)] =
      switch format {
      case .nv12: [(0, stride), (rows * stride, stride)]
      case .yuv420, .yvu420: [(0, stride), (rows * stride, stride / 2), (rows * stride + rows / 2 * (stride / 2), stride / 2)]
      default: [(0, stride)]
      }
    var id: UInt32 = 0
    var handles = [UInt32](repeating: 0, count: 4)
    var pitches = handles
    var offsets = handles
    for (index, plane) in layout.enumerated() {
      (handles[index], pitches[index], offsets[index]) = (request.handle, UInt32(plane.stride), UInt32(plane.offset))
    }
    guard unsafe drmModeAddFB2(descriptor, UInt32(width), UInt32(height), format.rawValue, &handles, &pitches, &offsets, &id, 0) == 0 else {
      let code = errno
      unsafe munmap(memory, size)
      drm_destroy_dumb(descriptor, request.handle)
      throw DRMError(operation: "a buffer in the format \(format)", code: code)
    }
    let bytes = unsafe memory.assumingMemoryBound(to: UInt8.self)
    return unsafe DumbBuffer(
      framebuffer: Framebuffer(id: id), format: format, width: width, height: height,
      planes: layout.map { unsafe (bytes + $0.offset, $0.stride) }, handle: request.handle,
      memory: UnsafeMutableRawBufferPointer(start: memory, count: size))
  }

  func destroy(_ buffer: DumbBuffer) {
    drmModeRmFB(descriptor, buffer.framebuffer.id)
    unsafe munmap(buffer.memory.baseAddress, buffer.memory.count)
    drm_destroy_dumb(descriptor, buffer.handle)
  }

  func importBuffer(_ buffer: DeviceBuffer) throws(DRMError) -> Framebuffer {
    var handles = [UInt32](repeating: 0, count: 4)
    var pitches = handles
    var offsets = handles
    var modifiers = [UInt64](repeating: 0, count: 4)
    // The framebuffer keeps the memory; handles that came twice are the same.
    defer { for handle in Set(handles) where handle != 0 { drm_close_handle(descriptor, handle) } }
    for (index, plane) in buffer.planes.enumerated() {
      guard unsafe drmPrimeFDToHandle(descriptor, plane.descriptor, &handles[index]) == 0 else {
        throw DRMError(operation: "another device's buffer", code: errno)
      }
      (pitches[index], offsets[index], modifiers[index]) = (UInt32(plane.stride), UInt32(plane.offset), buffer.modifier)
    }
    var id: UInt32 = 0
    let hasModifiers = capabilities.contains(.modifiers)
    let (width, height) = (UInt32(buffer.width), UInt32(buffer.height))
    let status =
      hasModifiers
      ? unsafe drmModeAddFB2WithModifiers(
        descriptor, width, height, buffer.format, &handles, &pitches, &offsets, &modifiers, &id, UInt32(DRM_MODE_FB_MODIFIERS))
      : unsafe drmModeAddFB2(descriptor, width, height, buffer.format, &handles, &pitches, &offsets, &id, 0)
    guard status == 0 else {
      throw DRMError(operation: "another device's buffer in the format \(PixelFormat(rawValue: buffer.format))", code: errno)
    }
    return Framebuffer(id: id)
  }

  func forget(_ framebuffer: Framebuffer) { drmModeRmFB(descriptor, framebuffer.id) }

  // MARK: Flips

  func readEvents() throws(DRMError) -> [FlipEvent] {
    var bytes = [UInt8](repeating: 0, count: 1_024)
    let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
    guard count >= 0 else {
      if errno == EAGAIN || errno == EINTR { return [] }
      throw DRMError(operation: path, code: errno)
    }
    var events: [FlipEvent] = []
    unsafe bytes.withUnsafeBytes { bytes in
      var offset = 0
      while offset + MemoryLayout<drm_event>.size <= count {
        let head = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: drm_event.self)
        guard head.length >= 8, offset + Int(head.length) <= count else { return }
        if head.type == UInt32(DRM_EVENT_FLIP_COMPLETE), Int(head.length) >= MemoryLayout<drm_event_vblank>.size {
          let event = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: drm_event_vblank.self)
          let time = Instant(nanoseconds: Int64(event.tv_sec) * 1_000_000_000 + Int64(event.tv_usec) * 1_000)
          events.append(
            FlipEvent(
              crtc: event.crtc_id != 0 ? event.crtc_id : UInt32(truncatingIfNeeded: event.user_data), time: time, sequence: event.sequence))
        }
        offset += Int(head.length)
      }
    }
    return events
  }

  func setGamma(_ table: [UInt16], crtc: UInt32) throws(DRMError) {
    var table = table
    let status = unsafe table.withUnsafeMutableBufferPointer { table in
      unsafe drmModeCrtcSetGamma(descriptor, crtc, UInt32(table.count), table.baseAddress, table.baseAddress, table.baseAddress)
    }
    guard status == 0 else { throw DRMError(operation: "gamma", code: -status > 0 ? -status : errno) }
  }
}
