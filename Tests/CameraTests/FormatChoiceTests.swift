import Testing
import V4L2

@testable import Camera

@Suite struct FormatChoiceTests {
  private func offer(_ format: FourCC, _ width: Int, _ height: Int, _ rates: Double...) -> CaptureOffer {
    CaptureOffer(
      format, size: SizeOffer(width: width, height: height), intervals: rates.map { IntervalOffer(FrameInterval(framesPerSecond: $0)) })
  }
  private let wanted = FormatChoice(width: 1_280, height: 720, framesPerSecond: 30)

  /// A USB 2 webcam: its bus carries raw pictures only when they are small.
  @Test func whatTheBusCannotCarryRawComesAsJPEG() {
    let offers = [
      offer(.yuyv, 640, 480, 30, 15), offer(.yuyv, 1_280, 720, 10, 5), offer(.mjpeg, 640, 480, 30), offer(.mjpeg, 1_280, 720, 30, 15),
      offer(.mjpeg, 1_920, 1_080, 30),
    ]
    #expect(wanted.ranked(offers).first == CaptureMode(.mjpeg, width: 1_280, height: 720, framesPerSecond: 30))
    let small = FormatChoice(width: 640, height: 480, framesPerSecond: 30)
    #expect(small.ranked(offers).first == CaptureMode(.yuyv, width: 640, height: 480, framesPerSecond: 30))
    #expect(wanted.ranked(offers).count == offers.count, "what the bus refuses is followed by the next one")
  }

  @Test func ofEqualModesTheOneWithLeastWorkIsTaken() {
    let formats: [FourCC] = [FourCC("RGB3"), .mjpeg, .uyvy, .yuv420, .yuyv, .nv12]
    let ranked = wanted.ranked(formats.map { offer($0, 1_280, 720, 30) })
    #expect(ranked.map(\.pixelFormat) == formats.reversed())
  }

  @Test func whatNobodyCanReadIsLeftOut() {
    #expect(wanted.ranked([offer(FourCC("Z16 "), 1_280, 720, 30), offer(FourCC("HEVC"), 1_280, 720, 30)]) == [])
  }

  @Test func theRateThatIsNearestIsTaken() {
    #expect(wanted.ranked([offer(.yuyv, 1_280, 720, 60, 50, 30, 15)]).first?.framesPerSecond == 30)
    #expect(wanted.ranked([offer(.yuyv, 1_280, 720, 60, 50, 15)]).first?.framesPerSecond == 50, "rather too fast than too slow")
    #expect(wanted.ranked([offer(.yuyv, 1_280, 720)]).first?.framesPerSecond == 0, "a driver that says none")
    let steps = CaptureOffer(
      .yuyv, size: SizeOffer(width: 1_280, height: 720),
      intervals: [IntervalOffer(shortest: FrameInterval(framesPerSecond: 120), longest: FrameInterval(framesPerSecond: 1))])
    #expect(wanted.ranked([steps]).first?.framesPerSecond == 30)
  }

  @Test func aSlowLargePictureLosesToAFastSmallerOne() {
    let ranked = wanted.ranked([offer(.yuyv, 1_280, 720, 5), offer(.yuyv, 640, 360, 30)])
    #expect(ranked.first?.width == 640)
    // But a slightly slow one does not.
    #expect(wanted.ranked([offer(.mjpeg, 1_280, 720, 25), offer(.yuyv, 640, 360, 30)]).first?.width == 1_280)
  }

  @Test func aSizeThatIsNotThereIsRatherLarger() {
    #expect(wanted.ranked([offer(.yuyv, 640, 480, 30), offer(.yuyv, 1_280, 800, 30)]).first?.height == 800)
    #expect(wanted.ranked([offer(.yuyv, 960, 720, 30), offer(.yuyv, 2_560, 1_440, 30)]).first?.width == 960, "but not four times as large")
    let steps = CaptureOffer(
      .nv12, size: SizeOffer(width: 64...2_048, widthStep: 48, height: 64...1_024, heightStep: 16),
      intervals: [IntervalOffer(FrameInterval(framesPerSecond: 30))])
    let mode = wanted.ranked([steps]).first
    #expect(mode?.width == 1_312 && mode?.height == 720)
  }
}
