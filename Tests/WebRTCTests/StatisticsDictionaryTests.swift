import Testing

@testable import WebRTC

@Suite struct StatisticsDictionaryTests {
  @Test func membersStayInTheirOrder() {
    var dictionary: StatisticsDictionary = ["id": "A", "type": "codec", "count": 1]
    dictionary["id"] = "B"
    dictionary["more"] = 2
    #expect(dictionary.map(\.name) == ["id", "type", "count", "more"])
    dictionary["type"] = nil
    dictionary["none"] = nil
    #expect(dictionary == ["id": "B", "count": 1, "more": 2])
    #expect(dictionary["id"] == "B" && dictionary["type"] == nil)
  }

  @Test func theLastOfTwoEqualNamesHolds() {
    #expect(StatisticsDictionary(dictionaryLiteral: ("a", 1), ("a", 2)) == ["a": 2])
  }
}
