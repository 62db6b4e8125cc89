import Base
import Frames
import Synchronization

/// The coding hardware of this machine: looked for and tried once, in the background; what it was found to do serves every call from then on.
///
/// Hardware that fails in mid-call is left alone until the process starts anew. Until the probe has ended, software codes.
public final class HardwareCodecs: Sendable {
  private struct Key: Hashable {
    var codec: VideoCodec
    var direction: CodecChoice.Direction
  }

  private enum Standing {
    case software(reason: String)
    case hardware(any CodingDevice)
  }

  private struct State {
    var hasStarted = false
    var hasEnded = false
    var standings: [Key: Standing] = [:]
  }

  /// The machine's.
  public static let shared = HardwareCodecs { MemoryToMemoryDevice.all() + VADevice.all() }

  private let find: @Sendable () -> [any CodingDevice]
  private let patience: CodingPatience
  private let state = Mutex(State())

  /// Hardware that `find` names, best first. It is called on a thread of the probe's.
  init(patience: CodingPatience = CodingPatience(), find: @escaping @Sendable () -> [any CodingDevice]) {
    (self.patience, self.find) = (patience, find)
  }

  /// Begins to look for hardware and to try it, on a thread of its own. Only the first call does something.
  public func startProbe() {
    let isFirst = state.withLock { state in
      defer { state.hasStarted = true }
      return !state.hasStarted
    }
    if isFirst { startDetachedThread("parlor-probe") { [self] in probe() } }
  }

  /// Whether the probe has ended.
  public var isProbed: Bool { state.withLock { $0.hasEnded } }

  /// Who codes what, and why: one for each codec and direction.
  public var choices: [CodecChoice] {
    state.withLock { state in
      VideoCodec.allCases.flatMap { codec in
        CodecChoice.Direction.allCases.map { direction in
          switch state.standings[Key(codec: codec, direction: direction)] {
          case .hardware(let device)?:
            return CodecChoice(
              codec: codec, direction: direction, implementation: device.name, isHardware: true,
              reason: "the probe's pictures came out right")
          case .software(let reason)?: return software(codec, direction, reason)
          case nil:
            let reason =
              state.hasEnded ? "no hardware offers it" : state.hasStarted ? "hardware is being tried" : "hardware was not looked for"
            return software(codec, direction, reason)
          }
        }
      }
    }
  }

  private func software(_ codec: VideoCodec, _ direction: CodecChoice.Direction, _ reason: String) -> CodecChoice {
    CodecChoice(
      codec: codec, direction: direction, implementation: CodecFactory.softwareName(codec), isHardware: false, reason: reason)
  }

  func videoEncoder(_ codec: VideoCodec, settings: VideoEncoderSettings) throws(CodecError) -> any VideoEncoder {
    guard let device = device(codec, .encode) else { return try CodecFactory.softwareEncoder(codec, settings: settings) }
    return try FallbackEncoder(codec, settings: settings, device: device, patience: patience) { [self] in
      note($0, of: device, codec, .encode)
    }
  }

  func videoDecoder(_ codec: VideoCodec, threadCount: Int) throws(CodecError) -> any VideoDecoder {
    guard let device = device(codec, .decode) else { return try CodecFactory.softwareDecoder(codec, threadCount: threadCount) }
    return FallbackDecoder(codec, threadCount: threadCount, device: device, patience: patience) { [self] in
      note($0, of: device, codec, .decode)
    }
  }

  private func device(_ codec: VideoCodec, _ direction: CodecChoice.Direction) -> (any CodingDevice)? {
    state.withLock { state in
      guard case .hardware(let device)? = state.standings[Key(codec: codec, direction: direction)] else { return nil }
      return device
    }
  }

  /// Software took over in a call.
  private func note(_ failure: HardwareFailure, of device: any CodingDevice, _ codec: VideoCodec, _ direction: CodecChoice.Direction) {
    Log.warning("\(codec.rawValue), \(direction.rawValue): software takes over, since \(device.name) \(failure)")
    guard failure.isLasting else { return }
    state.withLock { $0.standings[Key(codec: codec, direction: direction)] = .software(reason: "\(device.name) \(failure)") }
  }

  private func probe() {
    let find = find
    let finder = CodecWorker<Void, [any CodingDevice]>(name: "parlor-probe") { { _ in find() } }
    let devices = finder.perform((), within: patience.probe)
    for codec in VideoCodec.allCases {
      for direction in CodecChoice.Direction.allCases {
        let standing =
          devices.map { self.standing($0, codec, direction) } ?? .software(reason: "hung: a driver does not say what it offers")
        state.withLock { $0.standings[Key(codec: codec, direction: direction)] = standing }
      }
    }
    state.withLock { $0.hasEnded = true }
    for choice in choices {
      Log.info("\(choice.codec.rawValue), \(choice.direction.rawValue): \(choice.implementation), since \(choice.reason)")
    }
  }

  private func standing(_ devices: [any CodingDevice], _ codec: VideoCodec, _ direction: CodecChoice.Direction) -> Standing {
    var faults: [String] = []
    for device in devices where device.supports(codec, direction) {
      guard let fault = CodecProbe.fault(of: device, codec, direction, within: patience.probe) else { return .hardware(device) }
      faults.append("\(device.name) \(fault)")
    }
    return .software(reason: faults.isEmpty ? "no hardware offers it" : faults.joined(separator: "; "))
  }
}
