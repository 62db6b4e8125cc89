import Base
import Camera
import Foundation
import Frames
import Glibc
import Stage
import Synchronization

/// A stage with known contents.
final class Trial: Sendable {
  private let stage: Stage
  private let thread: StageThread
  private let preferences: Mutex<DisplayPreferences>
  private let flips = FlipLog()
  private let scene = Mutex("black")
  private let memory: String
  private let camera = Mutex<DeviceCamera?>(nil)

  /// What the flips tell.
  final class FlipLog: Sendable {
    let content = Mutex((frames: 0, flips: 0, latencies: [Double]()))
    func take(_ flip: Flip) {
      content.withLock { content in
        content.flips += 1
        let shown = ([flip.remote?.frame].compactMap { $0 } + flip.videos.map(\.frame)).first
        guard let shown, let ready = shown.ledger[.decode], let present = shown.ledger[.present] else { return }
        content.frames += 1
        content.latencies.append((present - ready).seconds * 1_000)
      }
    }
  }

  init(_ arguments: ArraySlice<String>) {
    var options: [String: String] = [:]
    var rest = Array(arguments)
    while rest.count > 1 {
      options[rest[0]] = rest[1]
      rest.removeFirst(2)
    }
    var settings = DisplaySettings(card: options["--card"])
    settings.preferences.connector = options["--connector"]
    settings.preferences.mode = options["--mode"].flatMap { RequestedMode($0) }
    settings.preferences.rotation = options["--rotate"].flatMap(Int.init).flatMap { VideoFrame.Rotation(rawValue: $0) } ?? .none
    settings.preferences.outputs = options["--outputs"] == "one" ? .one : .all
    settings.usesAtomic = options["--modesetting"] != "legacy"
    memory = options["--memory"] ?? "/dev/dri/card1"
    preferences = Mutex(settings.preferences)
    let headless = options["--stage"].flatMap { $0.hasPrefix("headless:") ? RequestedMode(String($0.dropFirst(9))) : nil }
    let mode = headless ?? settings.preferences.mode ?? RequestedMode(width: 640, height: 480)
    stage = Stage(width: mode.width, height: mode.height, refreshRate: mode.rate ?? 60, rotation: settings.preferences.rotation)
    stage.setGamma(options["--gamma"].flatMap(Double.init))
    let flips = flips
    thread = StageThread(stage: stage, display: headless == nil ? settings : nil, onFlip: { flips.take($0) })
    thread.start()
  }

  func stop() { thread.stop() }

  private static func now() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// Does what a line asks for; nil ends the trial.
  func answer(_ line: String) -> String? {
    let words = line.split(separator: " ").map(String.init)
    switch (words.first ?? "", words.dropFirst().first) {
    case ("quit", _): return nil
    case ("scene", let name?):
      scene.withLock { $0 = name }
      do {
        return try show(name) ? status() : json(["error": "no scene \(name)"])
      } catch {
        return json(["error": "\(error)"])
      }
    case ("next", let fence): return next(fence: fence)
    case ("finish", _):
      let flips = stage.displayStatus.flips
      return json(["flips": flips, "expired": camera.withLock { $0?.finish() } != true])
    case ("picture", let file?):
      do {
        try Data(stage.screenshot()).write(to: URL(fileURLWithPath: file))
        return json(["picture": file, "width": stage.width, "height": stage.height])
      } catch {
        return json(["error": "\(error)"])
      }
    case ("status", _): return status()
    case ("blank", let state?):
      stage.setBlanked(state == "on")
      return status()
    case ("mode", let mode?):
      change { $0.mode = RequestedMode(mode) }
      return status()
    case ("rotate", let turn?):
      change { $0.rotation = VideoFrame.Rotation(rawValue: Int(turn) ?? 0) ?? .none }
      return status()
    case ("outputs", let outputs?):
      change { $0.outputs = outputs == "one" ? .one : .all }
      return status()
    case ("play", let seconds?): return play(Double(seconds) ?? 1)
    default: return json(["error": "what is \"\(line)\"?"])
    }
  }

  private func change(_ body: (inout DisplayPreferences) -> Void) {
    let new = preferences.withLock { preferences in
      body(&preferences)
      return preferences
    }
    stage.setDisplay(new)
  }

  // MARK: What is shown

  private static let video = VideoIdentifier(rawValue: 7)
  private static let pictures = (0..<4).map { index -> VideoFrame in SyntheticCamera(width: 640, height: 360).frame(at: index * 5) }

  private func show(_ name: String) throws -> Bool {
    if name == "device" {
      let new = try DeviceCamera(path: memory, width: stage.width, height: stage.height)
      camera.withLock { $0 = new }
    }
    stage.removeRemote()
    stage.removeSelfView()
    switch name {
    case "black": stage.update(layers: LayersUpdate(layers: [], isRearranged: true))
    case "call":
      stage.update(layers: LayersUpdate(layers: [], isRearranged: true))
      stage.show(selfView: Self.pictures[1])
      put(0)
    case "device":
      stage.update(layers: LayersUpdate(layers: [], isRearranged: true))
      put(0)
    case "page", "window", "static":
      let layer = page(hasVideo: name != "static", bar: name == "window" ? 0xFF60_2020 : 0x8060_2020)
      stage.update(layers: LayersUpdate(layers: [layer], isRearranged: true))
      put(0)
      stage.frameArrived()
    default: return false
    }
    return true
  }

  /// The next frame of the camera with the device's memory.
  private func next(fence kind: String?) -> String {
    guard let camera = camera.withLock({ $0 }) else { return json(["error": "the scene is another one"]) }
    let fence: Int32 = kind == "finished" ? camera.finishedFence() : kind == "unfinished" ? camera.unfinishedFence() : -1
    guard kind == nil || fence >= 0 else { return json(["error": "there is no such fence: \(String(cString: strerror(errno)))"]) }
    guard let (frame, index) = camera.frame(fence: fence) else { return json(["error": "no buffer is free"]) }
    stage.show(remote: ready(frame))
    return json(["index": index, "flips": stage.displayStatus.flips])
  }

  private func ready(_ frame: VideoFrame) -> VideoFrame {
    var frame = frame
    frame.ledger[.decode] = Trial.now()
    return frame
  }

  private func put(_ index: Int) {
    if scene.withLock({ $0 }) == "device" {
      if let (frame, _) = camera.withLock({ $0?.frame() }) { stage.show(remote: ready(frame)) }
      return
    }
    let frame = ready(Self.pictures[index % Self.pictures.count])
    if scene.withLock({ $0 }) == "call" { stage.show(remote: frame) } else { stage.show(frame, in: Self.video) }
  }

  /// A page with a bar above and below, and a video between them. `bar` is the colour of the one below.
  private func page(hasVideo: Bool, bar: UInt32) -> SurfaceLayer {
    let (width, height) = (stage.width, stage.height)
    let bitmap = SurfaceBitmap(width: width, height: height)
    func fill(_ area: Rectangle, _ value: UInt32) {
      for y in area.y..<area.y + area.height {
        let row = UnsafeMutableRawPointer(bitmap.pixels + y * bitmap.stride).assumingMemoryBound(to: UInt32.self)
        for x in area.x..<area.x + area.width { row[x] = value }
      }
    }
    fill(Rectangle(x: 0, y: 0, width: width, height: height / 10), 0xFF20_4060)
    fill(Rectangle(x: width / 4, y: height - height / 6, width: width / 2, height: height / 10), bar)
    for button in 0..<5 {
      fill(
        Rectangle(x: width / 4 + button * width / 10 + 4, y: height - height / 6 + 4, width: width / 12, height: height / 10 - 8),
        0xFFE0_E0D0)
    }
    let placement = VideoPlacement(
      video: Self.video, width: 640, height: 360, map: .translation(x: Double((width - 640) / 2), y: Double((height - 360) / 2)),
      fit: .contain)
    return SurfaceLayer(
      identifier: 1, bitmap: bitmap, target: Rectangle(x: 0, y: 0, width: width, height: height), videos: hasVideo ? [placement] : [],
      canvas: Color(red: 16, green: 24, blue: 32))
  }

  /// Shows 30 frames a second, and tells what became of them.
  private func play(_ seconds: Double) -> String {
    let (before, missed) = (flips.content.withLock { $0 }, stage.displayStatus.missedFlips)
    flips.content.withLock { $0.latencies.removeAll() }
    let start = Trial.now()
    let count = Int(seconds * 30)
    for index in 0..<count {
      put(index)
      let wait = start + .seconds(Double(index + 1) / 30) - Trial.now()
      if wait.nanoseconds > 0 { usleep(UInt32(wait.nanoseconds / 1_000)) }
    }
    let after = flips.content.withLock { $0 }
    let latencies = after.latencies.sorted()
    func percentile(_ share: Double) -> Double { latencies.isEmpty ? 0 : latencies[Int(Double(latencies.count - 1) * share)] }
    let work = stage.statistics.composition
    func milliseconds(_ length: Interval?) -> Double { (length?.seconds ?? 0) * 1_000 }
    return json([
      "compose_ms": ["p50": milliseconds(work?.p50), "p95": milliseconds(work?.p95), "max": milliseconds(work?.max)],
      "frames": count, "shown": after.frames - before.frames, "flips": after.flips - before.flips,
      "missed": stage.displayStatus.missedFlips - missed, "ready_to_flip_ms": ["p50": percentile(0.5), "p95": percentile(0.95)],
    ])
  }

  private func status() -> String {
    let status = stage.displayStatus
    return json([
      "output": status.outputs.joined(separator: " "), "mode": status.mode, "source": status.modeSource,
      "rotation": status.rotation.rawValue,
      "planes": status.planes, "flips": status.flips, "missed": status.missedFlips, "blanked": status.isBlanked, "driver": status.driver,
      "width": stage.width, "height": stage.height, "problem": status.problem.map { "\($0)" } ?? "", "copied": status.planeFrames.copied,
      "imported": status.planeFrames.imported, "held": camera.withLock { $0?.heldCount } ?? 0, "scene": scene.withLock { $0 },
    ])
  }

  private func json(_ values: [String: Any]) -> String {
    guard let data = try? JSONSerialization.data(withJSONObject: values, options: [.sortedKeys]) else { return "{}" }
    return String(decoding: data, as: UTF8.self)
  }
}
