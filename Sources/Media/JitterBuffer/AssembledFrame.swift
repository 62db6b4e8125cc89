import Base
import Codecs

/// A whole frame as it left the jitter buffer: ready for a decoder that was given all frames before it.
public struct AssembledFrame: Sendable {
  /// The frame; its ledger has `.receive` (the last packet's arrival) and `.assemble`.
  public var encoded: EncodedVideoFrame
  /// The RTP time stamp of its packets.
  public var timestamp: UInt32
  /// The sequence number of its first packet.
  public var firstSequenceNumber: UInt16
  /// How many packets it came in.
  public var packetCount: Int
  /// When its first packet arrived.
  public var firstArrival: Instant
}
