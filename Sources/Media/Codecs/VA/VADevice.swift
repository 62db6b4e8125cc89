import CVA
import Glibc

/// Coding hardware behind a VA-API driver.
struct VADevice: CodingDevice {
  typealias Opener = @Sendable (_ path: String) throws(VAError) -> any VADriver

  let name: String
  private let path: String
  private let encodes: Set<VideoCodec>
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
    guard !encodes.isEmpty else { return nil }
    name = "VA-API \(driver.vendor) (\(path))"
  }

  func supports(_ codec: VideoCodec, _ direction: CodecChoice.Direction) -> Bool { direction == .encode && encodes.contains(codec) }

  func makeEncoder(_ codec: VideoCodec, settings: VideoEncoderSettings) throws(CodecError) -> any VideoEncoder {
    let driver: any VADriver
    do throws(VAError) { driver = try open(path) } catch { throw .unavailable("\(error)") }
    return try VAEncoder(driver, codec, name: name, settings: settings)
  }

  func makeDecoder(_ codec: VideoCodec) throws(CodecError) -> any VideoDecoder {
    throw .unavailable("\(name) does not decode \(codec.rawValue)")
  }

  /// The machine's, by their render nodes.
  static func all() -> [VADevice] {
    (128..<136).map { (number: Int) -> String in "/dev/dri/renderD\(number)" }.filter { path in access(path, R_OK | W_OK) == 0 }.compactMap
    { VADevice(path: $0) }
  }
}
