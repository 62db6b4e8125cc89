/// A camera that is plugged in.
public struct CameraDescription: Sendable, Hashable {
  /// Its device node, which changes when devices are plugged in in another order.
  public var path: String
  /// What the maker calls it.
  public var label: String
  /// The kernel driver's name.
  public var driver: String
  /// Where it is plugged in, as the driver names it. Nodes of one device share it.
  public var bus: String
  /// Its name in `/dev/v4l/by-id`, by maker and serial number; nil: it has none.
  public var identifier: String?
  /// Its name in `/dev/v4l/by-path`, by where it is plugged in; nil: it has none.
  public var place: String?

  /// A camera.
  public init(path: String, label: String, driver: String = "", bus: String = "", identifier: String? = nil, place: String? = nil) {
    (self.path, self.label, self.driver, self.bus, self.identifier, self.place) = (path, label, driver, bus, identifier, place)
  }

  /// The name that stays longest: by serial number, else by place, else by node.
  public var stableName: String { identifier ?? place ?? path }

  /// Whether `name` means this camera: a stable name with or without its folder, a node, or a part of the label in any case of letters.
  public func isCalled(_ name: String) -> Bool {
    let last = name.split(separator: "/").last.map(String.init) ?? name
    if name == path || "/dev/\(name)" == path { return true }
    if [identifier, place].contains(where: { $0 == last }) { return true }
    return !name.isEmpty && label.lowercased().contains(name.lowercased())
  }
}
