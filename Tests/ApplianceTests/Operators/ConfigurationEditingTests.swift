import Testing

@testable import Appliance

@Suite struct ConfigurationEditingTests {
  private let text = """
    # Lobby
    [call]   # whom
    url = 'https://a/#x'   # the page
    allowed_origins = [
      "https://b",  # two ]
      "https://c",
    ]
    [display]
    rotate = 90
    mode="1920x1080" # full
    [[network.wifi]]
    ssid = "One"
    [[network.wifi]]
    ssid = "Two" # ]]
    [power]
    schedule = { from = "18:00", to = "08:00" }

    """

  private func setting(_ key: String, _ literal: String, in text: String? = nil) throws -> String {
    String(decoding: try ConfigurationText(Array((text ?? self.text).utf8), file: "parlor.toml").setting(key, to: literal), as: UTF8.self)
  }

  @Test(arguments: [
    ("call.url", "\"https://z\"", "url = 'https://a/#x'   # the page", "url = \"https://z\"   # the page"),
    ("display.rotate", "180", "rotate = 90\n", "rotate = 180\n"),
    ("display.mode", "'1280x720'", "mode=\"1920x1080\" #", "mode='1280x720' #"),
    ("call.allowed_origins", "[]", "[\n  \"https://b\",  # two ]\n  \"https://c\",\n]", "[]"),
    ("network.wifi[1].ssid", "\"2\"", "ssid = \"Two\" # ]]", "ssid = \"2\" # ]]"),
    ("power.schedule.to", "'9'", "to = \"08:00\" }", "to = '9' }"),
    ("power.schedule", "[]", "{ from = \"18:00\", to = \"08:00\" }", "[]"),
    ("display.fit", "\"cover\"", "[display]\n", "[display]\nfit = \"cover\"\n"),
    ("call.token", "'t'", "[call]   # whom\n", "[call]   # whom\ntoken = 't'\n"),
    ("network.wifi[1].hidden", "true", "[[network.wifi]]\nssid = \"Two\"", "[[network.wifi]]\nhidden = true\nssid = \"Two\""),
    ("power.schedule.days", "[]", "{ from", "{ days = [], from"),
  ])
  func oneValueChangesAndNothingElse(key: String, literal: String, old: String, new: String) throws {
    var expected = text
    expected.replace(old, with: new, maxReplacements: 1)
    #expect(try setting(key, literal) == expected)
  }

  @Test func whatIsNotThereComesAtTheEnd() throws {
    #expect(try setting("identity.name", "\"Lobby\"") == text + "\n[identity]\nname = \"Lobby\"\n")
    #expect(try setting("network.wifi[2].ssid", "\"Three\"") == text + "\n[[network.wifi]]\nssid = \"Three\"\n")
    #expect(try setting("network.country", "\"DE\"") == text + "\n[network]\ncountry = \"DE\"\n")
    #expect(try setting("identity.name", "\"L\"", in: "") == "[identity]\nname = \"L\"\n")
    #expect(try setting("display.fit", "\"cover\"", in: "[display]") == "[display]\nfit = \"cover\"\n")
    #expect(try setting("display.fit", "1", in: "[display]\r\nrotate = 0\r\n") == "[display]\r\nfit = 1\r\nrotate = 0\r\n")
  }

  @Test(arguments: [
    ("call", "is a table"), ("network.wifi", "list of tables"), ("network.wifi[0]", "a place in a list"),
    ("network.wifi[9].ssid", "has 2 entries"),
    ("call.url.x", "is a text"), ("call.", "no name of a key"), ("a b.c", "no name of a key"), ("network.wifi[x].ssid", "no name of a key"),
    ("", "no name of a key"),
  ])
  func whatCannotBeSetIsSaid(key: String, message: String) {
    #expect { _ = try setting(key, "1") } throws: { "\($0)".contains(message) }
  }

  // MARK: Removing

  private func removing(_ key: String, from text: String? = nil) throws -> String? {
    try ConfigurationText(Array((text ?? self.text).utf8), file: "parlor.toml").removing(key).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: [
    ("call.url", "url = 'https://a/#x'   # the page\n"), ("display.rotate", "rotate = 90\n"),
    ("display.mode", "mode=\"1920x1080\" # full\n"),
    ("call.allowed_origins", "allowed_origins = [\n  \"https://b\",  # two ]\n  \"https://c\",\n]\n"),
    ("network.wifi[1].ssid", "ssid = \"Two\" # ]]\n"),
    ("power.schedule.to", ", to = \"08:00\""), ("power.schedule.from", " from = \"18:00\","),
    ("power.schedule", "schedule = { from = \"18:00\", to = \"08:00\" }\n"), ("network.wifi[0]", "[[network.wifi]]\nssid = \"One\"\n"),
    ("network.wifi[1]", "[[network.wifi]]\nssid = \"Two\" # ]]\n"), ("display", "[display]\nrotate = 90\nmode=\"1920x1080\" # full\n"),
  ])
  func oneThingGoesAndNothingElse(key: String, gone: String) throws {
    var expected = text
    expected.replace(gone, with: "", maxReplacements: 1)
    #expect(expected != text)
    #expect(try removing(key) == expected)
  }

  @Test func whatIsNotThereCannotGo() throws {
    for key in ["display.fit", "identity.name", "network.wifi[2]", "sound"] { #expect(try removing(key) == nil) }
    #expect(throws: ConfigurationText.EditFailure.self) { _ = try removing("network.wifi[9]") }
  }

  @Test func aTableGoesWithThoseInItAndWithoutTheNextOnesComments() throws {
    let text = "[network]\ncountry = \"DE\"\n\n[network.proxy]\nurl = \"http://p:1\"\n\n# sound\n[sound]\nvolume = 5\n"
    #expect(try removing("network", from: text) == "\n# sound\n[sound]\nvolume = 5\n")
    #expect(try removing("network.proxy", from: text) == "[network]\ncountry = \"DE\"\n\n\n# sound\n[sound]\nvolume = 5\n")
    #expect(try removing("sound.volume", from: "[sound]\r\nvolume = 5\r\n# end\r\n") == "[sound]\r\n# end\r\n")
  }

  @Test func whatStandsThereInAnotherWayIsNotSpoilt() {
    // The table has no header of its own.
    #expect(throws: ConfigurationText.EditFailure.self) { _ = try removing("sound", from: "sound.volume = 5\nsound.capture = \"none\"\n") }
  }

  /// Every key of the description, set in an empty file and once more, stands there as it was set and nowhere else.
  @Test func everyKeyCanBeSetAndSetAgain() throws {
    var count = 0
    for table in ConfigurationDescription.tables {
      for key in table.keys {
        let name = "\(table.path).\(key.name)".replacing("[]", with: "[0]")
        let first = try setting(name, "1", in: "")
        let again = try setting(name, "\"two\"", in: first)
        #expect(try ConfigurationText(Array(again.utf8), file: "").value(of: name) == "two", "\(again)")
        #expect(again == first.replacing("= 1\n", with: "= \"two\"\n"))
        #expect(try removing(name, from: again) == again.replacing("\(key.name) = \"two\"\n", with: ""))
        count += 1
      }
    }
    #expect(count > 100)
  }

  @Test func operatorsWordsBecomeValues() {
    func literals(_ key: String, _ word: String) -> [String] { ConfigurationDescription.key(key)?.value.literals(of: word) ?? [] }
    #expect(literals("display.rotate", "90") == ["90"] && literals("access.screenshots", "false") == ["false"])
    #expect(literals("identity.serial", "007") == ["\"007\""])
    #expect(literals("network.wifi[0].password", #"a"b\$c"#) == [#""a\"b\\$c""#])
    #expect(
      literals("call.allowed_origins", "https://a") == ["[\"https://a\"]"]
        && literals("call.allowed_origins", "['https://a']") == ["['https://a']"])
    #expect(literals("call.key", "KEY_F1") == ["\"KEY_F1\"", "KEY_F1"])
  }
}
