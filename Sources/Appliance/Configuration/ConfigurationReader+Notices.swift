import Stage

extension ConfigurationReader {
  /// A logo is never drawn larger than a part of a screen; an idle picture may fill one.
  private static let (logoLimit, idleLimit) = (2_048, 4_096)

  func readNotices() -> Configuration.Notices {
    var notices = Configuration.Notices()
    guard let table = root.table("notices") else { return notices }
    notices.language = table.word("language", as: Language.self) ?? notices.language
    notices.theme.foreground = table.value("foreground") { Color($0) } ?? notices.theme.foreground
    notices.theme.background = table.value("background") { Color($0) } ?? notices.theme.background
    let contrast = notices.theme.contrast
    if contrast < 3 {
      table.warn(
        table.has("foreground") ? "foreground" : "background",
        "is hard to read: the contrast of foreground and background is \((contrast * 10).rounded() / 10) to 1, and should be 3 to 1 or more"
      )
    }
    notices.theme.logo = readArtwork("logo", in: table, maximumSide: ConfigurationReader.logoLimit)
    notices.idle = readArtwork("idle", in: table, maximumSide: ConfigurationReader.idleLimit)
    notices.marksCamera = table.boolean("camera_mark") ?? notices.marksCamera
    table.finish()
    return notices
  }

  private func readArtwork(_ key: String, in table: TableReader, maximumSide: Int) -> Artwork? {
    guard let path = table.string(key).map(absolute) else { return nil }
    do throws(Artwork.Failure) {
      return try Artwork(path: path, maximumSide: maximumSide)
    } catch {
      table.fail(key, "\(path) \(error)", accepted: ["the path of a PNG file, at most \(maximumSide) pixels wide and high"])
      return nil
    }
  }
}
