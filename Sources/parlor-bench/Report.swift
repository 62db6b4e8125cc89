import Foundation

/// Prints figures, as JSON or as a table.
enum Report {
  static func json(_ figures: [Figure]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(figures), as: UTF8.self)
  }

  static func table(_ figures: [Figure]) -> String {
    var rows = [["", "metric", "value", "spread", "reference", "", "ratio", "bound"]]
    for figure in figures {
      rows.append([
        figure.name, figure.metric, "\(number(figure.value)) \(figure.unit)", "±\(number(figure.spread / 2))",
        figure.reference.map { number($0.value) } ?? "", figure.reference?.name ?? "", figure.ratio.map { number($0) } ?? "",
        figure.bound.map { text($0, figure.isKept) } ?? "",
      ])
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ").trimmingEnd()
    }.joined(separator: "\n")
  }

  private static func text(_ bound: Figure.Bound, _ isKept: Bool?) -> String {
    let limit =
      switch bound {
      case .atLeast(let limit): "≥ \(number(limit))"
      case .atMost(let limit): "≤ \(number(limit))"
      }
    return limit + (isKept.map { $0 ? " kept" : " NOT KEPT" } ?? " unknown")
  }

  /// Three digits that count.
  private static func number(_ value: Double) -> String {
    switch abs(value) {
    case 100...: Int(value.rounded()).formatted(.number.grouping(.automatic).locale(Locale(identifier: "en_US")))
    case 10..<100: String(format: "%.1f", value)
    default: String(format: "%.2f", value)
    }
  }
}

extension String {
  func trimmingEnd() -> String {
    var part = self[...]
    while part.last == " " { part = part.dropLast() }
    return String(part)
  }
}
