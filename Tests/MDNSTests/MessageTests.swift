import Testing

@testable import MDNS

@Suite struct MessageTests {
  @Test func aMessageReadsAsItWasWritten() throws {
    var message = Message(isResponse: true)
    message.identifier = 7
    message.questions = [Message.Question(name: Name("a.local")!, type: Message.RecordType.aaaa, wantsUnicast: true)]
    message.answers = [
      Message.Record(name: Name("b.local")!, type: Message.RecordType.a, flushesCache: true, timeToLive: 120, data: [192, 0, 2, 1])
    ]
    message.additional = [Message.Record(name: Name("c.local")!, type: 16, flushesCache: false, timeToLive: .max, data: [])]
    let bytes = message.encoded()
    #expect(try Message(parsing: bytes.span.bytes) == message)
    for count in 0..<bytes.count {
      let part = Array(bytes[..<count])
      #expect(throws: MessageError.truncated) { try Message(parsing: part.span.bytes) }
    }
  }

  /// An answer as other responders compress it: the second record's name points into the first's.
  @Test func aCompressedAnswerIsRead() throws {
    let bytes: [UInt8] =
      [0, 0, 0x84, 0, 0, 0, 0, 2, 0, 0, 0, 0] + [2, 104, 49, 5] + Array("local".utf8) + [0] + [
        0, 1, 0x80, 1, 0, 0, 0, 120, 0, 4, 10, 0, 0, 1,
      ]
      + [0xC0, 12] + [0, 28, 0x80, 1, 0, 0, 0, 120, 0, 16] + [UInt8](repeating: 0, count: 15) + [1]
    let message = try Message(parsing: bytes.span.bytes)
    #expect(message.answers.map(\.name) == [Name("h1.local")!, Name("h1.local")!])
    #expect(message.answers.map(\.data.count) == [4, 16])
  }

  @Test func recordsOfOtherClassesAreLeftOut() throws {
    let bytes: [UInt8] = [0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 97, 0, 0, 1, 0, 3, 1, 97, 0, 0, 1, 0, 3, 0, 0, 0, 1, 0, 1, 5]
    let message = try Message(parsing: bytes.span.bytes)
    #expect(message.questions.isEmpty && message.answers.isEmpty)
  }
}
