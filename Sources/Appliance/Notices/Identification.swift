import Base
import Net
import Stage

/// Who the box is, for somebody who looks for it among others.
struct Identification {
  var name: String
  var place: String?
  var serial: String?
  var version: String
  var addresses: [(interface: String, address: String)]

  /// More addresses than this do not help to find a box.
  static let addressLimit = 4

  /// The box with these interfaces; IPv4 addresses come first.
  init(name: String, place: String?, serial: String?, version: String, interfaces: [NetworkInterface]) {
    (self.name, self.place, self.serial, self.version) = (name, place, serial, version)
    let all = interfaces.flatMap { interface in interface.addresses.map { (interface.name, $0) } }
    let sorted = all.filter { $0.1.family == .v4 } + all.filter { $0.1.family != .v4 }
    addresses = sorted.prefix(Identification.addressLimit).map { ($0.0, "\($0.1)") }
  }

  /// What the screen shows.
  func notice(in language: Language) -> Notice {
    func row(_ label: Wording, _ value: String?) -> Notice.Row? {
      value.flatMap { $0.isEmpty ? nil : Notice.Row(label.text(in: language), $0) }
    }
    var rows = [row(.place, place)].compactMap { $0 }
    for (index, entry) in addresses.enumerated() {
      rows.append(Notice.Row(index == 0 ? Wording.address.text(in: language) : "", "\(entry.address) (\(entry.interface))"))
    }
    if addresses.isEmpty { rows.append(Notice.Row(Wording.address.text(in: language), Wording.noAddress.text(in: language))) }
    rows += [row(.serialNumber, serial), row(.version, version)].compactMap { $0 }
    return Notice(kind: .identify, title: name, rows: rows, code: code)
  }

  /// As JSON writes it in ASCII (RFC 8259, section 7).
  private static func escaped(_ unit: UInt16) -> String {
    if unit < 0x80, let scalar = Unicode.Scalar(unit) { return String(Character(scalar)) }
    let digits = String(unit, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
  }

  /// What the QR code says: a line of JSON with the members `addresses`, `name`, `place`, `serial` and `version`; what is not known is left out.
  var code: String {
    var members: [String: JSON] = ["name": .string(name), "version": .string(version)]
    members["addresses"] = .array(addresses.map { .string($0.address) })
    if let place { members["place"] = .string(place) }
    if let serial, !serial.isEmpty { members["serial"] = .string(serial) }
    guard let text = try? JSON.text(JSON.object(members)) else { preconditionFailure("JSON values can be written") }
    // Scanners guess how anything but ASCII is meant.
    return String(decoding: text, as: UTF8.self).utf16.map(Identification.escaped).joined()
  }
}
