/// Which implementation codes pictures, and why that one.
public struct CodecChoice: Sendable, Equatable {
  /// Which way.
  public enum Direction: String, Sendable, Hashable, CaseIterable { case encode, decode }

  /// What is coded.
  public var codec: VideoCodec
  /// Which way.
  public var direction: Direction
  /// The library or device, as `VideoEncoder.implementationName` says it.
  public var implementation: String
  /// Whether hardware does it.
  public var isHardware: Bool
  /// Why, in words for an operator: what the probe saw, or what went wrong with hardware.
  public var reason: String

  /// A choice from its parts.
  public init(codec: VideoCodec, direction: Direction, implementation: String, isHardware: Bool, reason: String) {
    (self.codec, self.direction, self.implementation) = (codec, direction, implementation)
    (self.isHardware, self.reason) = (isHardware, reason)
  }
}
