import Bytes
import CReference
import RTP

/// RTP packets of one size that lie one behind another, as both sides of a comparison see them.
final class PacketSamples {
  /// Bytes from one packet to the next: room for an authentication tag behind each.
  static let stride = 1_280

  let length: Int
  let count: Int
  let bytes: UnsafeMutableRawBufferPointer
  /// Identifiers of the header extensions in them.
  static let map: HeaderExtensionMap = {
    var map = HeaderExtensionMap()
    map.set(.absoluteSendTime, identifier: 2)
    map.set(.transportSequenceNumber, identifier: 3)
    map.set(.mid, identifier: 4)
    return map
  }()
  /// The same identifiers for the reference.
  static let referenceMap = reference_extensions(absolute_send_time: 2, transport_sequence_number: 3, mid: 4, audio_level: 0)
  /// The media identification in them.
  static let mid = "1"

  /// `count` packets of `length` bytes with send time, transport-wide sequence number and media identification.
  init(count: Int = 64, length: Int = 1_200) {
    (self.count, self.length) = (count, length)
    bytes = .allocate(byteCount: count * PacketSamples.stride, alignment: 64)
    for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index &* 31) }
    for index in 0..<count {
      var extensions = HeaderExtensions()
      extensions.absoluteSendTime = UInt32(index) * 1_000
      extensions.transportSequenceNumber = UInt16(index)
      extensions.mid = PacketSamples.mid
      let header = Header(payloadType: 96, sequenceNumber: UInt16(index), timestamp: UInt32(index / 8) * 3_000, ssrc: 0x1234_5678)
      let bytes = packet(index)
      var packet = bytes.mutableBytes
      let written = try? header.write(extensions, map: PacketSamples.map, into: &packet)
      precondition(written != nil, "a header fits its packet")
    }
  }

  deinit { bytes.deallocate() }

  /// The packet and the room behind it.
  func memory(_ index: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: bytes.baseAddress.map { $0 + index * PacketSamples.stride }, count: PacketSamples.stride)
  }

  /// The packet alone.
  func packet(_ index: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: bytes.baseAddress.map { $0 + index * PacketSamples.stride }, count: length)
  }

  var reference: reference_packets {
    reference_packets(
      bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), stride: PacketSamples.stride, length: length, count: Int32(count))
  }
}
