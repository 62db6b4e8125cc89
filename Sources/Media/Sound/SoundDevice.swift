/// One direction of a sound card that is there.
public struct SoundDevice: Sendable, Equatable {
  /// How the device is attached, best first for whoever takes any.
  public enum Attachment: Int, Sendable, Comparable {
    case usb
    /// The machine's own sockets, microphones and loudspeakers.
    case builtIn
    /// A monitor that takes sound.
    case monitor
    /// A socket for a monitor that takes sound, without one.
    case emptySocket

    public static func < (a: Attachment, b: Attachment) -> Bool { a.rawValue < b.rawValue }
  }

  /// What names the device in a `SoundSelection`: the card's identifier in `/proc/asound/cards`, with the number of the device behind a
  /// comma if it is not the card's first. It stays when cards are numbered anew.
  public var identifier: String
  /// What ALSA calls it.
  public var name: String
  /// What people call it.
  public var label: String
  public var direction: SoundDirection
  public var attachment: Attachment
  /// The card's number, which is another one after the next start.
  public var cardNumber: Int
  /// When the card came, in nanoseconds of some clock: greater is newer.
  public var arrival: Int64

  /// A device.
  public init(
    identifier: String, name: String, label: String, direction: SoundDirection, attachment: Attachment, cardNumber: Int, arrival: Int64
  ) {
    (self.identifier, self.name, self.label, self.direction) = (identifier, name, label, direction)
    (self.attachment, self.cardNumber, self.arrival) = (attachment, cardNumber, arrival)
  }
}

extension SoundSelection {
  /// The devices that it may mean, best first; all are given where they go the same way as sound should.
  public func candidates(among devices: [SoundDevice]) -> [SoundDevice] {
    switch self {
    case .any:
      devices.sorted { a, b in
        if a.attachment != b.attachment { return a.attachment < b.attachment }
        if a.cardNumber == b.cardNumber { return a.name < b.name }
        // Of what can be plugged in, the newest was meant; what is built in came in an order of its own.
        return a.attachment == .usb && a.arrival != b.arrival ? a.arrival > b.arrival : a.cardNumber < b.cardNumber
      }
    case .standard: []
    case .named(let name):
      // The first one's number may be said, too.
      devices.filter { $0.identifier == name || $0.name == "hw:CARD=" + name.split(separator: ",").joined(separator: ",DEV=") }
    }
  }
}
