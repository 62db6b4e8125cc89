import Foundation
import Testing
import WebRTC

@testable import PageSession

/// Whether the text of a report is what it says, to a reader that is not ours.
@Suite struct StatisticsTextTests {
  private struct Reply: Decodable, Equatable {
    struct Value: Decodable, Equatable { var report: [Entry] }
    struct Entry: Decodable, Equatable {
      var id: String?
      var count: Int?
      var big: Int?
      var small: Double?
      var whole: Double?
      var flag: Bool?
      var numbers: [String: Double]?
      var name: String?
    }

    var type: String
    var id: Int
    var value: Value
  }

  private func read(_ report: [StatisticsDictionary]) throws -> Reply {
    try JSONDecoder().decode(Reply.self, from: Data(StatisticsText.reply(7, report)))
  }

  @Test func anEmptyReport() throws {
    #expect(try read([]) == Reply(type: "reply", id: 7, value: .init(report: [])))
  }

  @Test func everyKindOfValue() throws {
    let entries = try read([
      ["id": "A", "count": -12, "big": .integer(.max), "small": 1.25e-9, "whole": 1_796_000_000_000.5, "flag": true],
      ["id": "B", "count": 0, "big": .integer(.min), "small": -0.1, "whole": 3.0, "flag": false],
      ["numbers": .numbers(["cpu": 0.5, "none": 2]), "name": .null],
    ]).value.report
    #expect(
      entries == [
        .init(id: "A", count: -12, big: .max, small: 1.25e-9, whole: 1_796_000_000_000.5, flag: true),
        .init(id: "B", count: 0, big: .min, small: -0.1, whole: 3, flag: false),
        .init(numbers: ["cpu": 0.5, "none": 2]),
      ])
  }

  @Test func textOfAnyCharacters() throws {
    let characters = (0...0x2FF).compactMap { Unicode.Scalar($0) }.map { String($0) }.joined() + "\"\\/\u{2028}\u{1F4DE}"
    #expect(try read([["name": .text(characters)]]).value.report == [.init(name: characters)])
  }

  @Test func numbersThatJSONDoesNotHave() {
    let text = String(
      decoding: StatisticsText.reply(1, [["a": .number(.nan), "b": .number(.infinity), "c": .number(-.infinity)]]), as: UTF8.self)
    #expect(text == #"{"type":"reply","id":1,"value":{"report":[{"a":"NaN","b":"Infinity","c":"-Infinity"}]}}"#)
  }
}
