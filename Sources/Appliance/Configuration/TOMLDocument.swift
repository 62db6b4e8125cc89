import CTOML

/// A TOML text as a tree of values that know where they stand.
struct TOMLDocument {
  /// A line and a column, counted from 1.
  struct Position: Sendable, Hashable {
    var line: Int
    var column: Int
  }

  /// Why a text is not TOML.
  struct SyntaxError: Error, Equatable {
    var position: Position
    var message: String
  }

  /// A value and where it stands.
  struct Node {
    enum Content {
      case table([String: Node])
      case array([Node])
      case string(String)
      case integer(Int64)
      case float(Double)
      case boolean(Bool)
      case time
    }

    var content: Content
    /// Where the value begins.
    var position: Position
    /// Where its key begins; the value's own place when it has none.
    var keyPosition: Position

    /// What kind of value this is, for a message.
    var kindName: String {
      switch content {
      case .table: "a table"
      case .array: "a list"
      case .string: "a text"
      case .integer, .float: "a number"
      case .boolean: "true or false"
      case .time: "a date or time"
      }
    }
  }

  /// The table that the whole text is.
  let root: Node

  /// Parses UTF-8 text. A byte order mark and Windows line endings are fine.
  init(_ bytes: [UInt8]) throws(SyntaxError) {
    if bytes.count > 1, bytes[0] == 0 || bytes[1] == 0 {
      throw SyntaxError(position: Position(line: 1, column: 1), message: "is text in UTF-16 without a byte order mark; save it as UTF-8")
    }
    // toml11 3.7.1 mixes up two buffers when it finds a broken string by itself.
    if let offset = TOMLDocument.firstInvalidByte(in: bytes) {
      let before = bytes[..<offset]
      let lineStart = before.lastIndex(of: 10).map { $0 + 1 } ?? 0
      let position = Position(line: before.count { $0 == 10 } + 1, column: offset - lineStart + 1)
      throw SyntaxError(position: position, message: "not UTF-8")
    }
    let document = unsafe bytes.withUnsafeBytes { bytes in
      unsafe toml_document_parse(bytes.assumingMemoryBound(to: CChar.self).baseAddress, bytes.count)
    }
    guard let document else { preconditionFailure("no memory for a configuration") }
    defer { unsafe toml_document_free(document) }
    var (line, column) = (UInt32(1), UInt32(1))
    if let message = unsafe toml_document_error(document, &line, &column) {
      throw unsafe SyntaxError(position: Position(line: Int(line), column: Int(column)), message: String(cString: message))
    }
    root = unsafe TOMLDocument.tree(document)
  }

  /// Where the bytes stop being UTF-8; nil when they are all of it.
  private static func firstInvalidByte(in bytes: [UInt8]) -> Int? {
    do throws(UTF8.ValidationError) {
      _ = try UTF8Span(validating: bytes.span)
      return nil
    } catch {
      return error.byteOffsets.lowerBound
    }
  }

  /// Builds the tree from the end of the list: children follow their parents there.
  private static func tree(_ document: OpaquePointer) -> Node {
    var tables: [Int: [String: Node]] = [:]
    var arrays: [Int: [Node]] = [:]
    for index in stride(from: unsafe toml_document_count(document) - 1, through: 0, by: -1) {
      guard let raw = unsafe toml_document_node(document, index)?.pointee else { break }
      let position = Position(line: Int(raw.line), column: Int(raw.column))
      let content: Node.Content =
        switch raw.kind {
        case toml_kind_table: .table(tables.removeValue(forKey: index) ?? [:])
        case toml_kind_array: .array((arrays.removeValue(forKey: index) ?? []).reversed())
        case toml_kind_string: .string(unsafe text(raw.text, raw.text_length))
        case toml_kind_integer: .integer(raw.integer)
        case toml_kind_float: .float(raw.number)
        case toml_kind_boolean: .boolean(raw.boolean)
        default: .time
        }
      let keyPosition = Position(line: Int(raw.line), column: Int(raw.key_column))
      let node = Node(content: content, position: position, keyPosition: keyPosition)
      if raw.parent < 0 { return node }
      if unsafe toml_document_node(document, Int(raw.parent))?.pointee.kind == toml_kind_array {
        arrays[Int(raw.parent), default: []].append(node)
      } else {
        tables[Int(raw.parent), default: [:]][unsafe text(raw.key, raw.key_length)] = node
      }
    }
    preconditionFailure("a document has a root table")
  }

  private static func text(_ start: UnsafePointer<CChar>?, _ length: Int) -> String {
    unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
  }
}
