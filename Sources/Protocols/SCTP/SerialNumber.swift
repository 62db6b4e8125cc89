// Serial number arithmetic (RFC 1982) for TSNs and stream sequence numbers, as RFC 9260 section 1.6 asks.

extension UInt32 {
  /// Whether this serial number comes before `other`. Half the number space apart, neither does so meaningfully.
  @inline(__always) func precedes(_ other: UInt32) -> Bool { Int32(bitPattern: self &- other) < 0 }
}

extension UInt16 {
  /// Whether this serial number comes before `other`.
  @inline(__always) func precedes(_ other: UInt16) -> Bool { Int16(bitPattern: self &- other) < 0 }
}
