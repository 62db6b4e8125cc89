import CPageScript
import Foundation
import Testing

/// What is embedded is what lies in Sources/Page/JavaScript, in the order of its list (`Scripts/page-script.sh` writes the order down for the compiler).
@Suite struct PageScriptTests {
  @Test func allFilesAreEmbeddedInOrder() throws {
    let folder = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../Sources/Page/JavaScript").standardizedFileURL
    let names = try String(contentsOf: folder.appendingPathComponent("files.txt"), encoding: .utf8).split(separator: "\n").map(String.init)
    let present = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".js") }
    #expect(Set(names) == Set(present))
    let texts = try names.map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
    #expect(texts.allSatisfy { $0.hasSuffix("\n") })
    let embedded = String(decoding: UnsafeRawBufferPointer(start: page_script_pointer(), count: page_script_length), as: UTF8.self)
    #expect(embedded == "(function (native) { \"use strict\";\n" + texts.joined() + "})\n")
  }
}
