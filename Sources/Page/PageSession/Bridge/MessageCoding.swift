import BridgeMessages
import FoundationEssentials

/// The JSON form of control messages.
enum MessageCoding {
  /// Reads a message; says which member is wrong when it is none.
  static func decode<Message: Decodable>(_ type: Message.Type, from bytes: [UInt8]) throws(MessageError) -> Message {
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch let error as DecodingError {
      throw MessageError(error)
    } catch {
      throw MessageError(member: "", reason: "cannot be read")
    }
  }

  /// The text of RFC 4648 section 4.
  static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

  /// Writes any value.
  static func encode(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    // Numbers that JSON does not have come from nowhere; should one come, the rest of its message still arrives.
    encoder.nonConformingFloatEncodingStrategy = .convertToString(positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    do {
      return Array(try encoder.encode(value))
    } catch {
      preconditionFailure("a message of the bridge can always be written: \(error)")
    }
  }
}
