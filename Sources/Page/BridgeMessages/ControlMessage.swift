/// A control message of the bridge: a JSON object whose `type` says which it is. BRIDGE.md lists them; the properties bear the names of the object's members.
public protocol ControlMessage: Codable, Sendable, Equatable {
  /// The value of `type`.
  static var type: String { get }
}

/// A control message whose sender waits for an answer with the same `id`.
public protocol Request: ControlMessage {
  /// The request's number; the answer bears it too.
  var id: UInt32 { get }
}

/// A message together with its `type`, as it stands in the JSON text.
public struct Typed<Message: ControlMessage>: Encodable {
  /// The message.
  public var message: Message

  /// `message`, to be written with its type.
  public init(_ message: Message) { self.message = message }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Envelope.CodingKeys.self)
    try container.encode(Message.type, forKey: .type)
    try message.encode(to: encoder)
  }
}

/// What every control message has: its type, and a number when it is a request.
public struct Envelope: Decodable, Sendable {
  /// Which message it is.
  public var type: String
  /// The request's number; nil for a message that nobody answers.
  public var id: UInt32?

  enum CodingKeys: String, CodingKey { case type, id }
}

/// A value that is written as `null` when there is none, where the page tells `null` from a missing member.
@propertyWrapper
public struct ExplicitNull<Value: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
  /// The value, nil for `null`.
  public var wrappedValue: Value?

  /// Wraps a value.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
  }
}
