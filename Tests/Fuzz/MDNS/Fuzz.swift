import Base
import Bytes
import MDNS

/// Datagrams for an agent that asks for one name and answers for another. Each begins with two bytes: its length, and what is to happen before it:
/// bit 0: it comes from another port than 5353, bits 1 to 3: seconds that pass.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
  var reader = ByteReader(UnsafeRawBufferPointer(start: data, count: size).bytes)
  var agent = Agent()
  var random = RandomSource(seed: 1)
  var now = Instant.zero
  let own = agent.register(IPAddress(v4: 0xC000_0201), using: &random, now: now)
  agent.resolve("a.local", timeout: .seconds(20), now: now)
  while let length = try? reader.uint8(), let control = try? reader.uint8() {
    guard let datagram = try? reader.span(min(Int(length), reader.remaining)) else { break }
    if let message = try? Message(parsing: datagram) {
      // What was read can be written, and reads the same again.
      let bytes = message.encoded()
      guard var again = try? Message(parsing: bytes.span.bytes) else { fatalError("a message that was written cannot be read") }
      again.code = message.code
      precondition(again == message, "a message changed by being written")
    }
    agent.receive(datagram, from: SocketAddress(IPAddress(v4: 0xC000_0202), control & 1 == 0 ? 5353 : 40_000), now: now)
    now += .seconds(Int64(control >> 1 & 7))
    agent.handleTimeout(now: now)
    while agent.pollTransmit() != nil {}
    while agent.pollEvent() != nil {}
    agent.resolve("a.local", timeout: .seconds(20), now: now)
  }
  agent.unregister(own)
  return 0
}
