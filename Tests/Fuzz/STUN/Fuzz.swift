import Bytes
import STUN

/// Reads any bytes as a STUN message and looks at everything in it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
  let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
  _ = Message.isSTUN(bytes.span.bytes)
  guard let message = try? Message(bytes.span.bytes) else { return 0 }
  for type: AttributeType in [
    .username, .errorCode, .xorMappedAddress, .mappedAddress, .alternateServer, .data, .nonce, .lifetime, .iceControlled,
  ] {
    _ = message.attribute(type)?.byteCount
    _ = message.uint32(type)
    _ = message.uint64(type)
    _ = message.text(type)
    _ = message.xorAddress(type)
    _ = message.xorAddresses(type)
    _ = message.address(type)
  }
  _ = message.errorCode
  _ = message.unknownAttributes(known: [.username])
  _ = message.hasValidIntegrity(key: [1, 2, 3])
  _ = message.hasValidIntegritySHA256(key: [1, 2, 3])
  _ = message.isFingerprintValid
  var credential = LongTermCredential(username: "user", password: "secret")
  _ = credential.learn(from: message)
  _ = credential.verifies(message)
  var builder = MessageBuilder(.request, .allocate, transactionID: message.transactionID)
  credential.sign(&builder)
  guard let written = try? Message(builder.bytes.span.bytes) else { fatalError("a message that was built cannot be read") }
  precondition(!credential.isChallenged || credential.verifies(written), "a message that was signed does not verify")
  return 0
}
