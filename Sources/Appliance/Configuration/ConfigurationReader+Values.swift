import Base

/// What several tables read.
extension ConfigurationReader {
  /// A secret: `key`, or the path of a file under the name `key_file`.
  func readSecret(_ key: String, in table: TableReader) -> Secret? {
    let (text, file) = (table.string(key), table.string("\(key)_file").map(absolute))
    if table.has(key), table.has("\(key)_file") {
      table.fail("\(key)_file", "\(key) is given already", accepted: ["\(key) or \(key)_file"])
    }
    return text.map(Secret.text) ?? file.map(Secret.file)
  }

  /// A text in which `${serial}`, `${mac}` and `${name}` are filled in, each as `encode` writes it; nil, and reported, when one of them is not known.
  func readExpanded(_ key: String, in table: TableReader, encode: (String) -> String) -> String? {
    guard var text = table.string(key) else { return nil }
    let names = [
      ("serial", identity.serial, "identity.serial is not given"), ("name", identity.name, "identity.name is not given"),
      ("mac", machine.hardwareAddress, "this machine has no network interface"),
    ]
    for (name, value, absence) in names where text.contains("${\(name)}") {
      guard let value else {
        table.fail(key, "uses ${\(name)}, and \(absence)")
        return nil
      }
      text = text.split(separator: "${\(name)}", omittingEmptySubsequences: false).joined(separator: encode(value))
    }
    if text.contains("${") {
      table.fail(key, "uses an unknown name", accepted: ["${serial}", "${mac}", "${name}"])
      return nil
    }
    return text
  }

  /// An `https` or `http` URL. `risk` says what happens on the way when it is `http`; nil: nothing that matters.
  func readURL(_ key: String, in table: TableReader, risk: String?) -> String? {
    guard let url = readExpanded(key, in: table, encode: ConfigurationReader.percentEncoded) else { return nil }
    guard let origin = Origin(url: url), !url.contains(" ") else {
      table.fail(key, "\"\(url)\" is no URL", accepted: table.accepted(key))
      return nil
    }
    if !origin.isSecure, let risk { table.warn(key, "everybody on the way can \(risk); use https") }
    return url
  }

  /// Everything but unreserved characters (RFC 3986 section 2.3) as `%XX`.
  static func percentEncoded(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      let character = Character(Unicode.Scalar(byte))
      if byte < 128, character.isLetter || character.isNumber || "-._~".contains(character) {
        result.append(character)
      } else {
        result += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
    }
    return result
  }

  /// A stretch of each week: `from`, `to` and `days`.
  func readPeriod(_ table: TableReader) -> WeeklyPeriod? {
    let (from, to) = (table.value("from") { DailyTime($0) }, table.value("to") { DailyTime($0) })
    let days = readDays("days", in: table)
    guard let from, let to else { return nil }
    return WeeklyPeriod(from: from, to: to, days: days)
  }

  /// Days of the week; without the key, all of them.
  func readDays(_ key: String, in table: TableReader) -> Set<Weekday> {
    guard table.has(key) else { return Set(Weekday.allCases) }
    let days = table.values(key) { Weekday(rawValue: $0) } ?? []
    if table.isEmptyList(key) { table.fail(key, "names no day", accepted: table.accepted(key)) }
    return Set(days)
  }
}
