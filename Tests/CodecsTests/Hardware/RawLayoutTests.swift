import Frames
import Testing
import V4L2

@testable import Codecs

/// How pictures are laid out in the buffers of codecs.
struct RawLayoutTests {
  @Test(arguments: RawLayout.formats, [(640, 360), (642, 362), (33, 17)])
  func whatIsWrittenIsRead(format: V4L2.FourCC, size: (Int, Int)) throws {
    let (width, height) = ((size.0 + 15) & ~15, (size.1 + 15) & ~15)
    let planes: [PictureFormat.Plane] =
      switch format {
      case FourCC("YM12"):
        [
          .init(stride: width + 32, size: (width + 32) * height), .init(stride: width, size: width * height),
          .init(stride: width, size: width * height),
        ]
      case FourCC("NM12"): [.init(stride: width, size: width * height), .init(stride: width + 64, size: (width + 64) * height)]
      default: [.init(stride: width + 64, size: (width + 64) * height * 3 / 2)]
      }
    let layout = try #require(RawLayout(PictureFormat(pixelFormat: format, width: width, height: height, planes: planes)))
    let memory = planes.map { UnsafeMutableRawBufferPointer.allocate(byteCount: $0.size, alignment: 16) }
    defer { for piece in unsafe memory { unsafe piece.deallocate() } }
    let picture = CodecProbe.picture(3, width: size.0, height: size.1)
    unsafe layout.write(picture, to: memory)
    let result = VideoBuffer(width: size.0, height: size.1)
    unsafe layout.read(Selection(width: size.0, height: size.1), from: memory, into: result)
    for y in 0..<size.1 {
      for x in 0..<size.0 {
        let offset = (y / 2) * picture.chromaStride + x / 2
        guard unsafe result.luma[y * result.lumaStride + x] == picture.luma[y * picture.lumaStride + x],
          unsafe result.chromaU[offset] == picture.chromaU[offset] && result.chromaV[offset] == picture.chromaV[offset]
        else {
          Issue.record("the sample at \(x), \(y) of \(format)")
          return
        }
      }
    }
    let whole = VideoBuffer(width: width, height: height)
    unsafe layout.read(Selection(width: width, height: height), from: memory, into: whole)
    #expect(
      unsafe whole.luma[(height - 1) * whole.lumaStride + width - 1] == picture.luma[(size.1 - 1) * picture.lumaStride + size.0 - 1],
      "the padding repeats the edge")
  }

  @Test func layoutsThatDoNotFitTheirBuffersAreRefused() {
    func layout(_ format: V4L2.FourCC, stride: Int, size: Int) -> RawLayout? {
      RawLayout(PictureFormat(pixelFormat: format, width: 64, height: 48, planes: [.init(stride: stride, size: size)]))
    }
    #expect(layout(.nv12, stride: 64, size: 64 * 72) != nil)
    #expect(layout(.nv12, stride: 64, size: 64 * 72 - 1) == nil)
    #expect(layout(.nv12, stride: 63, size: 64 * 72) == nil)
    #expect(layout(.yuyv, stride: 128, size: 128 * 48) == nil)
    #expect(layout(V4L2.FourCC("NM12"), stride: 64, size: 64 * 72) == nil, "a plane is missing")
  }
}
