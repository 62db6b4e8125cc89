import CVA
import Frames

/// Why a VA-API driver did not do what it was asked for.
struct VAError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The call of libva.
  var call: String
  /// What the library says.
  var text: String

  var description: String { "\(call): \(text)" }
}

/// What a VA-API driver can do (libva's `va.h`), as calls that can be stood in for.
protocol VADriver: AnyObject {
  /// The driver's name for itself.
  var vendor: String { get }
  /// Which ways a profile can be coded.
  func entryPoints(of profile: VAProfile) -> [VAEntrypoint]
  /// A property of a profile and way; nil: the driver has none like it.
  func attribute(_ type: VAConfigAttribType, _ profile: VAProfile, _ entryPoint: VAEntrypoint) -> UInt32?
  /// Opens a session for pictures of one size, with `surfaceCount` surfaces in 4:2:0.
  func open(
    _ profile: VAProfile, _ entryPoint: VAEntrypoint, attributes: [VAConfigAttrib], width: Int, height: Int, surfaceCount: Int
  ) throws(VAError) -> any VASession
}

/// Coding hardware at work on pictures of one size.
protocol VASession: AnyObject {
  /// Where pictures are.
  var surfaces: [VASurfaceID] { get }
  /// Makes a buffer for coded data, which goes with the session.
  func makeCodedBuffer(size: Int) throws(VAError) -> VABufferID
  /// Adds parameters or data to the next run.
  func add(_ type: VABufferType, _ bytes: UnsafeRawBufferPointer) throws(VAError)
  /// Runs on a surface, with all that was added, and waits for the end.
  func run(on surface: VASurfaceID) throws(VAError)
  /// Copies a picture into a surface.
  func upload(_ picture: VideoBuffer, to surface: VASurfaceID) throws(VAError)
  /// Copies the top left corner of a surface into a picture.
  func download(_ surface: VASurfaceID, into picture: VideoBuffer) throws(VAError)
  /// What a run wrote into a coded buffer.
  func codedBytes(in buffer: VABufferID) throws(VAError) -> [UInt8]
}

extension VASession {
  /// Adds a C structure of parameters to the next run.
  func add<Parameters>(_ type: VABufferType, _ parameters: Parameters) throws(VAError) {
    // The typed error does not pass through the standard library's closure.
    let result = unsafe withUnsafeBytes(of: parameters) { bytes in
      Result { () throws(VAError) in unsafe try add(type, bytes) }
    }
    try result.get()
  }

  /// Adds one of libva's miscellaneous parameters: its number, then its structure.
  func add<Parameters>(miscellaneous type: VAEncMiscParameterType, _ parameters: Parameters) throws(VAError) {
    var bytes: [UInt8] = []
    unsafe withUnsafeBytes(of: type.rawValue) { unsafe bytes.append(contentsOf: $0) }
    unsafe withUnsafeBytes(of: parameters) { unsafe bytes.append(contentsOf: $0) }
    try add(VAEncMiscParameterBufferType, bytes)
  }

  /// Adds bytes to the next run.
  func add(_ type: VABufferType, _ bytes: [UInt8]) throws(VAError) {
    let result = unsafe bytes.withUnsafeBytes { bytes in
      Result { () throws(VAError) in unsafe try add(type, bytes) }
    }
    try result.get()
  }
}
