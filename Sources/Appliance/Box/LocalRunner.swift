import Base
import Call
import FoundationEssentials
import Stage

/// Runs the verbs that place calls in this process.
public struct LocalRunner: Runner {
  private let output: Verbs.Output
  private let progress: @Sendable (String) -> Void

  /// A runner that writes results to `output` and each step to `progress`.
  public init(output: @escaping Verbs.Output, progress: @escaping @Sendable (String) -> Void) {
    (self.output, self.progress) = (output, progress)
  }

  public func run(_ options: RunOptions) async throws(VerbFailure) -> ExitCode {
    Log.install(level: .notice) { [progress] level, text in progress("<\(level.rawValue)>\(text)") }
    let signals = TerminationSignals()
    let box = try await Box(options)
    await signals.wait()
    Log.notice("stopping")
    await box.stop()
    return .ok
  }

  public func demo(_ options: DemoOptions) async throws(VerbFailure) -> ExitCode {
    Log.install(level: .warning) { [progress] _, text in progress(text) }
    var settings = Demo.Options()
    settings.seconds = Double(options.seconds)
    let figures: Demo.Measurement
    do {
      figures =
        options.isDirect
        ? try await Demo(options: settings, progress: progress).run() : try await PageDemo(options: settings, progress: progress).run()
    } catch {
      throw VerbFailure(.unavailable, "the demo failed: \(error)")
    }
    var result = figures.result
    try Verbs.write(figures.png, to: options.screenshot, output: output)
    result.screenshot = options.screenshot
    if options.isJSON {
      _ = output(try LocalRunner.json(result))
    } else if options.screenshot != "-" {
      _ = output(Array(LocalRunner.text(result).utf8))
    }
    return .ok
  }

  public func peer(_ options: PeerOptions) async throws(VerbFailure) -> ExitCode {
    Log.install(level: .warning) { [progress] _, text in progress(text) }
    do {
      return ExitCode(rawValue: try await PeerProgram.run(options)) ?? .internalError
    } catch {
      throw VerbFailure(.usage, "\(error)")
    }
  }

  private static func json(_ value: some Encodable) throws(VerbFailure) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      return Array(try encoder.encode(value)) + [10]
    } catch {
      throw VerbFailure(.internalError, "the figures cannot be written as JSON: \(error)")
    }
  }

  private static func text(_ result: Demo.Result) -> String {
    func rounded(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
    let lines: [(String, String)] = [
      ("connected after", "\(rounded(result.connectMilliseconds)) ms"),
      ("first picture after", "\(rounded(result.firstFrameMilliseconds)) ms"),
      ("pictures", "\(result.framesSent) sent, \(result.framesShown) shown, \(rounded(result.framesPerSecond)) a second"),
      (
        "camera to screen",
        "\(rounded(result.captureToDisplay.p50)) ms (95 %: \(rounded(result.captureToDisplay.p95)), 99 %: \(rounded(result.captureToDisplay.p99)))"
      ),
      ("sound delay", result.audioDelayMilliseconds.map { "\(rounded($0)) ms" } ?? "no click was heard"),
      ("bitrate", "\(Int(result.bitrateKilobits.rounded())) kbit/s, \(result.codec)"),
      (
        "both ends together",
        "\((result.processorCores * 100).rounded() / 100) processor cores" + (result.memoryMebibytes.map { ", \(rounded($0)) MiB" } ?? "")
      ), ("the screen", result.screenshot),
    ]
    return lines.map { $0.0 + String(repeating: " ", count: 21 - $0.0.count) + $0.1 + "\n" }.joined()
  }
}
