/// What a request is answered with: a value, or an error.
public struct Reply<Value: Encodable & Sendable>: Encodable, Sendable {
  /// The request's number.
  public var id: UInt32
  /// The outcome.
  public var result: Result<Value, ReplyError>

  /// The answer to the request `id`.
  public init(id: UInt32, result: Result<Value, ReplyError>) { (self.id, self.result) = (id, result) }

  private enum CodingKeys: String, CodingKey { case type, id, value, error }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode("reply", forKey: .type)
    try container.encode(id, forKey: .id)
    switch result {
    case .success(let value): try container.encode(value, forKey: .value)
    case .failure(let error): try container.encode(error, forKey: .error)
    }
  }
}

/// The value of an answer that has nothing to say: an empty object.
public struct NoValue: Codable, Sendable, Equatable {
  /// Nothing.
  public init() {}
}

/// Why a request failed, as the page's script makes an exception of it.
public struct ReplyError: Error, Codable, Sendable, Equatable {
  /// A `DOMException` name, `TypeError`, `RangeError`, `OverconstrainedError` or `RTCError`.
  public var name: String
  /// What was wrong, for a person.
  public var message: String
  /// The constraint that could not be met (`OverconstrainedError`).
  public var constraint: String?
  /// W3C `RTCErrorDetailType` (`RTCError`).
  public var errorDetail: String?
  /// The line of the description that could not be read (`RTCError`).
  public var sdpLineNumber: Int?

  /// An error of the given name.
  public init(
    _ name: String, _ message: String, constraint: String? = nil, errorDetail: String? = nil, sdpLineNumber: Int? = nil
  ) {
    (self.name, self.message, self.constraint) = (name, message, constraint)
    (self.errorDetail, self.sdpLineNumber) = (errorDetail, sdpLineNumber)
  }
}
