import Frames

@testable import Stage

/// The planes of a driver, and what it refuses beside what its properties say.
struct MockPlanes {
  /// What a driver refuses in a test commit.
  struct Limits {
    /// The planes that may show their source smaller or larger; nil: all.
    var scalers: Set<UInt32>?
    /// Whether the primary plane has to cover the whole CRTC.
    var primaryCovers = true
    /// Planes that may be on at a time.
    var planes = 16
    /// Luma and chroma planes that may be on at a time.
    var lumaChroma = 16
    /// Whether pictures that lie row by row can be turned by a quarter.
    var turnsQuarters = false
    /// Whether primary planes blend.
    var primaryBlends = true
  }

  var name: String
  var planes: [PlaneOffer]
  var limits = Limits()

  /// Everything that the kernel and the driver look at.
  func accepts(_ layout: PlaneLayout, mode: (width: Int, height: Int)) -> Bool {
    let screen = Rectangle(x: 0, y: 0, width: mode.width, height: mode.height)
    guard layout.planes.count <= limits.planes, layout.planes.count(where: { $0.format.isLumaChroma }) <= limits.lumaChroma else {
      return false
    }
    for assignment in layout.planes {
      guard let plane = planes.first(where: { $0.id == assignment.plane }) else { return false }
      if plane.kind == .primary {
        if limits.primaryCovers && assignment.destination != screen { return false }
        if !limits.primaryBlends && assignment.format == .argb8888 { return false }
      }
      let isSideways = assignment.rotation == .quarterClockwise || assignment.rotation == .quarterCounterclockwise
      if isSideways && !limits.turnsQuarters { return false }
      let (width, height) =
        isSideways
        ? (assignment.source.height, assignment.source.width) : (assignment.source.width, assignment.source.height)
      let isScaled = width != UInt32(assignment.destination.width) << 16 || height != UInt32(assignment.destination.height) << 16
      if isScaled, let scalers = limits.scalers, !scalers.contains(plane.id) { return false }
    }
    return true
  }

  /// What in a layout contradicts what the planes offer; nil: nothing.
  func contradiction(_ layout: PlaneLayout, mode: (width: Int, height: Int)) -> String? {
    let screen = Rectangle(x: 0, y: 0, width: mode.width, height: mode.height)
    var below: (place: UInt64, id: UInt32)?
    guard Set(layout.planes.map(\.plane)).count == layout.planes.count else { return "a plane is used twice" }
    let offers = layout.planes.compactMap { assignment in planes.first { $0.id == assignment.plane } }
    guard offers.count == layout.planes.count else { return "a plane is not there" }
    guard offers.contains(where: { $0.kind == .primary }) else { return "the primary plane is off" }
    for (assignment, offer) in zip(layout.planes, offers) {
      guard offer.takes(assignment.format, modifier: assignment.modifier) else { return "\(assignment.format) is not offered" }
      guard offer.rotations.contains(assignment.rotation), assignment.rotation.rawValue.nonzeroBitCount == 1 else { return "rotation" }
      guard screen.contains(assignment.destination), !assignment.destination.isEmpty else { return "outside of the screen" }
      let source = assignment.source
      guard source.width > 0, source.height > 0, UInt64(source.x) + UInt64(source.width) <= UInt64(assignment.bufferWidth) << 16,
        UInt64(source.y) + UInt64(source.height) <= UInt64(assignment.bufferHeight) << 16
      else { return "outside of the buffer" }
      if let encoding = assignment.colorEncoding, !offer.colorEncodings.contains(encoding) { return "colour encoding" }
      if let range = assignment.colorRange, !offer.colorRanges.contains(range) { return "colour range" }
      // As the kernel does, without a property planes are stacked by number, the primary one first.
      var place: UInt64 = offer.kind == .primary ? 0 : 1
      if let stacking = offer.stacking {
        place = assignment.stacking ?? stacking.range.lowerBound
        if (assignment.stacking != nil) == stacking.isImmutable || !stacking.range.contains(place) { return "zpos" }
      } else if assignment.stacking != nil {
        return "zpos without the property"
      }
      if let below, (place, offer.id) <= below { return "the order is another" }
      below = (place, offer.id)
    }
    return nil
  }

  // MARK: Drivers

  private static func formats(_ formats: [PixelFormat]) -> [FormatOffer] { formats.map { FormatOffer(format: $0) } }
  private static let rgb = formats([.xrgb8888, .argb8888])
  private static let encodings: Set<ColorEncoding> = [.bt601, .bt709]
  private static let ranges: Set<ColorRange> = [.limited, .full]
  static let tiled: UInt64 = 0x0100_0000_0000_0001

  private static func plane(
    _ id: UInt32, _ kind: PlaneOffer.Kind, _ formats: [FormatOffer], zpos: ClosedRange<UInt64>? = nil, rotations: PlaneRotation = .upright
  ) -> PlaneOffer {
    var plane = PlaneOffer(id: id, kind: kind, possibleCRTCs: 1, formats: formats, rotations: rotations)
    plane.stacking = zpos.map { PlaneOffer.StackingRange(range: $0, isImmutable: $0.count == 1) }
    if formats.contains(where: { $0.format.isLumaChroma }) { (plane.colorEncodings, plane.colorRanges) = (encodings, ranges) }
    return plane
  }

  /// Intel from Skylake on: three alike planes that take NV12 and RGB, turn and scale, and a cursor; fixed places.
  static var i915: MockPlanes {
    var formats = rgb + [FormatOffer(format: .nv12)]
    for index in formats.indices { formats[index].modifiers.append(tiled) }
    let rotations: PlaneRotation = [.upright, .quarterClockwise, .half, .quarterCounterclockwise]
    return MockPlanes(
      name: "i915",
      planes: [
        plane(31, .primary, formats, zpos: 0...0, rotations: rotations), plane(32, .overlay, formats, zpos: 1...1, rotations: rotations),
        plane(33, .overlay, formats, zpos: 2...2, rotations: rotations), plane(34, .cursor, formats, zpos: 3...3),
      ], limits: Limits(primaryCovers: false))
  }

  /// AMD: a primary plane and one overlay that can stand below it or above.
  static var amdgpu: MockPlanes {
    MockPlanes(
      name: "amdgpu",
      planes: [
        plane(31, .primary, rgb + formats([.nv12]), zpos: 2...2, rotations: [.upright, .half]),
        plane(32, .overlay, rgb + formats([.nv12]), zpos: 0...254, rotations: [.upright, .half]), plane(33, .cursor, rgb, zpos: 255...255),
      ], limits: Limits(lumaChroma: 1))
  }

  /// Raspberry Pi: many planes that take and scale anything, in the order of their numbers.
  static var vc4: MockPlanes {
    let all = rgb + formats([.yuv420, .yvu420, .nv12])
    return MockPlanes(
      name: "vc4",
      planes: [plane(31, .primary, all, rotations: [.upright, .half])]
        + (32..<40).map { plane($0, .overlay, all, rotations: [.upright, .half]) } + [plane(40, .cursor, rgb)],
      limits: Limits(primaryCovers: false))
  }

  /// Rockchip's VOP: one window for luma and chroma that scales, others for RGB that do not; places can be set.
  static var rockchip: MockPlanes {
    MockPlanes(
      name: "rockchip",
      planes: [
        plane(31, .primary, rgb, zpos: 0...3), plane(32, .overlay, rgb + formats([.nv12]), zpos: 0...3),
        plane(33, .overlay, rgb, zpos: 0...3),
      ], limits: Limits(scalers: [32], primaryCovers: false))
  }

  /// QEMU's virtio-gpu: a primary plane and a cursor.
  static var virtio: MockPlanes {
    MockPlanes(
      name: "virtio", planes: [plane(31, .primary, formats([.xrgb8888])), plane(32, .cursor, formats([.argb8888]))],
      limits: Limits(scalers: []))
  }

  /// QEMU's standard graphics: a primary plane.
  static var bochs: MockPlanes {
    MockPlanes(name: "bochs", planes: [plane(31, .primary, formats([.xrgb8888]))], limits: Limits(scalers: []))
  }

  /// The kernel's virtual display: eight overlays, none of which scales or takes luma and chroma.
  static var vkms: MockPlanes {
    MockPlanes(
      name: "vkms",
      planes: [plane(31, .primary, formats([.xrgb8888]))] + (32..<40).map { plane($0, .overlay, rgb) }
        + [plane(40, .cursor, formats([.argb8888]))], limits: Limits(scalers: []))
  }

  static var all: [MockPlanes] { [i915, amdgpu, vc4, rockchip, virtio, bochs, vkms] }
}
