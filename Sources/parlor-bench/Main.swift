import Foundation

/// `parlor-bench NAME [--json] [--runs N] [--camera NAME]`: measurements, each beside a reference that does the same work in the same run.
@main struct Main {
  private static let usage = """
    usage: parlor-bench NAME… [--json] [--runs N] [--camera NAME]

    Measures, and prints each figure beside what a reference needs for the same work in the same run. With --camera, "capture" measures the
    camera of that name, or any. Names:

    \((Benchmark.all.map { ($0.name, $0.summary) } + [("all", "all of these in turn")])
      .map { "  " + $0.padding(toLength: 16, withPad: " ", startingAt: 0) + $1 }.joined(separator: "\n"))

    """

  /// A command line, understood.
  private struct Command {
    var benchmarks: [Benchmark] = []
    var isJSON = false
    var settings = Benchmark.Settings()

    init(_ arguments: [String]) throws(Benchmark.Failure) {
      var rest = arguments[...]
      while let argument = rest.popFirst() {
        switch argument {
        case "--json": isJSON = true
        case "--runs":
          guard let runs = rest.popFirst().flatMap({ Int($0) }), (1...1_000).contains(runs) else {
            throw Benchmark.Failure(description: "--runs takes a number from 1 to 1000")
          }
          settings.runs = runs
        case "--camera":
          guard let name = rest.popFirst(), !name.isEmpty else {
            throw Benchmark.Failure(description: "--camera takes a camera's name, or any")
          }
          settings.camera = name
        case "all": benchmarks += Benchmark.all
        default:
          guard let benchmark = Benchmark.all.first(where: { $0.name == argument }) else {
            throw Benchmark.Failure(description: "there is no benchmark \"\(argument)\"")
          }
          benchmarks.append(benchmark)
        }
      }
      if benchmarks.isEmpty { throw Benchmark.Failure(description: "name a benchmark") }
    }
  }

  static func main() async {
    signal(SIGPIPE, SIG_IGN)
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.contains("--help") || arguments.contains("-h") {
      print(usage, terminator: "")
      return
    }
    if arguments.count == 2, arguments[0] == CallBenchmarks.callsOption, let count = Int(arguments[1]) {
      do { try await CallBenchmarks.printCalls(count) } catch {
        complain("parlor-bench: \(error)\n")
        exit(70)
      }
      return
    }
    let command: Command
    do throws(Benchmark.Failure) {
      command = try Command(arguments)
    } catch {
      complain("\(error)\n\n\(usage)")
      exit(64)
    }
    var figures: [Figure] = []
    var hasFailed = false
    for benchmark in command.benchmarks {
      do {
        figures += try await benchmark.run(command.settings)
      } catch {
        hasFailed = true
        complain("parlor-bench: \(benchmark.name): \(error)\n")
      }
    }
    do {
      print(command.isJSON ? try Report.json(figures) : Report.table(figures))
    } catch {
      complain("parlor-bench: \(error)\n")
      hasFailed = true
    }
    exit(hasFailed ? 70 : 0)
  }

  private static func complain(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
