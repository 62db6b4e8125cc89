import Bytes

/// The VP8 payload descriptor (RFC 7741 section 4.2) and the start of the VP8 frame header (section 4.3).
enum VP8Payload {
  static func descriptor(of payload: RawSpan) throws(MalformedPayload) -> PayloadDescriptor {
    var result = PayloadDescriptor()
    var reader = ByteReader(payload)
    do throws(OutOfBounds) {
      let first = try reader.uint8()
      result.isDiscardable = first & 0x20 != 0
      result.partition = first & 0x07
      result.isFrameStart = first & 0x10 != 0 && result.partition == 0
      if first & 0x80 != 0 {
        let flags = try reader.uint8()
        if flags & 0x80 != 0 {
          let byte = try reader.uint8()
          result.isLongPictureIdentifier = byte & 0x80 != 0
          result.pictureIdentifier =
            byte & 0x80 != 0 ? UInt16(byte & 0x7F) << 8 | UInt16(try reader.uint8()) : UInt16(byte)
        }
        if flags & 0x40 != 0 { result.baseLayerIndex = try reader.uint8() }
        if flags & 0x30 != 0 {
          let byte = try reader.uint8()
          if flags & 0x20 != 0 {
            result.temporalIdentifier = byte >> 6
            result.isLayerSync = byte & 0x20 != 0
          }
          if flags & 0x10 != 0 { result.keyIndex = byte & 0x1F }
        }
      }
    } catch { throw .truncated("the end of the VP8 payload descriptor") }
    guard !reader.isAtEnd else { throw .truncated("the VP8 media") }
    result.mediaOffset = reader.offset
    result.isFrameEnd = false
    let media = payload.extracting(reader.offset..<payload.byteCount)
    result.isKeyFrameStart = result.isFrameStart && media.uint8(at: 0) & 1 == 0
    // RFC 6386 section 9.1: a key frame has its start code and size in bytes 3 to 9, least significant byte first.
    if result.isKeyFrameStart, media.byteCount >= 10, media.uint24(at: 3) == 0x9D_012A {
      result.width = Int(media.uint16(at: 6).byteSwapped & 0x3FFF)
      result.height = Int(media.uint16(at: 8).byteSwapped & 0x3FFF)
    }
    return result
  }
}
