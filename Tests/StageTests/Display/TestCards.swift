@testable import Stage

/// Cards, monitors and planes as real drivers offer them.
enum TestCards {
  /// A mode with plain timings of exactly the rate, in whole pixels and rows.
  static func mode(_ width: Int, _ height: Int, _ rate: Double, isPreferred: Bool = false, flags: Timings.Flags = []) -> DisplayMode {
    var timings = StandardTimings.timings(width: width, height: height, rate: rate)
    timings.flags.formUnion(flags)
    return DisplayMode(name: "\(width)x\(height)", timings: timings, isPreferred: isPreferred)
  }

  /// What a television says of itself: 1080p preferred, 4K at a low rate, interlaced and film modes.
  static let television = [
    mode(1920, 1080, 60, isPreferred: true), mode(3840, 2160, 30), mode(1920, 1080, 60, flags: .interlaced), mode(1920, 1080, 59.94),
    mode(1920, 1080, 50), mode(1920, 1080, 24), mode(1280, 720, 60), mode(1280, 720, 50), mode(720, 576, 50), mode(640, 480, 60),
  ]

  /// What the kernel lists for a monitor that says nothing.
  static let unknown = [mode(1024, 768, 60), mode(1024, 768, 75), mode(800, 600, 60), mode(800, 600, 72), mode(640, 480, 60)]

  static func connector(
    _ name: String, _ id: UInt32, _ status: ConnectorSnapshot.Status = .connected, modes: [DisplayMode] = television,
    crtcs: UInt32 = 0b11, crtc: UInt32? = nil, hasEDID: Bool = true
  ) -> ConnectorSnapshot {
    ConnectorSnapshot(id: id, name: name, status: status, modes: modes, possibleCRTCs: crtcs, crtc: crtc, hasEDID: hasEDID)
  }

  /// A card with `crtcs` CRTCs, numbered from 40.
  static func card(_ connectors: [ConnectorSnapshot], crtcs: Int = 2) -> CardSnapshot {
    CardSnapshot(
      driver: "test", capabilities: .atomic, connectors: connectors,
      crtcs: (0..<crtcs).map { CRTCSnapshot(id: UInt32(40 + $0), index: $0, gammaSize: 256) })
  }
}
