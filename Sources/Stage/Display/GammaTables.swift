import Base
import Glibc

/// How light the middle between black and white is on each monitor, through the gamma tables of the CRTCs.
struct GammaTables {
  /// More than 1 makes the middle lighter, less darker; nil leaves it as the driver has it.
  private(set) var wanted: Double?
  /// What was loaded, by CRTC. Those that are missing have the driver's own.
  private var loaded: [UInt32: Double] = [:]
  private var isAbsenceSaid = false

  /// Changes what is wanted; returns whether that is new.
  mutating func want(_ gamma: Double?) -> Bool {
    defer { wanted = gamma }
    return gamma != wanted
  }

  /// Has a monitor look as wanted, after its mode was set or what is wanted changed.
  mutating func load(_ output: OutputPlan.Output, on device: any DRMDevice) {
    let crtc = output.crtc
    guard crtc.gammaSize > 1 else {
      if wanted != nil, !isAbsenceSaid { Log.warning("\(output.name): gamma cannot be changed: the driver has no table for it") }
      isAbsenceSaid = isAbsenceSaid || wanted != nil
      return
    }
    guard let gamma = wanted ?? loaded[crtc.id].map({ _ in 1 }) else { return }
    do throws(DRMError) {
      try device.setGamma(GammaTables.entries(gamma, count: crtc.gammaSize), crtc: crtc.id)
      loaded[crtc.id] = gamma
    } catch {
      Log.warning("\(output.name): \(error)")
    }
  }

  /// What a monitor looks like, 1 where nobody changed that; nil where it cannot be changed.
  func value(on output: OutputPlan.Output) -> Double? { output.crtc.gammaSize > 1 ? loaded[output.crtc.id] ?? 1 : nil }

  /// A table of `count` entries (at least 2), from black to white.
  static func entries(_ gamma: Double, count: Int) -> [UInt16] {
    (0..<count).map { UInt16((pow(Double($0) / Double(count - 1), 1 / gamma) * 65_535).rounded()) }
  }
}
