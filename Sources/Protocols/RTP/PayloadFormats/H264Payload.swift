import Bytes

/// H.264 payload structures (RFC 6184 section 5): single NAL unit, STAP-A, FU-A.
enum H264Payload {
  private static let idr: UInt8 = 5
  private static let sps: UInt8 = 7
  private static let aggregate: UInt8 = 24
  private static let fragment: UInt8 = 28

  static func descriptor(of payload: RawSpan) throws(MalformedPayload) -> PayloadDescriptor {
    var result = PayloadDescriptor()
    (result.isFrameStart, result.isKeyFrameStart, result.isFrameEnd, result.isDiscardable) = (false, false, false, true)
    let first = payload.uint8(at: 0)
    switch first & 0x1F {
    case 1...23: note(first, sliceStart: payload.byteCount > 1 ? payload.uint8(at: 1) : 0, in: &result)
    case aggregate:
      try units(of: payload) { unit in
        note(unit.uint8(at: 0), sliceStart: unit.byteCount > 1 ? unit.uint8(at: 1) : 0, in: &result)
      }
    case fragment:
      guard payload.byteCount > 2 else { throw .truncated("the fragment") }
      let header = payload.uint8(at: 1)
      result.isDiscardable = first & 0x60 == 0
      if header & 0x80 != 0 { note(first & 0x60 | header & 0x1F, sliceStart: payload.uint8(at: 2), in: &result) }
    default: throw .value("the NAL unit type \(first & 0x1F)")
    }
    return result
  }

  /// What a NAL unit, or its first fragment, says of the frame. `sliceStart` is the byte behind its header.
  private static func note(_ header: UInt8, sliceStart: UInt8, in result: inout PayloadDescriptor) {
    if header & 0x60 != 0 { result.isDiscardable = false }
    let type = header & 0x1F
    switch type {
    case 1, 2, idr:
      // first_mb_in_slice is the first field, and 0 is coded as a single set bit.
      let isFirstSlice = sliceStart & 0x80 != 0
      if isFirstSlice { result.isFrameStart = true }
      if isFirstSlice && type == idr { result.isKeyFrameStart = true }
    case 6, 8, 9: result.isFrameStart = true
    case sps: (result.isFrameStart, result.isKeyFrameStart) = (true, true)
    default: break
    }
  }

  /// Calls `body` for each NAL unit in a STAP-A payload.
  private static func units(of payload: RawSpan, _ body: (RawSpan) -> Void) throws(MalformedPayload) {
    var offset = 1
    repeat {
      guard offset + 3 <= payload.byteCount else { throw .truncated("the aggregated NAL unit") }
      let count = Int(payload.uint16(at: offset))
      offset += 2
      guard count > 0 else { throw .value("the size of an aggregated NAL unit") }
      guard count <= payload.byteCount - offset else { throw .truncated("the end of an aggregated NAL unit") }
      body(payload.extracting(offset..<offset + count))
      offset += count
    } while offset < payload.byteCount
  }

  static func append(_ payload: RawSpan, to frame: inout [UInt8], isInsideFragment: inout Bool) throws(MalformedPayload) {
    let first = payload.uint8(at: 0)
    switch first & 0x1F {
    case 1...23:
      isInsideFragment = false
      appendStartCode(to: &frame)
      frame.append(bytes: payload)
    case aggregate:
      isInsideFragment = false
      let start = frame.count
      do throws(MalformedPayload) {
        try units(of: payload) { unit in
          appendStartCode(to: &frame)
          frame.append(bytes: unit)
        }
      } catch {
        frame.removeSubrange(start...)
        throw error
      }
    case fragment:
      guard payload.byteCount > 2 else { throw .truncated("the fragment") }
      let header = payload.uint8(at: 1)
      if header & 0x80 != 0 {
        appendStartCode(to: &frame)
        frame.append(first & 0xE0 | header & 0x1F)
      } else if !isInsideFragment {
        throw .fragmentWithoutStart
      }
      isInsideFragment = header & 0x40 == 0
      frame.append(bytes: payload.extracting(2..<payload.byteCount))
    default: throw .value("the NAL unit type \(first & 0x1F)")
    }
  }

  private static func appendStartCode(to frame: inout [UInt8]) {
    frame.append(0)
    frame.append(0)
    frame.append(0)
    frame.append(1)
  }
}
