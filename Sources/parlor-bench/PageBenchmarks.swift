import Foundation

/// What a page call costs, beside the same page in Chromium: a fresh program for each run of either.
enum PageBenchmarks {
  private static let seconds = 6.0

  static func run(_ settings: Benchmark.Settings) async throws -> [Figure] {
    let runs = settings.runs ?? 3
    var (ours, theirs): ([Values], [Values]) = ([], [])
    for _ in 0..<runs {
      // In turn, so that both meet the same weather.
      if let values = try await measure(.chromium) { theirs.append(values) }
      guard let values = try await measure(.parlor) else { continue }
      ours.append(values)
    }
    func figure(_ metric: String, _ unit: String, _ value: (Values) -> Double, _ bound: Figure.Bound? = nil) -> Figure {
      let (mine, other) = (Samples(values: ours.map(value)), Samples(values: theirs.map(value)))
      let reference = other.values.isEmpty ? nil : Figure.Reference(name: "Chromium, the same page", value: other.median)
      return Figure(
        name: "call-page", metric: metric, value: mine.median, unit: unit, reference: reference,
        ratio: reference == nil ? nil : Samples(values: zip(mine.values, other.values).map { $0 / $1 }).median, runs: mine.values.count,
        spread: mine.spread, bound: bound)
    }
    var cost = figure("100 calls of the API a second, added", "cores", \.callCost, .atMost(0.05))
    // The goal is one of the machine's share, whatever the other program needs.
    cost.ratio = nil
    cost.needsReference = false
    return [
      figure("offer to connected, first call", "ms", \.connect, .atMost(1)),
      figure("offer to first picture, first call", "ms", \.picture, .atMost(1)),
      figure("memory of all processes in a call", "MiB", \.memory, .atMost(0.5)),
      figure("processors in a call, 640x360 at 30 a second", "cores", \.cores, .atMost(1)),
      figure("pictures received", "a second", \.frameRate),
      cost,
      figure("data channel, messages of 16 KiB", "Mbit/s", \.rate16, .atLeast(0.5)),
      figure("data channel, messages of 64 KiB", "Mbit/s", \.rate64, .atLeast(0.5)),
    ]
  }

  private struct Values {
    var connect, picture, memory, cores, frameRate, callCost, rate16, rate64: Double
  }

  private static func measure(_ program: MeasuredPage.Program) async throws -> Values? {
    guard let call = try await MeasuredPage.run(program, job: "call", seconds: seconds, until: "end"),
      let bridge = try await MeasuredPage.run(program, job: "bridge", seconds: seconds, until: "done")
    else { return nil }
    func step(_ steps: [String: MeasuredPage.Step], _ name: String) throws -> MeasuredPage.Step {
      guard let step = steps[name] else { throw Benchmark.Failure(description: "the page did not tell of \"\(name)\"") }
      return step
    }
    func cores(_ steps: [String: MeasuredPage.Step], _ first: String, _ last: String) throws -> Double {
      let (start, end) = (try step(steps, first), try step(steps, last))
      return (end.processes.processorSeconds - start.processes.processorSeconds) / ((end.time - start.time) / .seconds(1))
    }
    let (seen, begin, end, rates) = (try step(call, "seen"), try step(call, "begin"), try step(call, "end"), try step(bridge, "rates"))
    func figure(_ step: MeasuredPage.Step, _ name: String) -> Double { step.figures[name] ?? .nan }
    if ProcessInfo.processInfo.environment["PARLOR_BENCH_DETAILS"] != nil {
      FileHandle.standardError.write(Data("\(program): MiB \(end.memory), \(figure(end, "width")) wide\n".utf8))
    }
    return Values(
      connect: figure(seen, "connect"), picture: figure(seen, "picture"), memory: end.processes.memoryMebibytes ?? .nan,
      cores: try cores(call, "begin", "end"),
      frameRate: (figure(end, "frames") - figure(begin, "frames")) / ((end.time - begin.time) / .seconds(1)),
      callCost: try cores(bridge, "calls begin", "calls end") - cores(bridge, "idle begin", "idle end"), rate16: figure(rates, "mbit16"),
      rate64: figure(rates, "mbit64"))
  }
}
