/// Finds the name that somebody probably meant.
public enum NearestName {
  /// The candidate with the fewest typing errors from `name`, the longest of several; nil when none is near enough to be meant.
  public static func find(_ name: String, among candidates: some Sequence<String>) -> String? {
    let limit = min(4, max(1, name.count / 3))
    let ranked = candidates.map { (candidate: $0, distance: distance(name, $0)) }.filter { $0.distance <= limit }
    // Letters are forgotten more often than replaced.
    return ranked.min { ($0.distance, -$0.candidate.count, $0.candidate) < ($1.distance, -$1.candidate.count, $1.candidate) }?.candidate
  }

  /// Insertions, deletions, replacements and swaps of neighbours that lead from one text to the other (optimal string alignment).
  static func distance(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a.lowercased().prefix(64)), Array(b.lowercased().prefix(64)))
    var older: [Int] = []
    var old = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var best = min(old[j] + (a[i] == b[j] ? 0 : 1), old[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, older[j - 1] + 1) }
        row.append(best)
      }
      (older, old) = (old, row)
    }
    return old[b.count]
  }
}
