import Glibc

/// Measures work of ours beside the same work of a reference.
///
/// Both are measured in processor time of the calling thread, in turn, in short runs: what else the machine does then slows both alike, and
/// hardly shows in their ratio.
struct Comparison {
  /// The benchmark's name.
  var name: String
  /// What is measured.
  var metric: String
  /// What one operation is, in the plural: the unit is so many in a second.
  var operations: String
  /// What the reference is.
  var reference: String
  /// The least ratio that is good.
  var atLeast: Double?

  /// How much processor time one run takes at least.
  private static let runTime = 0.03

  /// `subject` and `reference` each do their work as often as told and return how many operations that was.
  func measure(runs: Int, subject: (_ rounds: Int) -> Int, reference work: (_ rounds: Int) -> Int) -> Figure {
    let rounds = max(Comparison.rounds(subject), Comparison.rounds(work))
    var (ours, theirs, ratios) = (Samples(), Samples(), Samples())
    for run in 0..<runs {
      // Neither is always the one that finds the caches cold.
      let first = run % 2 == 0
      let one = Comparison.speed(rounds, first ? subject : work)
      let other = Comparison.speed(rounds, first ? work : subject)
      ours.append(first ? one : other)
      theirs.append(first ? other : one)
      ratios.append(first ? one / other : other / one)
    }
    return Figure(
      name: name, metric: metric, value: ours.median, unit: "\(operations)/s", reference: .init(name: reference, value: theirs.median),
      ratio: ratios.median, runs: runs, spread: ours.spread, bound: atLeast.map { .atLeast($0) })
  }

  /// How many rounds make up a run: also what warms up.
  private static func rounds(_ work: (Int) -> Int) -> Int {
    var rounds = 1
    while true {
      let start = threadTime()
      _ = work(rounds)
      let time = threadTime() - start
      if time >= runTime { return rounds }
      rounds = time > runTime / 64 ? Int(Double(rounds) * runTime / time * 1.1) + 1 : rounds * 8
    }
  }

  private static func speed(_ rounds: Int, _ work: (Int) -> Int) -> Double {
    let start = threadTime()
    let operations = work(rounds)
    return Double(operations) / (threadTime() - start)
  }
}

/// Seconds of processor time that the calling thread has used, the kernel's work for it included.
func threadTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The same of all threads of this process.
func processTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Keeps the compiler from leaving out work whose result nobody wants.
@inline(never) func use<Value>(_ value: Value) {}
