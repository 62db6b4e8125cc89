import CVA
import CYUV
import Frames
import Glibc

/// A VA-API driver by libva, at one of the machine's render nodes.
final class LibVADriver: VADriver {
  let vendor: String
  private let display: VADisplay
  private let descriptor: Int32
  private let profiles: [VAProfile]

  /// Opens a render node, such as `/dev/dri/renderD128`.
  init(path: String) throws(VAError) {
    descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw VAError(call: "open", text: unsafe "\(path): \(String(cString: strerror(errno)))") }
    guard let display = unsafe vaGetDisplayDRM(descriptor) else {
      close(descriptor)
      throw VAError(call: "vaGetDisplayDRM", text: path)
    }
    unsafe self.display = unsafe display
    // The library would write to standard error.
    unsafe vaSetErrorCallback(display, nil, nil)
    unsafe vaSetInfoCallback(display, nil, nil)
    var (major, minor): (Int32, Int32) = (0, 0)
    let status = unsafe vaInitialize(display, &major, &minor)
    guard status == VA_STATUS_SUCCESS else {
      unsafe vaTerminate(display)
      close(descriptor)
      throw LibVADriver.error("vaInitialize", status)
    }
    vendor = unsafe vaQueryVendorString(display).map { unsafe String(cString: $0) } ?? "unknown driver"
    var found = [VAProfile](repeating: VAProfileNone, count: Int(max(1, unsafe vaMaxNumProfiles(display))))
    var count: Int32 = 0
    profiles = unsafe vaQueryConfigProfiles(display, &found, &count) == VA_STATUS_SUCCESS ? Array(found.prefix(Int(count))) : []
  }

  deinit {
    unsafe vaTerminate(display)
    close(descriptor)
  }

  fileprivate static func error(_ call: String, _ status: VAStatus) -> VAError {
    VAError(call: call, text: unsafe vaErrorStr(status).map { unsafe String(cString: $0) } ?? "error \(status)")
  }

  func entryPoints(of profile: VAProfile) -> [VAEntrypoint] {
    guard profiles.contains(profile) else { return [] }
    var found = [VAEntrypoint](repeating: VAEntrypointVLD, count: Int(max(1, unsafe vaMaxNumEntrypoints(display))))
    var count: Int32 = 0
    guard unsafe vaQueryConfigEntrypoints(display, profile, &found, &count) == VA_STATUS_SUCCESS else { return [] }
    return Array(found.prefix(Int(count)))
  }

  func attribute(_ type: VAConfigAttribType, _ profile: VAProfile, _ entryPoint: VAEntrypoint) -> UInt32? {
    var attribute = VAConfigAttrib(type: type, value: 0)
    guard unsafe vaGetConfigAttributes(display, profile, entryPoint, &attribute, 1) == VA_STATUS_SUCCESS,
      attribute.value != UInt32(VA_ATTRIB_NOT_SUPPORTED)
    else { return nil }
    return attribute.value
  }

  func open(
    _ profile: VAProfile, _ entryPoint: VAEntrypoint, attributes: [VAConfigAttrib], width: Int, height: Int, surfaceCount: Int
  ) throws(VAError) -> any VASession {
    try Session(self, profile, entryPoint, attributes, width, height, surfaceCount)
  }

  private final class Session: VASession {
    private let driver: LibVADriver
    private var configuration = VAConfigID(VA_INVALID_ID)
    private var context = VAContextID(VA_INVALID_ID)
    private(set) var surfaces: [VASurfaceID]
    private var codedBuffers: [VABufferID] = []
    /// What the next run takes.
    private var added: [VABufferID] = []
    private var display: VADisplay { unsafe driver.display }

    init(
      _ driver: LibVADriver, _ profile: VAProfile, _ entryPoint: VAEntrypoint, _ attributes: [VAConfigAttrib], _ width: Int, _ height: Int,
      _ surfaceCount: Int
    ) throws(VAError) {
      self.driver = driver
      surfaces = []
      var attributes = attributes
      try check("vaCreateConfig", unsafe vaCreateConfig(display, profile, entryPoint, &attributes, Int32(attributes.count), &configuration))
      var made = [VASurfaceID](repeating: VASurfaceID(VA_INVALID_ID), count: surfaceCount)
      try check(
        "vaCreateSurfaces",
        unsafe vaCreateSurfaces(display, UInt32(VA_RT_FORMAT_YUV420), UInt32(width), UInt32(height), &made, UInt32(surfaceCount), nil, 0))
      surfaces = made
      try check(
        "vaCreateContext",
        unsafe vaCreateContext(
          display, configuration, Int32(width), Int32(height), Int32(VA_PROGRESSIVE), &made, Int32(surfaceCount), &context))
    }

    deinit {
      for buffer in codedBuffers + added { unsafe vaDestroyBuffer(display, buffer) }
      if context != VA_INVALID_ID { unsafe vaDestroyContext(display, context) }
      if !surfaces.isEmpty { unsafe vaDestroySurfaces(display, &surfaces, Int32(surfaces.count)) }
      if configuration != VA_INVALID_ID { unsafe vaDestroyConfig(display, configuration) }
    }

    private func check(_ call: String, _ status: VAStatus) throws(VAError) {
      guard status == VA_STATUS_SUCCESS else { throw LibVADriver.error(call, status) }
    }

    func makeCodedBuffer(size: Int) throws(VAError) -> VABufferID {
      var buffer = VABufferID(VA_INVALID_ID)
      try check("vaCreateBuffer", unsafe vaCreateBuffer(display, context, VAEncCodedBufferType, UInt32(size), 1, nil, &buffer))
      codedBuffers.append(buffer)
      return buffer
    }

    func add(_ type: VABufferType, _ bytes: UnsafeRawBufferPointer) throws(VAError) {
      var buffer = VABufferID(VA_INVALID_ID)
      // The library copies the bytes.
      let data = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)
      try check("vaCreateBuffer", unsafe vaCreateBuffer(display, context, type, UInt32(bytes.count), 1, data, &buffer))
      added.append(buffer)
    }

    func run(on surface: VASurfaceID) throws(VAError) {
      defer {
        for buffer in added { unsafe vaDestroyBuffer(display, buffer) }
        added.removeAll(keepingCapacity: true)
      }
      try check("vaBeginPicture", unsafe vaBeginPicture(display, context, surface))
      let status = unsafe vaRenderPicture(display, context, &added, Int32(added.count))
      // A picture that was begun is ended in any case.
      let end = unsafe vaEndPicture(display, context)
      try check("vaRenderPicture", status)
      try check("vaEndPicture", end)
      try check("vaSyncSurface", unsafe vaSyncSurface(display, surface))
    }

    func codedBytes(in buffer: VABufferID) throws(VAError) -> [UInt8] {
      var start: UnsafeMutableRawPointer?
      try check("vaMapBuffer", unsafe vaMapBuffer(display, buffer, &start))
      defer { unsafe vaUnmapBuffer(display, buffer) }
      var bytes: [UInt8] = []
      var segment = unsafe start?.assumingMemoryBound(to: VACodedBufferSegment.self)
      while let current = unsafe segment {
        let status = unsafe current.pointee.status
        guard status & UInt32(VA_CODED_BUF_STATUS_SLICE_OVERFLOW_MASK | VA_CODED_BUF_STATUS_BAD_BITSTREAM) == 0 else {
          throw VAError(call: "vaMapBuffer", text: "the coded picture is damaged")
        }
        if let data = unsafe current.pointee.buf {
          unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: data, count: Int(current.pointee.size)))
        }
        unsafe segment = current.pointee.next.map { unsafe $0.assumingMemoryBound(to: VACodedBufferSegment.self) }
      }
      return bytes
    }

    // MARK: Pictures

    func upload(_ picture: VideoBuffer, to surface: VASurfaceID) throws(VAError) {
      try withImage(of: surface, isWritten: true, width: picture.width, height: picture.height) { image, start in
        let luma = unsafe start + Int(image.offsets.0)
        if image.format.fourcc == Session.nv12 {
          _ = unsafe I420ToNV12(
            picture.luma, Int32(picture.lumaStride), picture.chromaU, Int32(picture.chromaStride), picture.chromaV,
            Int32(picture.chromaStride), luma, Int32(image.pitches.0), start + Int(image.offsets.1), Int32(image.pitches.1),
            Int32(picture.width), Int32(picture.height))
        } else {
          _ = unsafe I420Copy(
            picture.luma, Int32(picture.lumaStride), picture.chromaU, Int32(picture.chromaStride), picture.chromaV,
            Int32(picture.chromaStride), luma, Int32(image.pitches.0), start + Int(image.offsets.1), Int32(image.pitches.1),
            start + Int(image.offsets.2), Int32(image.pitches.2), Int32(picture.width), Int32(picture.height))
        }
      }
    }

    func download(_ surface: VASurfaceID, into picture: VideoBuffer) throws(VAError) {
      try withImage(of: surface, isWritten: false, width: picture.width, height: picture.height) { image, start in
        let luma = unsafe start + Int(image.offsets.0)
        if image.format.fourcc == Session.nv12 {
          _ = unsafe NV12ToI420(
            luma, Int32(image.pitches.0), start + Int(image.offsets.1), Int32(image.pitches.1), picture.luma, Int32(picture.lumaStride),
            picture.chromaU, Int32(picture.chromaStride), picture.chromaV, Int32(picture.chromaStride), Int32(picture.width),
            Int32(picture.height))
        } else {
          _ = unsafe I420Copy(
            luma, Int32(image.pitches.0), start + Int(image.offsets.1), Int32(image.pitches.1), start + Int(image.offsets.2),
            Int32(image.pitches.2), picture.luma, Int32(picture.lumaStride), picture.chromaU, Int32(picture.chromaStride), picture.chromaV,
            Int32(picture.chromaStride), Int32(picture.width), Int32(picture.height))
        }
      }
    }

    private static let nv12: UInt32 = 0x3231_564E
    private static let i420: UInt32 = 0x3032_3449

    /// Gives the surface's own memory where the driver shows it in a layout known here, else an image that is copied from or to it.
    private func withImage(
      of surface: VASurfaceID, isWritten: Bool, width: Int, height: Int, _ body: (VAImage, UnsafeMutablePointer<UInt8>) -> Void
    ) throws(VAError) {
      var image = VAImage()
      var isOwn = unsafe vaDeriveImage(display, surface, &image) == VA_STATUS_SUCCESS
      if isOwn, image.format.fourcc != Session.nv12, image.format.fourcc != Session.i420 {
        unsafe vaDestroyImage(display, image.image_id)
        isOwn = false
      }
      if !isOwn {
        var format = VAImageFormat()
        (format.fourcc, format.byte_order, format.bits_per_pixel) = (Session.nv12, UInt32(VA_LSB_FIRST), 12)
        try check("vaCreateImage", unsafe vaCreateImage(display, &format, Int32(width), Int32(height), &image))
      }
      defer { unsafe vaDestroyImage(display, image.image_id) }
      if !isOwn, !isWritten {
        try check("vaGetImage", unsafe vaGetImage(display, surface, 0, 0, UInt32(width), UInt32(height), image.image_id))
      }
      var start: UnsafeMutableRawPointer?
      try check("vaMapBuffer", unsafe vaMapBuffer(display, image.buf, &start))
      if let start = unsafe start { unsafe body(image, start.assumingMemoryBound(to: UInt8.self)) }
      try check("vaUnmapBuffer", unsafe vaUnmapBuffer(display, image.buf))
      if !isOwn, isWritten {
        let (width, height) = (UInt32(width), UInt32(height))
        try check("vaPutImage", unsafe vaPutImage(display, surface, image.image_id, 0, 0, width, height, 0, 0, width, height))
      }
    }
  }
}
