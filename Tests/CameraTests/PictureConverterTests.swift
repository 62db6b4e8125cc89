import CTurboJPEG
import Frames
import Testing
import V4L2

@testable import Camera

@Suite struct PictureConverterTests {
  /// A format as drivers lay it out: rows padded to `stride`, and `rows` rows of luma before chroma begins.
  private func format(
    _ pixels: FourCC, _ width: Int, _ height: Int, stride: Int? = nil, rows: Int? = nil, colors: PictureFormat.Colors = .bt601
  )
    -> PictureFormat
  {
    let rows = rows ?? height
    let isPacked = pixels == .yuyv || pixels == .uyvy
    let stride = stride ?? (isPacked ? (width + 1) / 2 * 4 : pixels == .nv12 ? (width + 1) / 2 * 2 : width)
    let chroma = (stride + 1) / 2 * 2 * ((rows + 1) / 2)
    let planes: [PictureFormat.Plane] =
      switch pixels {
      case .yuyv, .uyvy: [PictureFormat.Plane(stride: stride, size: stride * rows)]
      case FormatChoice.nv12Apart:
        [PictureFormat.Plane(stride: stride, size: stride * rows), PictureFormat.Plane(stride: (stride + 1) / 2 * 2, size: chroma)]
      case FormatChoice.yuv420Apart:
        [
          PictureFormat.Plane(stride: stride, size: stride * rows), PictureFormat.Plane(stride: (stride + 1) / 2, size: chroma / 2),
          PictureFormat.Plane(stride: (stride + 1) / 2, size: chroma / 2),
        ]
      default: [PictureFormat.Plane(stride: stride, size: stride * rows + chroma)]
      }
    return PictureFormat(pixelFormat: pixels, width: width, height: height, planes: planes, colors: colors)
  }

  private static let formats: [FourCC] = [.yuyv, .uyvy, .nv12, .yuv420, FormatChoice.nv12Apart, FormatChoice.yuv420Apart]

  @Test(arguments: formats, [(64, 32), (66, 34), (65, 33)]) func pixelsComeOutAsTheyWentIn(pixels: FourCC, size: (Int, Int)) throws {
    let picture = testPicture(width: size.0, height: size.1)
    let format = format(pixels, size.0, size.1)
    let converter = try #require(PictureConverter(format, width: size.0, height: size.1))
    let result = try converter.convert(picture.bytes(in: format))
    let difference = greatestDifference(picture, result)
    #expect(difference.luma == 0 && difference.chroma <= 1)
  }

  /// Rows that are longer than the picture, as hardware likes them, show neither green edges nor slanted pictures.
  @Test(arguments: formats) func paddedRowsAreLeftOut(pixels: FourCC) throws {
    let picture = testPicture(width: 62, height: 30)
    let format = format(pixels, 62, 30, stride: 256)
    let converter = try #require(PictureConverter(format, width: 62, height: 30))
    let difference = greatestDifference(picture, try converter.convert(picture.bytes(in: format)))
    #expect(difference.luma == 0 && difference.chroma <= 1)
  }

  /// Full HD in hardware has 1,088 rows: told by the height, told by the buffer's size alone, or by the selection.
  @Test(arguments: [FourCC.nv12, .yuv420, .yuyv]) func fullHDHasNoGreenLines(pixels: FourCC) throws {
    let picture = testPicture(width: 1_920, height: 1_080)
    let told = format(pixels, 1_920, 1_088)
    let seen = PictureLayout.visibleSize(of: told, wanted: (1_920, 1_080), selection: nil)
    #expect(seen == (1_920, 1_080))
    var hidden = format(pixels, 1_920, 1_080, rows: 1_088)
    for format in [told, hidden] {
      let converter = try #require(PictureConverter(format, width: seen.0, height: seen.1))
      let result = try converter.convert(picture.bytes(in: format))
      let difference = greatestDifference(picture, result)
      #expect(difference.luma == 0 && difference.chroma <= 1, "\(format)")
      // The last row is the picture's, and not what pads it.
      #expect(result.luma[1_079 * result.lumaStride + 1_919] == picture.luma[1_079 * picture.lumaStride + 1_919])
    }
    if pixels != .yuyv { #expect(PictureLayout(hidden, width: 1_920, height: 1_080)?.parts[1].offset == 1_920 * 1_088) }
    // A buffer with room to spare is no padded picture.
    hidden.planes[0].size = 1_920 * 1_080 * 3
    if pixels != .yuyv { #expect(PictureLayout(hidden, width: 1_920, height: 1_080)?.parts[1].offset == 1_920 * 1_080) }
    #expect(
      PictureLayout.visibleSize(of: told, wanted: (1_920, 1_080), selection: Selection(width: 1_920, height: 1_072)) == (1_920, 1_072))
    #expect(PictureLayout.visibleSize(of: told, wanted: (1_280, 720), selection: nil) == (1_920, 1_088), "another size altogether")
  }

  @Test func picturesWithoutTheirEndAreRefused() throws {
    let picture = testPicture(width: 64, height: 32)
    for pixels in PictureConverterTests.formats {
      let format = format(pixels, 64, 32)
      let converter = try #require(PictureConverter(format, width: 64, height: 32))
      let bytes = picture.bytes(in: format)
      var counts = bytes.map(\.count)
      counts[counts.count - 1] -= 1
      #expect(throws: CameraDiscard.short) { try converter.convert(bytes, byteCounts: counts) }
      #expect(throws: CameraDiscard.short) { try converter.convert(bytes, byteCounts: counts.map { _ in 0 }) }
    }
  }

  @Test func buffersTooSmallForTheirFormatAreNoFormat() {
    var small = format(.nv12, 64, 32)
    small.planes[0].size -= 1
    #expect(PictureConverter(small, width: 64, height: 32) == nil)
    #expect(PictureConverter(format(.yuyv, 64, 32), width: 66, height: 32) == nil)
    #expect(PictureConverter(format(FourCC("Z16 "), 64, 32), width: 64, height: 32) == nil)
  }

  @Test func picturesAreTurnedOver() throws {
    let picture = testPicture(width: 64, height: 32)
    let format = format(.nv12, 64, 32)
    let converter = try #require(PictureConverter(format, width: 64, height: 32, isMirrored: true))
    let result = try converter.convert(picture.bytes(in: format))
    for x in 0..<64 { #expect(result.luma[x] == picture.luma[63 - x]) }
    #expect(result.chromaU[3] == picture.chromaU[28])
  }

  // MARK: Colours

  @Test func theFullRangeBecomesTheLimitedOne() throws {
    let picture = VideoBuffer(width: 70, height: 6)
    for (value, expected) in [(UInt8(0), (16, 16)), (255, (235, 240)), (128, (126, 128)), (64, (71, 72))] {
      picture.fill(luma: value, chromaU: value, chromaV: value)
      let format = format(.yuv420, 70, 6, colors: PictureFormat.Colors(space: 1, quantization: 1))
      let result = try #require(PictureConverter(format, width: 70, height: 6)).convert(picture.bytes(in: format))
      for place in [0, 69, 5 * result.lumaStride + 69] { #expect(abs(Int(result.luma[place]) - expected.0) <= 1) }
      for place in [0, 34, 2 * result.chromaStride + 34] {
        #expect(abs(Int(result.chromaU[place]) - expected.1) <= 1 && abs(Int(result.chromaV[place]) - expected.1) <= 1)
      }
    }
  }

  /// Pure colours in BT.709 and in BT.601, limited range, by the formulas of both standards.
  @Test(
    arguments: [
      ((63, 102, 240), (81, 90, 240)), ((173, 42, 26), (145, 54, 34)), ((32, 240, 118), (41, 240, 110)), ((126, 128, 128), (126, 128, 128)),
    ] as [((Int, Int, Int), (Int, Int, Int))])
  func colorsOfHighDefinitionKeepTheirLook(hd: (Int, Int, Int), sd: (Int, Int, Int)) throws {
    let picture = VideoBuffer(width: 38, height: 6)
    picture.fill(luma: UInt8(hd.0), chromaU: UInt8(hd.1), chromaV: UInt8(hd.2))
    let format = format(.nv12, 38, 6, colors: PictureFormat.Colors(space: 3))
    let result = try #require(PictureConverter(format, width: 38, height: 6)).convert(picture.bytes(in: format))
    for place in [0, 37, 5 * result.lumaStride + 37] { #expect(abs(Int(result.luma[place]) - sd.0) <= 2) }
    for place in [0, 18, 2 * result.chromaStride + 18] {
      #expect(abs(Int(result.chromaU[place]) - sd.1) <= 2 && abs(Int(result.chromaV[place]) - sd.2) <= 2)
    }
  }

  // MARK: JPEG

  private func jpegFormat(_ width: Int, _ height: Int) -> PictureFormat {
    PictureFormat(pixelFormat: .mjpeg, width: width, height: height, planes: [PictureFormat.Plane(size: 1 << 20)])
  }

  /// What the range of JPEG makes of a sample.
  private func limited(_ picture: VideoBuffer) -> VideoBuffer {
    let result = VideoBuffer(width: picture.width, height: picture.height)
    result.copy(from: picture)
    ColorConversion.normalize(result, matrix: .bt601, isFullRange: true)
    return result
  }

  @Test(
    arguments: [TJSAMP_422.rawValue, TJSAMP_420.rawValue, TJSAMP_444.rawValue, TJSAMP_440.rawValue, TJSAMP_411.rawValue],
    [(160, 96), (162, 90), (161, 95)])
  func jpegOfEverySamplingIsTheSamePicture(sampling: UInt32, size: (Int, Int)) throws {
    let picture = testPicture(width: size.0, height: size.1)
    let converter = try #require(PictureConverter(jpegFormat(size.0, size.1), width: size.0, height: size.1))
    let result = try converter.convert([picture.jpeg(sampling: TJSAMP(rawValue: sampling))])
    let difference = greatestDifference(limited(picture), result)
    #expect(difference.luma <= 4 && difference.chroma <= 8, "\(difference)")
  }

  @Test func grayJPEGIsGray() throws {
    let picture = testPicture(width: 64, height: 32)
    let result = try #require(PictureConverter(jpegFormat(64, 32), width: 64, height: 32)).convert([picture.jpeg(sampling: TJSAMP_GRAY)])
    #expect(result.chromaU[0] == 128 && result.chromaV[result.chromaStride * 15 + 31] == 128)
  }

  @Test func jpegOf1088RowsShows1080() throws {
    let picture = testPicture(width: 1_920, height: 1_088)
    let converter = try #require(PictureConverter(jpegFormat(1_920, 1_080), width: 1_920, height: 1_080))
    let result = try converter.convert([picture.jpeg()])
    let expected = limited(picture)
    #expect(result.height == 1_080)
    for x in stride(from: 0, to: 1_920, by: 7) {
      #expect(abs(Int(result.luma[1_079 * result.lumaStride + x]) - Int(expected.luma[1_079 * expected.lumaStride + x])) <= 4)
    }
    #expect(throws: CameraDiscard.wrongSize) { try converter.convert([testPicture(width: 640, height: 480).jpeg()]) }
  }

  @Test func damagedJPEGIsNeverShown() throws {
    let picture = testPicture(width: 320, height: 176)
    let converter = try #require(PictureConverter(jpegFormat(320, 176), width: 320, height: 176))
    let whole = picture.jpeg()
    for share in [0.1, 0.3, 0.5, 0.7, 0.9] {
      #expect(throws: CameraDiscard.corrupt) { try converter.convert([Array(whole[..<Int(Double(whole.count) * share)])]) }
    }
    #expect(throws: CameraDiscard.corrupt) { try converter.convert([[UInt8](repeating: 0, count: 5_000)]) }
    // A marker in the middle of the coded data.
    var broken = whole
    let middle = whole.count / 2
    broken.replaceSubrange(middle..<middle + 40, with: Array(repeating: [0xFF, 0xD3], count: 20).joined())
    #expect(throws: CameraDiscard.corrupt) { try converter.convert([broken]) }
    // Bytes after the end or before it, as many cameras send them, do no harm, and the decoder has forgotten what was damaged.
    _ = try converter.convert([whole + [UInt8](repeating: 0, count: 100)])
    _ = try converter.convert([whole.dropLast(2) + [0, 0, 0] + whole.suffix(2)])
  }

  // MARK: Other formats

  @Test func seldomFormatsAreConvertedByTheLibrary() throws {
    let (width, height) = (64, 32)
    let format = PictureFormat(
      pixelFormat: FourCC("RGB3"), width: width, height: height, planes: [PictureFormat.Plane(stride: width * 3, size: width * height * 3)],
      colors: PictureFormat.Colors(space: 8))
    let converter = try #require(PictureConverter(format, width: width, height: height))
    // The left half is red, the right half white.
    var pixels: [UInt8] = []
    for _ in 0..<height { for x in 0..<width { pixels += x < 32 ? [255, 0, 0] : [255, 255, 255] } }
    let result = try converter.convert([pixels])
    func difference(_ plane: UnsafeMutablePointer<UInt8>, _ place: Int, _ expected: Int) -> Int { abs(Int(plane[place]) - expected) }
    #expect(difference(result.luma, 5 * result.lumaStride + 10, 81) <= 2)
    #expect(difference(result.chromaV, 5 * result.chromaStride + 5, 240) <= 2)
    #expect(difference(result.luma, 5 * result.lumaStride + 50, 235) <= 2)
    #expect(difference(result.chromaV, 5 * result.chromaStride + 25, 128) <= 2)
    #expect(throws: CameraDiscard.corrupt) { try converter.convert([[UInt8](repeating: 0, count: 100)]) }
  }
}
