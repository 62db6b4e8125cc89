import Base
import Frames
import Glibc
import Testing

@testable import Camera

struct Y4MFileTests {
  /// A file for one test, gone afterwards.
  private func withFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
    var template = Array("/tmp/parlor-y4m-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    defer { unlink(path) }
    #expect(write(descriptor, bytes, bytes.count) == bytes.count)
    try body(path)
  }

  @Test func whatIsWrittenIsRead() throws {
    try withFile([]) { path in
      let camera = SyntheticCamera(width: 322, height: 182, framesPerSecond: 15)
      var writer = try Y4MWriter(path: path, width: 322, height: 182, framesPerSecond: 15)
      for index in 0..<3 { try writer.write(camera.frame(at: index).buffer) }
      let file = try Y4MFile(path: path)
      #expect(file.width == 322 && file.height == 182 && file.framesPerSecond == 15 && file.frameCount == 3)
      for index in 0..<7 {
        #expect(lumaPSNR(try file.frame(at: index).buffer, camera.frame(at: index % 3).buffer) == 128, "it starts again at its end")
      }
      let marked = try Y4MFile(path: path, drawsTimeCode: true)
      #expect(TimeCode.read(from: try marked.frame(at: 40).buffer)?.index == 40)
    }
  }

  @Test(arguments: [
    ("", "a line of at most 255 bytes expected"), ("hello\n", "not a YUV4MPEG2 file"),
    ("YUV4MPEG2 W16 H16 F30:1 C444\n", "colour space 444, accepted are 420, 420jpeg, 420mpeg2 and 420paldv"),
    ("YUV4MPEG2 W0 H16 F30:1\n", "size 0×16, accepted are sides from 1 to 8192"),
    ("YUV4MPEG2 W16 H16 F30:0\n", "0.0 frames per second, accepted are more than 0 and at most 240"),
    ("YUV4MPEG2 W16 H16 F30:1\n", "no whole frame"), ("YUV4MPEG2 W16 H16 F30:1\nFRAME\nshort", "no whole frame"),
    ("YUV4MPEG2 W16 H16 F30:1\nFRAM\n", "byte 24: FRAME expected"),
  ])
  func aWrongFileIsRefusedWithTheReason(text: String, reason: String) throws {
    try withFile(Array(text.utf8)) { path in
      let error = try #require(throws: CameraError.self) { try Y4MFile(path: path) }
      #expect(error.description.hasSuffix(reason))
      #expect(error.description.hasPrefix(path))
    }
  }

  @Test func aMissingFileIsNamed() {
    #expect(throws: CameraError.file(path: "/nonexistent.y4m", reason: "No such file or directory")) {
      try Y4MFile(path: "/nonexistent.y4m")
    }
  }
}
