import FoundationEssentials
import Stage
import Testing

@testable import Appliance

@Suite struct NoticesConfigurationTests {
  private let folder = TemporaryFolder()

  private func configuration(_ text: String) throws(ConfigurationError) -> Configuration {
    try Configuration.load(path: folder.write("[call]\nwhip = \"https://a/\"\n[notices]\n\(text)\n", to: "parlor.toml"))
  }

  private func problems(_ text: String) -> [String] {
    do throws(ConfigurationError) {
      return try configuration(text).warnings.map(\.description)
    } catch {
      return error.problems.map { $0.description.replacing(folder.path + "/", with: "") }
    }
  }

  private func writePNG(_ name: String, width: Int, height: Int) throws {
    try Data(Stage(width: width, height: height).screenshot()).write(to: URL(fileURLWithPath: "\(folder.path)/\(name)"))
  }

  @Test func everythingIsReadFromTheFilesFolder() throws {
    try writePNG("logo.png", width: 30, height: 20)
    try writePNG("idle.png", width: 64, height: 36)
    let notices = try configuration("language = \"de\"\nlogo = \"logo.png\"\nidle = \"idle.png\"\ncamera_mark = false").notices
    #expect(notices.language == .german && !notices.marksCamera)
    #expect(notices.theme.logo?.width == 30 && notices.idle?.height == 36)
  }

  @Test func withoutATableThereAreDefaults() throws {
    let notices = try configuration("").notices
    #expect(notices == Configuration.Notices() && notices.language == .english && notices.marksCamera && notices.idle == nil)
  }

  @Test func brokenPicturesAreNamed() throws {
    _ = folder.write("GIF89a and so on, long enough to be looked at by anybody", to: "logo.png")
    #expect(
      problems("logo = \"gone.png\"").first?.hasPrefix("parlor.toml:4:8: notices.logo: gone.png cannot be read: No such file") == true)
    #expect(problems("logo = \"logo.png\"").first?.contains("notices.logo: logo.png is no PNG file") == true)
    try writePNG("wide.png", width: 2_049, height: 1)
    #expect(problems("logo = \"wide.png\"").first?.contains("is too large: 2049x1 pixels; accepted: at most 2048x2048") == true)
    #expect(problems("idle = \"wide.png\"").isEmpty)
    try writePNG("cut.png", width: 64, height: 64)
    _ = try Data(folder.read("cut.png").dropLast(30)).write(to: URL(fileURLWithPath: "\(folder.path)/cut.png"))
    #expect(problems("idle = \"cut.png\"").first?.contains("notices.idle: cut.png is damaged: ") == true)
  }

  @Test func otherLanguagesAreRefused() {
    #expect(problems("language = \"fr\"").first?.contains("\"fr\" is not accepted; accepted: \"en\", \"de\"") == true)
  }

  @Test func coloursThatCannotBeReadAreWarnedOf() {
    #expect(problems("foreground = \"#808080\"\nbackground = \"#707070\"").first?.contains("notices.foreground: is hard to read") == true)
    #expect(problems("background = \"#eeeeee\"").first?.contains("notices.background: is hard to read") == true)
    #expect(problems("foreground = \"#000000\"\nbackground = \"#ffffff\"").isEmpty)
  }
}
