import Base
import Testing

@testable import Stage

@Suite struct ContactFilterTests {
  private func time(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  @Test func bouncesAreOnePress() {
    var contact = ContactFilter(isClosed: false, patience: .milliseconds(30))
    for (at, isClosed) in [(Int64(0), true), (2, false), (3, true), (9, false), (10, true)] {
      #expect(contact.advance(to: time(at)) == nil)
      contact.edge(isClosed: isClosed, at: time(at))
    }
    #expect(contact.deadline == time(40))
    #expect(contact.advance(to: time(39)) == nil)
    #expect(contact.advance(to: time(40)) == true)
    #expect(contact.deadline == nil && contact.advance(to: time(500)) == nil)
    contact.edge(isClosed: false, at: time(500))
    #expect(contact.advance(to: time(530)) == false)
  }

  @Test func spikeIsNoPress() {
    var contact = ContactFilter(isClosed: false, patience: .milliseconds(30))
    contact.edge(isClosed: true, at: time(0))
    contact.edge(isClosed: false, at: time(5))
    #expect(contact.deadline == nil && contact.advance(to: time(100)) == nil && !contact.isClosed)
  }

  @Test func contactThatIsClosedFromTheStartWasNotPressed() {
    var contact = ContactFilter(isClosed: true, patience: .milliseconds(30))
    #expect(contact.deadline == nil && contact.advance(to: time(100)) == nil)
    contact.edge(isClosed: false, at: time(100))
    #expect(contact.advance(to: time(130)) == false)
    contact.edge(isClosed: true, at: time(200))
    #expect(contact.advance(to: time(230)) == true)
  }

  @Test func kernelThatTakesTheBouncesOutIsBelievedAtOnce() {
    var contact = ContactFilter(isClosed: false, patience: .zero)
    contact.edge(isClosed: true, at: time(7))
    #expect(contact.advance(to: time(7)) == true)
  }
}
