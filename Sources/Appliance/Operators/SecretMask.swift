import FoundationEssentials

/// Takes secrets out of what leaves the box: as they are, and in the forms in which programs write them down.
struct SecretMask: Sendable {
  /// What stands in a secret's place.
  static let replacement = Array("(removed)".utf8)
  /// Shorter ones stand in too many other words.
  static let shortest = 4

  /// The forms by their first four bytes, the longest first: one may be a part of another.
  private var forms: [UInt32: [[UInt8]]] = [:]
  /// Whether a form begins with two bytes: few do, and most places are done with after a look here.
  private var beginnings = [Bool](repeating: false, count: 65_536)

  /// A mask for these secrets.
  init(_ secrets: some Sequence<String>) {
    let all = Set(secrets.map { Array($0.utf8) }.filter { $0.count >= SecretMask.shortest })
    for form in Set(all.flatMap(SecretMask.forms)) {
      forms[SecretMask.key(form, 0), default: []].append(form)
      beginnings[Int(form[0]) << 8 | Int(form[1])] = true
    }
    for key in forms.keys { forms[key]?.sort { $0.count > $1.count } }
  }

  private static func key(_ bytes: [UInt8], _ start: Int) -> UInt32 {
    UInt32(bytes[start]) << 24 | UInt32(bytes[start + 1]) << 16 | UInt32(bytes[start + 2]) << 8 | UInt32(bytes[start + 3])
  }

  /// The bytes without the secrets, and without any password in an address, which may be of a configuration that was never used.
  func masking(_ bytes: [UInt8]) -> [UInt8] { SecretMask.maskingAddresses(maskingForms(bytes)) }

  private static func maskingAddresses(_ bytes: [UInt8]) -> [UInt8] {
    var (result, start, index): ([UInt8], Int, Int) = ([], 0, 0)
    while index + 3 < bytes.count {
      guard bytes[index] == UInt8(ascii: ":"), bytes[index + 1] == UInt8(ascii: "/"), bytes[index + 2] == UInt8(ascii: "/") else {
        index += 1
        continue
      }
      index += 3
      // NAME:PASSWORD@ up to where an address's server ends, which is not far.
      let server = bytes[index...].prefix(1_000).prefix { $0 > 32 && !"/\"'<>".utf8.contains($0) }
      guard let end = server.lastIndex(of: UInt8(ascii: "@")), let colon = server[..<end].firstIndex(of: UInt8(ascii: ":")) else {
        continue
      }
      result += bytes[start...colon]
      result += replacement
      (start, index) = (end, end)
    }
    return start == 0 ? bytes : result + bytes[start...]
  }

  private func maskingForms(_ bytes: [UInt8]) -> [UInt8] {
    if forms.isEmpty { return bytes }
    var (result, start, index): ([UInt8], Int, Int) = ([], 0, 0)
    while index + SecretMask.shortest <= bytes.count {
      if beginnings[Int(bytes[index]) << 8 | Int(bytes[index + 1])],
        let form = forms[SecretMask.key(bytes, index)]?.first(where: { bytes[index...].starts(with: $0) })
      {
        result += bytes[start..<index]
        result += SecretMask.replacement
        index += form.count
        start = index
      } else {
        index += 1
      }
    }
    return start == 0 ? bytes : result + bytes[start...]
  }

  // MARK: Forms

  private static func forms(_ secret: [UInt8]) -> [[UInt8]] {
    var forms = [secret] + percentEncodings(secret) + base64(secret) + escapes(secret)
    for digits in ["0123456789abcdef", "0123456789ABCDEF"] {
      let digits = Array(digits.utf8)
      forms.append(secret.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
    return forms.filter { $0.count >= shortest }
  }

  /// As it stands in addresses and in forms, whatever a program leaves as it is there.
  private static func percentEncodings(_ secret: [UInt8]) -> [[UInt8]] {
    func encoded(_ digits: String, keeping kept: String, space: String) -> [UInt8] {
      let (digits, kept) = (Array(digits.utf8), Set(kept.utf8))
      return secret.flatMap { byte -> [UInt8] in
        let isPlain =
          UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
          || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
        if isPlain || kept.contains(byte) { return [byte] }
        if byte == UInt8(ascii: " "), !space.isEmpty { return Array(space.utf8) }
        return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return ["0123456789ABCDEF", "0123456789abcdef"].flatMap { digits in
      ["-._~", "-._~!$&'()*+,;=", "-_.!~*'()", "*-._", "!$&'()*+,-./:;=?@_~", ""].flatMap { kept in
        ["", "+"].map { encoded(digits, keeping: kept, space: $0) }
      }
    }
  }

  /// What is certain of it in base64, wherever in the encoded bytes it begins.
  private static func base64(_ secret: [UInt8]) -> [[UInt8]] {
    (0..<3).flatMap { offset -> [[UInt8]] in
      let text = Array(Data([UInt8](repeating: 0, count: offset) + secret).base64EncodedString().utf8)
      let certain = Array(text[(offset * 8 + 5) / 6..<(offset + secret.count) * 8 / 6])
      let address = certain.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 }
      return [certain, address]
    }
  }

  /// As it stands in JSON and TOML, in a shell's quotes, in XML and in systemd's logs of command lines.
  private static func escapes(_ secret: [UInt8]) -> [[UInt8]] {
    func escaped(_ table: [UInt8: String]) -> [UInt8] { secret.flatMap { table[$0].map { Array($0.utf8) } ?? [$0] } }
    let json: [UInt8: String] = [UInt8(ascii: "\""): "\\\"", UInt8(ascii: "\\"): "\\\\"]
    let markup: [UInt8: String] = [
      UInt8(ascii: "&"): "&amp;", UInt8(ascii: "<"): "&lt;", UInt8(ascii: ">"): "&gt;", UInt8(ascii: "\""): "&quot;",
      UInt8(ascii: "'"): "&#39;",
    ]
    return [
      escaped(json), escaped(json.merging([UInt8(ascii: "/"): "\\/"]) { $1 }), escaped(markup), escaped([UInt8(ascii: "'"): "'\\''"]),
      escaped([UInt8(ascii: "$"): "$$"]), escaped([UInt8(ascii: "\\"): "\\\\"]),
    ]
  }
}

extension ConfigurationSet {
  /// Everything in it that only the box may know: what keys say, what secret files hold, and passwords in addresses.
  var secretValues: [String] {
    guard let text = try? ConfigurationText(text, file: ConfigurationSet.mainFile) else { return [] }
    var values = text.secretValues
    let names = text.files.filter(\.isSecret).map(\.path) + [ConfigurationSet.wifiFile, ProvisioningKey.file]
    for name in names {
      for line in String(decoding: files[name] ?? [], as: UTF8.self).split(whereSeparator: \.isNewline) {
        // Of NetworkManager's files only what protects something, as psk=… and password=…; of others every line but the frame of a PEM file.
        if name == ConfigurationSet.wifiFile {
          let parts = line.split(separator: "=", maxSplits: 1)
          let isSecret = parts.count == 2 && ["psk", "password", "key", "pin", "secret"].contains { parts[0].lowercased().contains($0) }
          if isSecret, parts[0] != "key-mgmt" { values.append(String(parts[1])) }
        } else if !line.hasPrefix("-----") {
          values.append(String(line))
        }
      }
    }
    return values + ConfigurationSet.passwords(in: text.bytes)
  }

  /// What stands between a colon and an at sign in addresses.
  private static func passwords(in bytes: [UInt8]) -> [String] {
    let text = String(decoding: bytes, as: UTF8.self)
    return text.split(whereSeparator: { "\"' \t\r\n,".contains($0) }).compactMap { word in
      guard let scheme = word.firstRange(of: "://"), let end = word[scheme.upperBound...].prefix(while: { $0 != "/" }).lastIndex(of: "@")
      else {
        return nil
      }
      return word[scheme.upperBound..<end].split(separator: ":", maxSplits: 1).dropFirst().first.map(String.init)
    }
  }
}
