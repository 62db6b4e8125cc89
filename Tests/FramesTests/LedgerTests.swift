import Base
import Testing

@testable import Frames

struct LedgerTests {
  @Test func timesBetweenStages() {
    var ledger = Ledger()
    #expect(ledger.time(from: .capture, to: .present) == nil)
    ledger[.capture] = .zero + .milliseconds(5)
    ledger[.present] = .zero + .milliseconds(45)
    #expect(ledger.time(from: .capture, to: .present) == .milliseconds(40))
    ledger[.capture] = nil
    #expect(ledger[.capture] == nil)
    #expect(ledger != Ledger())
  }
}
