import Bytes
import Testing

@testable import RTP

func describe(_ payload: [UInt8], _ format: PayloadFormat) throws -> PayloadDescriptor {
  var depacketizer = Depacketizer(format: format)
  return try depacketizer.descriptor(of: payload.span.bytes)
}

/// What is said of `payload` when it is described, or appended to a frame that holds `after` already.
func payloadError(_ payload: [UInt8], _ format: PayloadFormat, appended: Bool = false, after: [[UInt8]] = []) -> MalformedPayload? {
  var depacketizer = Depacketizer(format: format)
  var frame: [UInt8] = []
  do throws(MalformedPayload) {
    for earlier in after { try depacketizer.append(earlier.span.bytes, to: &frame) }
  } catch { return error }
  let before = frame
  do throws(MalformedPayload) {
    if appended { try depacketizer.append(payload.span.bytes, to: &frame) } else { _ = try depacketizer.descriptor(of: payload.span.bytes) }
    return nil
  } catch {
    #expect(frame == before)
    return error
  }
}

@Suite struct DepacketizerTests {
  private let h264 = PayloadFormat.h264(packetizationMode: 1)

  @Test func aVP8DescriptorTellsAllItHas() throws {
    // X N S, I L T K, 15-bit picture identifier, TL0PICIDX, TID 2 with Y, KEYIDX 5; then a key frame of 640 by 360.
    let payload: [UInt8] = [0xB0, 0xF0, 0x81, 0x23, 0x77, 0xA5, 0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0x68, 0x01, 9]
    let descriptor = try describe(payload, .vp8)
    #expect(descriptor.mediaOffset == 6)
    #expect(descriptor.isFrameStart && descriptor.isKeyFrameStart && !descriptor.isFrameEnd && descriptor.isDiscardable)
    #expect(descriptor.pictureIdentifier == 0x0123 && descriptor.isLongPictureIdentifier)
    #expect(descriptor.baseLayerIndex == 0x77)
    #expect(descriptor.temporalIdentifier == 2 && descriptor.isLayerSync && descriptor.keyIndex == 5)
    #expect(descriptor.width == 640 && descriptor.height == 360)
    #expect(try joined([payload], .vp8) == Array(payload[6...]))
  }

  @Test func aShortVP8DescriptorIsUnderstoodToo() throws {
    #expect(try describe([0x10, 1], .vp8).isFrameStart)
    #expect(try !describe([0x10, 1], .vp8).isKeyFrameStart)
    #expect(try describe([0x10, 0], .vp8).isKeyFrameStart)
    #expect(try !describe([0x00, 0], .vp8).isFrameStart)
    #expect(try !describe([0x11, 0], .vp8).isFrameStart)
    let short = try describe([0x90, 0x80, 0x55, 1], .vp8)
    #expect(short.pictureIdentifier == 0x55 && !short.isLongPictureIdentifier && short.mediaOffset == 3)
  }

  @Test func everyTruncationOfAVP8DescriptorIsRefused() {
    let payload: [UInt8] = [0xB0, 0xF0, 0x81, 0x23, 0x77, 0xA5]
    for count in 1...payload.count {
      #expect(payloadError(Array(payload.prefix(count)), .vp8) != nil)
      #expect(payloadError(Array(payload.prefix(count)), .vp8, appended: true) != nil)
    }
    #expect(payloadError([], .vp8) == .truncated("its first byte"))
    #expect(payloadError([], .opus, appended: true) == .truncated("its first byte"))
    #expect(payloadError(payload, .vp8) == .truncated("the VP8 media"))
  }

  @Test func h264PayloadsTellWhereAFrameMayBegin() throws {
    let idr = try describe([0x65, 0x88, 1], h264)
    #expect(idr.isFrameStart && idr.isKeyFrameStart && !idr.isDiscardable)
    let secondSlice = try describe([0x65, 0x40, 1], h264)
    #expect(!secondSlice.isFrameStart && !secondSlice.isKeyFrameStart)
    let sps = try describe([0x67, 0x42], h264)
    #expect(sps.isFrameStart && sps.isKeyFrameStart)
    let delta = try describe([0x41, 0x9A], h264)
    #expect(delta.isFrameStart && !delta.isKeyFrameStart)
    #expect(try describe([0x01, 0x9A], h264).isDiscardable)
    #expect(try describe([0x7C, 0x85, 0x88], h264).isKeyFrameStart)
    #expect(try !describe([0x7C, 0x05, 0x88], h264).isFrameStart)
    #expect(try describe([0x78, 0, 2, 0x67, 1, 0, 1, 0x68], h264).isKeyFrameStart)
    #expect(try !describe([0x78, 0, 1, 0x68, 0, 2, 0x41, 0x88], h264).isKeyFrameStart)
  }

  @Test func malformedH264IsRefusedAndTheFrameKept() {
    for isAppended in [false, true] {
      #expect(payloadError([0x7D, 1, 2], h264, appended: isAppended) == .value("the NAL unit type 29"))
      #expect(payloadError([0x60, 1, 2], h264, appended: isAppended) == .value("the NAL unit type 0"))
      #expect(payloadError([0x7C, 0x85], h264, appended: isAppended) == .truncated("the fragment"))
      #expect(payloadError([0x78], h264, appended: isAppended) == .truncated("the aggregated NAL unit"))
      #expect(payloadError([0x78, 0, 0, 9], h264, appended: isAppended) == .value("the size of an aggregated NAL unit"))
      #expect(payloadError([0x78, 0, 1, 0x67, 0, 9, 1], h264, appended: isAppended) == .truncated("the end of an aggregated NAL unit"))
    }
    #expect(payloadError([0x7C, 0x05, 1], h264, appended: true) == .fragmentWithoutStart)
    #expect(payloadError([0x7C, 0x05, 1], h264, appended: true, after: [[0x7C, 0x85, 1], [0x67, 1]]) == .fragmentWithoutStart)
    #expect(payloadError([0x7C, 0x45, 1], h264, appended: true, after: [[0x7C, 0x85, 1]]) == nil)
  }

  @Test func aNewFrameForgetsTheFragmentBefore() throws {
    var depacketizer = Depacketizer(format: h264)
    var frame: [UInt8] = []
    let (start, rest): ([UInt8], [UInt8]) = ([0x7C, 0x85, 1], [0x7C, 0x45, 2])
    try depacketizer.append(start.span.bytes, to: &frame)
    frame = []
    #expect(throws: MalformedPayload.fragmentWithoutStart) { try depacketizer.append(rest.span.bytes, to: &frame) }
  }

  @Test func formatsAreFoundByTheirNames() {
    for format in [.opus, .pcmu, .pcma, .vp8, .h264(packetizationMode: 1), .red, .rtx, .telephoneEvent, .comfortNoise] as [PayloadFormat] {
      #expect(PayloadFormat(encodingName: format.encodingName.uppercased(), packetizationMode: 1) == format)
    }
    #expect(PayloadFormat(encodingName: "H264", packetizationMode: 2) == nil)
    #expect(PayloadFormat(encodingName: "AV1") == nil)
    #expect(PayloadFormat.vp8.isVideo && !PayloadFormat.opus.isVideo)
  }
}
