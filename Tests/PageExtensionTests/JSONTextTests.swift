import Foundation
import Testing

@testable import PageExtension

@Suite struct JSONTextTests {
  @Test func whatIsWrittenIsReadBack() throws {
    let awkward = "\"\\/\u{0}\u{1F}\n\u{7F}é\u{2028}😀"
    var inner = JSONText()
    inner.add("yes", true)
    var text = JSONText()
    text.add("text", awkward)
    text.add("number", UInt32.max)
    text.add("list", ["a", awkward])
    text.add("empty", [])
    text.add("inner", inner)
    let read = try #require(try JSONSerialization.jsonObject(with: Data(text.text.utf8)) as? [String: Any])
    #expect(read["text"] as? String == awkward)
    #expect(read["number"] as? UInt32 == .max)
    #expect(read["list"] as? [String] == ["a", awkward])
    #expect(read["empty"] as? [String] == [])
    #expect((read["inner"] as? [String: Bool]) == ["yes": true])
  }
}
