/// What NetworkManager and wpa_supplicant have written down, read for why an interface did not get into a network.
struct ConnectionLog: Sendable {
  /// The last reason that was told of an interface since it last had a network.
  private(set) var troubles: [String: ConnectionTrouble] = [:]
  private let wired: Set<String>

  /// Reads a log, oldest line first, without the times in front. `wired` are interfaces that are no Wi-Fi.
  init(_ lines: some Sequence<Substring>, wired: Set<String> = []) {
    self.wired = wired
    for line in lines { take(line) }
  }

  private mutating func take(_ line: Substring) {
    if let device = ConnectionLog.text(in: line, from: "device (", to: ")"), line.contains("state change: ") {
      takeState(String(device), line)
    } else if let colon = line.firstIndex(of: ":"), !line[..<colon].contains(" ") {
      takeEvent(String(line[..<colon]), line[line.index(after: colon)...].drop { $0 == " " })
    }
  }

  // MARK: NetworkManager

  private mutating func takeState(_ device: String, _ line: Substring) {
    if line.contains("-> activated ") {
      troubles[device] = nil
    } else if line.contains("-> failed ") {
      switch ConnectionLog.text(in: line, from: "reason '", to: "'") {
      case "ssid-not-found": troubles[device] = ConnectionTrouble(.notFound, "the network is not in reach")
      case "ip-config-unavailable", "ip-config-expired":
        troubles[device] = ConnectionTrouble(.address, "the network gives no address: does a DHCP server answer?")
      // Which of the two it was, the supplicant has said before.
      case "no-secrets", "supplicant-disconnect", "supplicant-failed", "supplicant-timeout", "supplicant-config-failed":
        if troubles[device] == nil { set(ConnectionTrouble(.failed, "the network ended the attempt to join it"), device) }
      case let reason?: set(ConnectionTrouble(.failed, "the attempt to join the network failed: \(reason)"), device)
      case nil: break
      }
    }
  }

  // MARK: wpa_supplicant

  private mutating func takeEvent(_ device: String, _ text: Substring) {
    if text.hasPrefix("CTRL-EVENT-CONNECTED ") {
      troubles[device] = nil
    } else if text.hasPrefix("CTRL-EVENT-SSID-TEMP-DISABLED "), text.contains("reason=WRONG_KEY") {
      let name = ConnectionLog.text(in: text, from: "ssid=\"", to: "\" auth_failures").map(ConnectionLog.decoded) ?? ""
      troubles[device] = ConnectionTrouble(.password, "\"\(name)\" does not take the password")
    } else if text.hasPrefix("CTRL-EVENT-EAP-TLS-CERT-ERROR ") {
      let error = ConnectionLog.text(in: text, from: "err='", to: "'") ?? ""
      set(ConnectionTrouble(.login, "the network's server is not trusted: \(error)"), device)
    } else if text.hasPrefix("CTRL-EVENT-EAP-FAILURE"), troubles[device]?.reason.contains("not trusted") != true {
      set(ConnectionTrouble(.login, "the network's server does not let the box in: is what the box says of itself right?"), device)
    }
  }

  private mutating func set(_ trouble: ConnectionTrouble, _ device: String) {
    troubles[device] = wired.contains(device) ? ConnectionTrouble(.cableLogin, trouble.reason) : trouble
  }

  // MARK: Texts

  private static func text(in line: Substring, from start: String, to end: String) -> Substring? {
    guard let first = line.firstRange(of: start) else { return nil }
    let rest = line[first.upperBound...]
    return rest.firstRange(of: end).map { rest[..<$0.lowerBound] }
  }

  /// A network's name, of which the supplicant writes bytes that are not printable as `\xc3`, and some others with a backslash.
  private static func decoded(_ text: Substring) -> String {
    var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else {
        bytes.append(byte)
        continue
      }
      switch next {
      case UInt8(ascii: "x"):
        bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? UInt8(ascii: "?"))
        rest = rest.dropFirst(2)
      case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"), UInt8(ascii: "e"): bytes.append(UInt8(ascii: " "))
      default: bytes.append(next)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension Substring {
  /// The first place where `text` stands.
  fileprivate func firstRange(of text: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      let rest = self[start...]
      if rest.hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
      start = index(after: start)
    }
    return nil
  }
}
