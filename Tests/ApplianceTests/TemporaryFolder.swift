import FoundationEssentials
import Glibc

/// A folder of a test's own, gone with it.
final class TemporaryFolder {
  let path: String

  init() {
    var template = Array("/tmp/parlor-test-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { preconditionFailure("/tmp can be written") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  func write(_ text: String, to name: String) -> String {
    let file = "\(path)/\(name)"
    guard let handle = unsafe fopen(file, "w") else { preconditionFailure("the folder can be written") }
    unsafe fputs(text, handle)
    unsafe fclose(handle)
    return file
  }

  func read(_ name: String) -> [UInt8] { TemporaryFolder.bytes(of: "\(path)/\(name)") }

  /// The bytes of any file; none when it is not there.
  static func bytes(of path: String) -> [UInt8] {
    guard let handle = unsafe fopen(path, "r") else { return [] }
    defer { unsafe fclose(handle) }
    var bytes: [UInt8] = []
    while true {
      let byte = unsafe fgetc(handle)
      if byte < 0 { return bytes }
      bytes.append(UInt8(byte))
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
