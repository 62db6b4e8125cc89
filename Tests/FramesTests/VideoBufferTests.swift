import Testing

@testable import Frames

struct VideoBufferTests {
  private func gradient(width: Int, height: Int) -> VideoBuffer {
    let buffer = VideoBuffer(width: width, height: height)
    for y in 0..<height { for x in 0..<width { buffer.luma[y * buffer.lumaStride + x] = UInt8(16 + (x + y) * 200 / (width + height)) } }
    return buffer
  }

  @Test func aCopyIsIdentical() {
    let source = gradient(width: 33, height: 17)
    let copy = VideoBuffer(width: 33, height: 17)
    #expect(lumaPSNR(source, copy) < 20)
    copy.copy(from: source)
    #expect(lumaPSNR(source, copy) == 128)
  }

  @Test func picturesOfDifferentSizesHaveNothingInCommon() {
    #expect(lumaPSNR(VideoBuffer(width: 32, height: 16), VideoBuffer(width: 16, height: 32)) == 0)
  }

  @Test func scalingDownAndUpKeepsASmoothPicture() {
    let pool = VideoBufferPool()
    let source = gradient(width: 320, height: 180)
    let back = source.scaled(width: 160, height: 90, from: pool).scaled(width: 320, height: 180, from: pool)
    #expect(lumaPSNR(source, back) > 40)
  }

  @Test func aQuarterTurnMovesTheTopLeftCornerToTheTopRight() {
    let source = VideoBuffer(width: 16, height: 8)
    source.fill(luma: 50)
    source.luma[0] = 200
    let turned = source.rotated(by: .quarter, from: VideoBufferPool())
    #expect(turned.width == 8 && turned.height == 16)
    #expect(turned.luma[7] == 200 && turned.luma[0] == 50)
  }

  @Test func aPoolHandsTheSameMemoryOutAgain() {
    let pool = VideoBufferPool()
    var first: VideoBuffer? = pool.buffer(width: 64, height: 64)
    let address = first!.luma
    first = nil
    #expect(pool.buffer(width: 64, height: 64).luma == address)
  }

  @Test func aBufferOfAnOldSizeDoesNotComeBackIntoThePool() {
    let pool = VideoBufferPool()
    var old: VideoBuffer? = pool.buffer(width: 64, height: 64)
    #expect(old?.width == 64)
    let other = pool.buffer(width: 32, height: 32)
    old = nil
    let next = pool.buffer(width: 32, height: 32)
    #expect(next.width == 32 && next.luma != other.luma)
  }

  /// A track that is switched off sends black: what a device still holds of the picture before must not go with it.
  @Test func otherPixelsLeaveTheDevicesMemoryBehind() {
    let shared = DeviceBuffer(
      width: 64, height: 64, format: 0x3231_564E, planes: [DeviceBuffer.Plane(descriptor: -1, offset: 0, stride: 64)])
    var frame = VideoFrame(buffer: VideoBuffer(width: 64, height: 64), deviceBuffer: shared)
    #expect(frame.deviceBuffer === shared)
    frame.buffer = VideoBuffer(width: 64, height: 64)
    #expect(frame.deviceBuffer == nil)
  }
}
