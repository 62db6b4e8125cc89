import Base
import Frames
import Glibc

/// Why the kernel's graphics driver did not do what it was asked for.
struct DRMError: Error, Equatable, CustomStringConvertible {
  /// What was tried.
  var operation: String
  /// The system's error number.
  var code: Int32

  var description: String { unsafe "\(operation): \(String(cString: strerror(code)))" }
}

/// A buffer that planes can show.
struct Framebuffer: Hashable, Sendable {
  /// The kernel's number for it.
  var id: UInt32
}

/// A buffer that the processor draws into and planes show: a dumb buffer. The memory is there until the device destroys it.
struct DumbBuffer {
  /// What planes show.
  var framebuffer: Framebuffer
  var format: PixelFormat
  var width: Int
  var height: Int
  /// Where each plane of the format begins, and the bytes from one row to the next.
  var planes: [(base: UnsafeMutablePointer<UInt8>, stride: Int)]
  /// The kernel's number of the memory.
  var handle: UInt32
  /// All of the memory.
  var memory: UnsafeMutableRawBufferPointer
}

/// What changes on the display at one moment.
struct DisplayCommit {
  /// A connector and the CRTC that drives it; 0: none.
  struct Connector: Equatable {
    var id: UInt32
    var crtc: UInt32
  }

  /// A CRTC and how it is driven.
  struct Head: Equatable {
    var crtc: UInt32
    /// nil: it is switched off.
    var timings: Timings?
    var name = ""
    /// False: the monitor is blanked, and everything else stays as it is.
    var isActive = true
  }

  /// A plane and what it shows; nil: nothing.
  struct Plane: Equatable {
    var plane: UInt32
    var crtc: UInt32
    var framebuffer: Framebuffer?
    /// Where and how; its content says nothing to the driver.
    var assignment: PlaneAssignment?
    /// A sync file to wait for before the buffer is read; -1: none.
    var fence: Int32 = -1
  }

  /// How the driver takes it.
  enum Kind: Equatable {
    /// Only says whether it could be done, modes included when `changesModes`.
    case test(changesModes: Bool)
    /// With the next vertical blank, without waiting for it; an event follows for each CRTC of the planes.
    case flip
    /// Modes included; waits until it is done.
    case modeset
  }

  var kind: Kind
  /// CRTCs whose mode or activity change.
  var heads: [Head] = []
  /// Connectors of those CRTCs, and others that change.
  var connectors: [Connector] = []
  /// Planes that change.
  var planes: [Plane] = []
}

/// A flip that the kernel reports.
struct FlipEvent: Equatable {
  /// Which CRTC; 0 when the driver does not say.
  var crtc: UInt32
  /// When the new picture began to be shown, on `CLOCK_MONOTONIC`.
  var time: Instant
  /// Counts vertical blanks; 0 where there are none.
  var sequence: UInt32
}

/// The calls to a graphics card's kernel driver that a display is made of (Linux, Documentation/gpu/drm-kms.rst).
protocol DRMDevice: AnyObject {
  /// Readable when flips are to be read.
  var descriptor: Int32 { get }
  /// What there is; `probes` has the driver ask the monitors anew, which takes its time.
  func snapshot(probes: Bool) throws(DRMError) -> CardSnapshot
  /// A buffer to draw into, black or transparent.
  func makeBuffer(width: Int, height: Int, format: PixelFormat) throws(DRMError) -> DumbBuffer
  /// Gives a buffer back; a plane that shows it is switched off.
  func destroy(_ buffer: DumbBuffer)
  /// Makes another device's buffer one that planes can show.
  func importBuffer(_ buffer: DeviceBuffer) throws(DRMError) -> Framebuffer
  /// Forgets an imported buffer.
  func forget(_ framebuffer: Framebuffer)
  /// Changes what is shown.
  func commit(_ commit: DisplayCommit) throws(DRMError)
  /// What has flipped since this was asked last.
  func readEvents() throws(DRMError) -> [FlipEvent]
  /// Becomes the one who may change what is shown.
  func becomeMaster() throws(DRMError)
  /// Lets others change what is shown.
  func dropMaster()
  /// How light and dark come out, 65,536 steps for each of red, green and blue.
  func setGamma(_ table: [UInt16], crtc: UInt32) throws(DRMError)
}
