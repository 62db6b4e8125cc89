import Base

/// Header fields of an HTTP message in their order. Names are compared without regard to case.
public struct HTTPHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
  /// Name and value of one field.
  public struct Field: Sendable, Equatable {
    public let name: String
    public let value: String
  }

  /// All fields.
  public private(set) var fields: [Field] = []

  /// No fields.
  public init() {}

  public init(dictionaryLiteral elements: (String, String)...) { for (name, value) in elements { add(name, value) } }

  /// Appends a field. Bytes that would end it (CR, LF, NUL) become spaces.
  public mutating func add(_ name: String, _ value: String) {
    func clean(_ text: String) -> String { String(decoding: text.utf8.map { [0, 10, 13].contains($0) ? 32 : $0 }, as: UTF8.self) }
    fields.append(Field(name: clean(name), value: clean(value)))
  }

  /// Removes all fields called `name`.
  public mutating func remove(_ name: String) { fields.removeAll { $0.name.lowercased() == name.lowercased() } }

  /// The values of all fields called `name`.
  public func all(_ name: String) -> [String] { fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value) }

  /// The value of the first field called `name`. Setting it replaces all of that name.
  public subscript(name: String) -> String? {
    get { fields.first { $0.name.lowercased() == name.lowercased() }?.value }
    set {
      remove(name)
      if let newValue { add(name, newValue) }
    }
  }

  /// The media type of the content in lower case, without parameters: `application/sdp`.
  public var mediaType: String? {
    self["Content-Type"].map { String($0.prefix { $0 != ";" }).trimmed.lowercased() }
  }
}

/// An HTTP request.
public struct HTTPRequest: Sendable {
  /// The method, in capitals.
  public var method: String
  /// What it is for.
  public var url: HTTPURL
  /// Its header fields.
  public var headers: HTTPHeaders
  /// Its content.
  public var body: [UInt8]
  /// On the server's side, where it came from.
  public var remoteAddress: SocketAddress?

  /// A request.
  public init(_ method: String, _ url: HTTPURL, headers: HTTPHeaders = [:], body: [UInt8] = []) {
    (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
  }
}

/// An HTTP response.
public struct HTTPResponse: Sendable {
  /// The status code.
  public var status: Int
  /// Its header fields.
  public var headers: HTTPHeaders
  /// Its content.
  public var body: [UInt8]
  /// On the client's side, the URL that answered, after redirects.
  public var url: HTTPURL?

  /// A response.
  public init(_ status: Int, headers: HTTPHeaders = [:], body: [UInt8] = [], url: HTTPURL? = nil) {
    (self.status, self.headers, self.body, self.url) = (status, headers, body, url)
  }
}

extension String {
  /// The text without spaces and tabs at its ends.
  var trimmed: String {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    return String(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
  }
}
