import CVA
import Glibc

/// Coding hardware behind a VA-API driver.
struct VADevice: CodingDevice {
  typealias Opener = @Sendable (_ path: String) throws(VAError) -> any VADriver

  let name: String
  private let path: String
  private let encodes: Set<VideoCodec>
  private let decodesH264: Bool
  private let open: Opener

  /// Looks what a driver offers; nil when it does not start, or codes nothing of use.
  init?(path: String, open: @escaping Opener = { path throws(VAError) in try LibVADriver(path: path) }) {
    guard let driver = try? open(path) else { return nil }
    (self.path, self.open) = (path, open)
    encodes = Set(
      VideoCodec.allCases.filter {
        let offered = driver.entryPoints(of: VAProfile($0))
        return offered.contains(VAEntrypointEncSlice) || offered.contains(VAEntrypointEncSliceLP)
      })
    decodesH264 = driver.entryPoints(of: VAProfileH264ConstrainedBaseline).contains(VAEntrypointVLD)
    guard !encodes.isEmpty || decodesH264 else { return nil }
    name = "VA-API \(driver.vendor) (\(path))"
  }

  func supports(_ codec: VideoCodec, _ direction: CodecChoice.Direction) -> Bool {
    direction == .encode ? encodes.contains(codec) : codec == .h264 && decodesH264
  }

  func makeEncoder(_ codec: VideoCodec, settings: VideoEncoderSettings) throws(CodecError) -> any VideoEncoder {
    try VAEncoder(try opened(), codec, name: name, settings: settings)
  }

  func makeDecoder(_ codec: VideoCodec) throws(CodecError) -> any VideoDecoder {
    guard supports(codec, .decode) else { throw .unavailable("\(name) does not decode \(codec.rawValue)") }
    return VADecoder(try opened(), name: name)
  }

  private func opened() throws(CodecError) -> any VADriver {
    do throws(VAError) { return try open(path) } catch { throw .unavailable("\(error)") }
  }

  /// The machine's, by their render nodes.
  static func all() -> [VADevice] {
    (128..<136).map { (number: Int) -> String in "/dev/dri/renderD\(number)" }.filter { path in access(path, R_OK | W_OK) == 0 }.compactMap
    { VADevice(path: $0) }
  }
}
