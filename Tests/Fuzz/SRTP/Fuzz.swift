import SRTP

/// A context that an array can hold.
private final class Holder {
  var context: Context

  /// The keys never change, so that the packets of the corpus authenticate.
  init(_ profile: Profile, _ direction: Direction) {
    context = try! Context(
      profile: profile, key: Array(0..<UInt8(profile.keyCount)), salt: Array(0xA0..<0xA0 + UInt8(profile.saltCount)), direction: direction)
  }
}

/// The first byte chooses profile and operation; the rest is one packet, protected or read twice by a fresh context.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
  guard size > 0 else { return 0 }
  let choice = Int(data[0])
  let isOutbound = choice & 1 == 1
  let isRTCP = choice & 2 == 2
  let count = size - 1
  let holder = Holder(Profile.allCases[choice / 4 % 3], isOutbound ? .outbound : .inbound)
  for _ in 0..<2 {
    var packet = [UInt8](UnsafeBufferPointer(start: data + 1, count: count))
    if isOutbound { packet += [UInt8](repeating: 0, count: Context.maximumTrailer) }
    var elements = packet.mutableSpan
    var bytes = elements.mutableBytes
    let result =
      switch (isOutbound, isRTCP) {
      case (true, false): try? holder.context.protect(&bytes, count: count)
      case (true, true): try? holder.context.protectRTCP(&bytes, count: count)
      case (false, false): try? holder.context.unprotect(&bytes, count: count)
      case (false, true): try? holder.context.unprotectRTCP(&bytes, count: count)
      }
    precondition((0...packet.count).contains(result ?? 0), "a packet stays inside its span")
  }
  return 0
}
