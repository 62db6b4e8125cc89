import Testing

@testable import Stage

@Suite struct DisplayModeTests {
  @Test func refreshIsCountedAsTheKernelCountsIt() {
    let television = StandardTimings.timings(width: 1920, height: 1080, rate: 60)
    #expect(television.refresh == 60)
    #expect(StandardTimings.timings(width: 1920, height: 1080, rate: 59.94).clock == 148_352)
    // 1920×1080 interlaced as CTA-861 has it: 30 pictures, 60 fields.
    var interlaced = television
    (interlaced.clock, interlaced.flags) = (74_250, [.interlaced])
    #expect(interlaced.refresh == 60)
    var doubled = television
    doubled.flags.insert(.doubleScan)
    #expect(doubled.refresh == 30)
    var repeated = television
    repeated.verticalScan = 4
    #expect(repeated.refresh == 15)
    let nothing = Timings.Axis(active: 0, syncStart: 0, syncEnd: 0, total: 0)
    #expect(Timings(clock: 1, horizontal: nothing, vertical: nothing).refresh == 0)
  }

  @Test(arguments: [
    ("1920x1080@60", RequestedMode(width: 1920, height: 1080, rate: 60)), ("1280x720", RequestedMode(width: 1280, height: 720)),
    ("1920x1080@59.94", RequestedMode(width: 1920, height: 1080, rate: 59.94)), ("16x16@1", RequestedMode(width: 16, height: 16, rate: 1)),
  ])
  func configuredModesAreRead(_ text: String, _ mode: RequestedMode) {
    #expect(RequestedMode(text) == mode)
    #expect(RequestedMode("\(mode)") == mode)
  }

  @Test(arguments: [
    "", "1920", "1920x", "x1080", "1920x1080@", "1920x1080@0", "1920x1080@501", "15x16", "8193x16", "1920x1080x60", "a x b",
    "1920x1080@nan",
  ])
  func otherTextsAreNoModes(_ text: String) { #expect(RequestedMode(text) == nil) }

  @Test func modesReadAsTheConfigurationWritesThem() {
    #expect("\(TestCards.mode(1920, 1080, 60))" == "1920x1080@60")
    #expect("\(TestCards.mode(1920, 1080, 59.94))" == "1920x1080@59.94")
    #expect("\(TestCards.mode(1920, 1080, 30, flags: .interlaced))" == "1920x1080@60i")
    #expect(RequestedMode.text(of: 59.904) == "59.9" && RequestedMode.text(of: 60.05) == "60.05")
  }

  /// Against the modes with reduced blanking in VESA's Display Monitor Timings, and the common ones for 1080p and 1440p.
  @Test(arguments: [
    (1280, 768, 68_250, [1328, 1360, 1440], [771, 778, 790]), (1280, 800, 71_000, [1328, 1360, 1440], [803, 809, 823]),
    (1400, 1050, 101_000, [1448, 1480, 1560], [1053, 1057, 1080]), (1440, 900, 88_750, [1488, 1520, 1600], [903, 909, 926]),
    (1680, 1050, 119_000, [1728, 1760, 1840], [1053, 1059, 1080]), (1920, 1200, 154_000, [1968, 2000, 2080], [1203, 1209, 1235]),
    (2560, 1600, 268_500, [2608, 2640, 2720], [1603, 1609, 1646]), (1920, 1080, 138_500, [1968, 2000, 2080], [1083, 1088, 1111]),
    (2560, 1440, 241_500, [2608, 2640, 2720], [1443, 1448, 1481]),
  ])
  func computedTimingsAreThoseOfTheStandard(_ width: Int, _ height: Int, _ clock: Int, _ horizontal: [Int], _ vertical: [Int]) {
    let timings = StandardTimings.reducedBlanking(width: width, height: height, rate: 60)
    #expect(timings.clock == clock)
    #expect([timings.horizontal.syncStart, timings.horizontal.syncEnd, timings.horizontal.total] == horizontal)
    #expect([timings.vertical.syncStart, timings.vertical.syncEnd, timings.vertical.total] == vertical)
    #expect(timings.flags == [.positiveHorizontalSync, .negativeVerticalSync])
  }

  @Test(arguments: [
    (640, 480, 60.0), (1366, 768, 60), (1080, 1920, 60), (1920, 1080, 24), (3840, 2160, 60), (16, 16, 500), (8192, 8192, 1),
  ])
  func madeTimingsHaveTheSizeAndAboutTheRate(_ width: Int, _ height: Int, _ rate: Double) {
    let timings = StandardTimings.timings(width: width, height: height, rate: rate)
    #expect(timings.horizontal.active == width && timings.vertical.active == height)
    for axis in [timings.horizontal, timings.vertical] {
      #expect(axis.active < axis.syncStart && axis.syncStart < axis.syncEnd && axis.syncEnd < axis.total)
    }
    #expect(abs(timings.refresh - rate) <= rate / 4)
    if rate <= 60 && width < 8192 { #expect(abs(timings.refresh - rate) < 0.5) }
  }
}
