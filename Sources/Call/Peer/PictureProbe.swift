import Base
import Camera
import Frames
import Net

/// Looks at received pictures: reads their time codes and holds them against what the synthetic camera showed. Usable from any thread.
public final class PictureProbe: Sendable {
  /// What was seen.
  public struct Findings: Sendable {
    /// Pictures that came.
    public var frames = 0
    /// Pictures whose time code could be read.
    public var timeCodes = 0
    /// Mean luma PSNR in dB over the pictures that were compared; nil when none was.
    public var lumaPSNR: Double? { compared > 0 ? sum / Double(compared) : nil }
    /// The worst of them.
    public var worstPSNR: Double?
    /// Milliseconds from a picture's time code to its arrival here: meaningful where both ends share a clock.
    public var latencies: [Double] = []
    /// When the first picture came.
    public var firstFrame: Instant?
    public var (width, height) = (0, 0)
    var compared = 0
    var sum = 0.0
  }

  private struct State {
    var findings = Findings()
    var reference: SyntheticCamera?
    var writer: Recording?
    var lastIndex: UInt32?
  }

  /// A file being written, kept where a closure can reach it.
  private final class Recording {
    var file: Y4MWriter
    init(_ file: consuming Y4MWriter) { self.file = file }
  }

  private let state = Guarded(State())
  private let recording: (path: String, framesPerSecond: Int)?
  /// Comparing costs time: one picture in this many is compared.
  private let interval: Int

  /// A probe; with `recording`, the pictures go into that Y4M file too.
  public init(comparingEvery interval: Int = 5, recording: String? = nil, framesPerSecond: Int = 30) {
    self.interval = interval
    self.recording = recording.map { ($0, framesPerSecond) }
  }

  /// Looks at a picture shown at `time`.
  public func look(at frame: VideoFrame, time: Instant) {
    state.with { state in
      state.findings.frames += 1
      (state.findings.width, state.findings.height) = (frame.width, frame.height)
      if state.findings.firstFrame == nil { state.findings.firstFrame = time }
      record(frame.buffer, &state)
      guard let code = TimeCode.read(from: frame.buffer) else { return }
      state.findings.timeCodes += 1
      let shown = UInt64(time.nanoseconds / 1_000_000)
      state.findings.latencies.append(Double(Int64(bitPattern: shown &- code.milliseconds)))
      if state.findings.frames % interval == 0 { compare(frame.buffer, code, &state) }
    }
  }

  private func compare(_ buffer: VideoBuffer, _ code: TimeCode, _ state: inout State) {
    if state.reference?.width != buffer.width || state.reference?.height != buffer.height {
      state.reference = SyntheticCamera(width: buffer.width, height: buffer.height)
    }
    guard let reference = state.reference else { return }
    let original = reference.frame(
      at: Int(code.index), captureTime: Instant(nanoseconds: Int64(truncatingIfNeeded: code.milliseconds) * 1_000_000))
    let ratio = lumaPSNR(original.buffer, buffer)
    state.findings.compared += 1
    state.findings.sum += ratio
    state.findings.worstPSNR = min(state.findings.worstPSNR ?? ratio, ratio)
  }

  private func record(_ buffer: VideoBuffer, _ state: inout State) {
    guard let recording else { return }
    do throws(CameraError) {
      if state.writer == nil {
        state.writer = Recording(
          try Y4MWriter(path: recording.path, width: buffer.width, height: buffer.height, framesPerSecond: recording.framesPerSecond))
      }
      try state.writer?.file.write(buffer)
    } catch {
      Log.error("the recording fails: \(error)")
    }
  }

  /// What was seen so far.
  public var findings: Findings { state.with { $0.findings } }
}
