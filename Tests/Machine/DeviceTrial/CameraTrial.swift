import Base
import Call
import Camera
import Foundation
import Frames
import Net
import Synchronization

/// A camera on the thread that calls have it on.
final class CameraTrial {
  private let thread: CameraThread?
  private let seen = Seen()

  init(_ options: Options) {
    thread = options.camera.map { CameraThread(settings: $0) }
    _ = thread?.pictures.add { [seen] frame in seen.take(frame) }
  }

  /// What comes of a line; nil: it is not one for a camera.
  func answer(_ command: String, _ value: String) throws -> [String: Any]? {
    switch command {
    case "pictures": return seen.next(Int(value) ?? 1)
    case "picture":
      guard let buffer = seen.newest else { return ["error": "no picture yet"] }
      try Data(CameraTrial.planes(of: buffer)).write(to: URL(fileURLWithPath: value))
      return ["width": buffer.width, "height": buffer.height]
    default: return nil
    }
  }

  /// Luma and both chroma planes, without gaps.
  private static func planes(of buffer: VideoBuffer) -> [UInt8] {
    var bytes: [UInt8] = []
    func append(_ start: UnsafeMutablePointer<UInt8>, _ stride: Int, _ width: Int, _ height: Int) {
      for row in 0..<height { bytes.append(contentsOf: UnsafeBufferPointer(start: start + row * stride, count: width)) }
    }
    append(buffer.luma, buffer.lumaStride, buffer.width, buffer.height)
    append(buffer.chromaU, buffer.chromaStride, buffer.chromaWidth, buffer.chromaHeight)
    append(buffer.chromaV, buffer.chromaStride, buffer.chromaWidth, buffer.chromaHeight)
    return bytes
  }

  /// How it stands.
  var status: [String: Any] {
    guard let thread else { return [:] }
    let (state, statistics) = (thread.watch.state, thread.statistics)
    var name = ""
    if case .running(let running) = state { name = running }
    return [
      "camera": [
        "state": state.word, "reason": state.reason ?? "", "name": name, "identifier": statistics.identifier ?? "",
        "format": statistics.format ?? "", "width": statistics.width, "height": statistics.height, "rate": statistics.nominalRate,
        "frames": statistics.figures.frames,
        "discards": Dictionary(uniqueKeysWithValues: statistics.figures.discards.map { ($0.key.rawValue, $0.value) }),
      ] as [String: Any]
    ]
  }

  func stop() { thread?.stop() }
}

/// Pictures as they came.
private final class Seen: Sendable {
  private struct Pictures {
    var newest: VideoBuffer?
    var wanted = 0
    /// The number and time on the strip, -1 for one without; and the ages.
    var numbers: [Int] = []
    var ages: [Double] = []
    var strips: [Double] = []
  }

  private let pictures = Mutex(Pictures())

  var newest: VideoBuffer? { pictures.withLock { $0.newest } }

  func take(_ frame: VideoFrame) {
    let now = MonotonicClock.now()
    let code = TimeCode.read(from: frame.buffer)
    pictures.withLock { pictures in
      pictures.newest = frame.buffer
      guard pictures.wanted > 0 else { return }
      pictures.wanted -= 1
      pictures.numbers.append(code.map { Int($0.index) } ?? -1)
      guard let captured = frame.ledger[.capture] else { return }
      pictures.ages.append((now - captured).milliseconds)
      if let code { pictures.strips.append(Double(captured.nanoseconds) / 1e6 - Double(code.milliseconds)) }
    }
  }

  /// The next so many pictures: the numbers on them, how old each was by the driver's time when it got here, and how long after it was drawn the driver's
  /// time was, in milliseconds.
  func next(_ count: Int) -> [String: Any] {
    pictures.withLock { pictures in
      (pictures.numbers, pictures.ages, pictures.strips) = ([], [], [])
      pictures.wanted = count
    }
    let end = MonotonicClock.now() + .seconds(60)
    while pictures.withLock({ $0.wanted > 0 }), MonotonicClock.now() < end { usleep(5_000) }
    return pictures.withLock { pictures in
      pictures.wanted = 0
      return ["numbers": pictures.numbers, "ages_ms": pictures.ages, "drawn_before_ms": pictures.strips]
    }
  }
}
