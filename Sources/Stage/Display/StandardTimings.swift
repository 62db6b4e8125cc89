/// Timings for a monitor that does not say what it takes: those of the standards for the common sizes, computed ones for others.
enum StandardTimings {
  /// Timings of the size and about the rate (refreshes a second), that most monitors take; at least 16 pixels a side, at least 1 a second.
  static func timings(width: Int, height: Int, rate: Double) -> Timings {
    for known in table where known.horizontal.active == width && known.vertical.active == height {
      // Rates of television come in pairs: 60 and 60 ÷ 1.001.
      guard abs(known.refresh - rate) < 0.5 else { continue }
      var timings = known
      if abs(known.refresh / 1.001 - rate) < abs(known.refresh - rate) {
        timings.clock = Int((Double(known.clock) / 1.001).rounded())
      }
      return timings
    }
    return reducedBlanking(width: width, height: height, rate: rate)
  }

  /// Reduced blanking, version 1, of VESA's Coordinated Video Timings 1.2. The width is rounded down to a multiple of 8.
  static func reducedBlanking(width: Int, height: Int, rate: Double) -> Timings {
    let width = width / 8 * 8
    let (horizontalBlank, minimumBlank, frontPorch, minimumBackPorch) = (160, 460e-6, 3, 6)
    let syncWidth = syncWidth(width: width, height: height)
    let rowPeriod = max(1e-7, (1 / rate - minimumBlank) / Double(height))
    let blankRows = max(Int(minimumBlank / rowPeriod) + 1, frontPorch + syncWidth + minimumBackPorch)
    let (totalWidth, totalHeight) = (width + horizontalBlank, height + blankRows)
    // In steps of 250 kHz, rounded down.
    let clock = Int(rate * Double(totalWidth * totalHeight) / 250_000) * 250
    return Timings(
      clock: clock,
      horizontal: Timings.Axis(active: width, syncStart: width + 48, syncEnd: width + 80, total: totalWidth),
      vertical: Timings.Axis(
        active: height, syncStart: height + frontPorch, syncEnd: height + frontPorch + syncWidth, total: totalHeight),
      flags: [.positiveHorizontalSync, .negativeVerticalSync])
  }

  /// Rows of the vertical pulse, by which a monitor tells the shape of the picture.
  private static func syncWidth(width: Int, height: Int) -> Int {
    let shapes = [(4, 3, 4), (16, 9, 5), (16, 10, 6), (5, 4, 7), (15, 9, 7)]
    return shapes.first { width * $0.1 == height * $0.0 }?.2 ?? 10
  }

  private static let positive: Timings.Flags = [.positiveHorizontalSync, .positiveVerticalSync]
  private static let negative: Timings.Flags = [.negativeHorizontalSync, .negativeVerticalSync]
  private static let mixed: Timings.Flags = [.negativeHorizontalSync, .positiveVerticalSync]

  private static func entry(
    _ clock: Int, _ horizontal: (Int, Int, Int, Int), _ vertical: (Int, Int, Int, Int), _ flags: Timings.Flags
  ) -> Timings {
    Timings(
      clock: clock,
      horizontal: Timings.Axis(active: horizontal.0, syncStart: horizontal.1, syncEnd: horizontal.2, total: horizontal.3),
      vertical: Timings.Axis(active: vertical.0, syncStart: vertical.1, syncEnd: vertical.2, total: vertical.3), flags: flags)
  }

  private static let table: [Timings] = [
    // CTA-861.
    entry(25_200, (640, 656, 752, 800), (480, 490, 492, 525), negative),
    entry(27_027, (720, 736, 798, 858), (480, 489, 495, 525), negative),
    entry(27_000, (720, 732, 796, 864), (576, 581, 586, 625), negative),
    entry(74_250, (1280, 1390, 1430, 1650), (720, 725, 730, 750), positive),
    entry(74_250, (1280, 1720, 1760, 1980), (720, 725, 730, 750), positive),
    entry(148_500, (1920, 2008, 2052, 2200), (1080, 1084, 1089, 1125), positive),
    entry(148_500, (1920, 2448, 2492, 2640), (1080, 1084, 1089, 1125), positive),
    entry(74_250, (1920, 2008, 2052, 2200), (1080, 1084, 1089, 1125), positive),
    entry(74_250, (1920, 2448, 2492, 2640), (1080, 1084, 1089, 1125), positive),
    entry(74_250, (1920, 2558, 2602, 2750), (1080, 1084, 1089, 1125), positive),
    entry(594_000, (3840, 4016, 4104, 4400), (2160, 2168, 2178, 2250), positive),
    entry(594_000, (3840, 4896, 4984, 5280), (2160, 2168, 2178, 2250), positive),
    entry(297_000, (3840, 4016, 4104, 4400), (2160, 2168, 2178, 2250), positive),
    entry(297_000, (3840, 4896, 4984, 5280), (2160, 2168, 2178, 2250), positive),
    entry(297_000, (3840, 5116, 5204, 5500), (2160, 2168, 2178, 2250), positive),
    // VESA's Display Monitor Timings.
    entry(40_000, (800, 840, 968, 1056), (600, 601, 605, 628), positive),
    entry(65_000, (1024, 1048, 1184, 1344), (768, 771, 777, 806), negative),
    entry(83_500, (1280, 1352, 1480, 1680), (800, 803, 809, 831), mixed),
    entry(108_000, (1280, 1328, 1440, 1688), (1024, 1025, 1028, 1066), positive),
    entry(85_500, (1360, 1424, 1536, 1792), (768, 771, 777, 795), positive),
    entry(85_500, (1366, 1436, 1579, 1792), (768, 771, 774, 798), positive),
    entry(106_500, (1440, 1520, 1672, 1904), (900, 903, 909, 934), mixed),
    entry(108_000, (1600, 1624, 1704, 1800), (900, 901, 904, 1000), positive),
    entry(162_000, (1600, 1664, 1856, 2160), (1200, 1201, 1204, 1250), positive),
    entry(146_250, (1680, 1784, 1960, 2240), (1050, 1053, 1059, 1089), mixed),
  ]
}
