import Base
import Frames
import Glibc
import Stage

/// What the machine tests see of input: `input-trial [--size WxH] [--rotate N] [--call-key CODE] [--gpio CHIP:LINE]` writes a line for each
/// action that comes of the machine's devices, and for each device that comes or goes, and takes commands, one a line:
///
///     blank on|off      rotate N      suspend      resume
@main struct InputTrial {
  private let devices: InputDevices
  private var translator: InputTranslator
  private var typed: [UInt8] = []

  static func main() {
    Log.install(level: .info) { level, text in InputTrial.say("\(level): \(text)", to: 2) }
    guard var trial = InputTrial(Array(CommandLine.arguments.dropFirst())) else {
      say("usage: input-trial [--size WxH] [--rotate N] [--call-key CODE] [--gpio CHIP:LINE]", to: 2)
      exit(64)
    }
    trial.run()
  }

  init?(_ arguments: [String]) {
    guard arguments.count.isMultiple(of: 2) else { return nil }
    var screen = InputScreen(width: 1_000, height: 500)
    var keys: Set<UInt32> = []
    var line: GPIOLine?
    for index in stride(from: 0, to: arguments.count, by: 2) {
      let value = arguments[index + 1]
      switch arguments[index] {
      case "--size":
        let sizes = value.split(separator: "x").compactMap { Int($0) }
        guard sizes.count == 2 else { return nil }
        (screen.width, screen.height) = (sizes[0], sizes[1])
      case "--rotate":
        guard let rotation = Int(value).flatMap(VideoFrame.Rotation.init) else { return nil }
        screen.rotation = rotation
      case "--call-key":
        guard let code = UInt32(value) else { return nil }
        keys.insert(code)
      case "--gpio":
        let parts = value.split(separator: ":")
        guard parts.count == 2, let number = UInt32(parts[1]) else { return nil }
        line = GPIOLine(chip: String(parts[0]), line: number)
      default: return nil
      }
    }
    devices = InputDevices(callKeys: keys, callButton: line)
    translator = InputTranslator(screen: screen, callKeys: keys)
  }

  private static func say(_ text: String, to descriptor: Int32 = 1) {
    let bytes = Array((text + "\n").utf8)
    _ = unsafe write(descriptor, bytes, bytes.count)
  }

  private static var now: Instant {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  private mutating func run() {
    InputTrial.say("ready")
    var (events, actions): ([DeviceEvent], [InputAction]) = ([], [])
    while true {
      devices.dispatch(now: InputTrial.now, into: &events)
      for event in events {
        translator.take(event, into: &actions)
        for action in actions { InputTrial.say(InputTrial.line(action)) }
        actions.removeAll()
        switch event.kind {
        case .added(let can):
          let parts = [(can.isKeyboard, "keyboard"), (can.isPointer, "pointer"), (can.isTouchScreen, "touchscreen")]
          InputTrial.say("added " + parts.filter(\.0).map(\.1).joined(separator: " "))
        case .removed: InputTrial.say("removed")
        default: break
        }
      }
      events.removeAll()
      var descriptors = [
        pollfd(fd: devices.descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: 0, events: Int16(POLLIN), revents: 0),
      ]
      let rest = devices.deadline.map { max(0, ($0 - InputTrial.now).nanoseconds / 1_000_000 + 1) } ?? 1_000
      _ = unsafe poll(&descriptors, 2, Int32(min(1_000, rest)))
      guard descriptors[1].revents == 0 || readCommands() else { return }
    }
  }

  /// Returns false at the end of the input.
  private mutating func readCommands() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = unsafe read(0, &bytes, bytes.count)
    guard count > 0 else { return false }
    typed += bytes.prefix(count)
    while let end = typed.firstIndex(of: UInt8(ascii: "\n")) {
      command(String(decoding: typed[..<end], as: UTF8.self))
      typed.removeFirst(end + 1)
    }
    return true
  }

  private mutating func command(_ text: String) {
    let words = text.split(separator: " ").map(String.init)
    switch (words.first, words.last) {
    case ("blank", let state?): translator.isBlanked = state == "on"
    case ("rotate", let angle?): translator.screen.rotation = Int(angle).flatMap(VideoFrame.Rotation.init) ?? .none
    case ("suspend", _): devices.suspend()
    case ("resume", _): devices.resume()
    default: InputTrial.say("unknown command")
    }
    InputTrial.say("did \(text)")
  }

  private static func line(_ action: InputAction) -> String {
    func rounded(_ values: Double...) -> String { values.map { "\(Int($0.rounded()))" }.joined(separator: " ") }
    switch action {
    case .input(let input):
      switch input {
      case .pointerMotion(let x, let y): return "pointer \(rounded(x, y))"
      case .pointerButton(let code, let isPressed): return "button \(code) \(isPressed)"
      case .pointerAxis(let horizontal, let vertical): return "scroll \(rounded(horizontal, vertical))"
      case .touchDown(let id, let x, let y): return "touch \(id) down \(rounded(x, y))"
      case .touchMotion(let id, let x, let y): return "touch \(id) move \(rounded(x, y))"
      case .touchUp(let id): return "touch \(id) up"
      case .touchCancel(let id): return "touch \(id) cancel"
      case .key(let code, let isPressed): return "key \(code) \(isPressed)"
      case .text(let text): return "text \(text)"
      }
    case .wake: return "wake"
    case .callKey: return "call"
    case .volume(let step): return "volume \(step)"
    case .keyboardAttached(let isAttached): return "keyboard \(isAttached)"
    }
  }
}
