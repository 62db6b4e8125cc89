import Base
import Glibc
import Synchronization
import Testing

@testable import Stage

@Suite struct KMSDisplaySuspensionTests {
  private final class Attempts: Sendable { let count = Atomic(0) }

  @Test func whileAnotherTerminalIsShownTheCardIsLeftAlone() {
    let attempts = Attempts()
    let display = KMSDisplay(preferences: DisplayPreferences()) { () throws(DRMError) -> any DRMDevice in
      attempts.count.add(1, ordering: .relaxed)
      throw DRMError(operation: "/dev/dri/card0", code: ENOENT)
    }
    display.dispatch(now: .zero)
    #expect(attempts.count.load(ordering: .relaxed) == 1)
    display.suspend()
    display.dispatch(now: .zero + .seconds(60))
    display.setPreferences(DisplayPreferences(outputs: .one), now: .zero + .seconds(60))
    #expect(attempts.count.load(ordering: .relaxed) == 1 && display.status.problem == .busy && display.deadline == nil)
    display.resume()
    display.dispatch(now: .zero + .seconds(61))
    #expect(attempts.count.load(ordering: .relaxed) == 2)
  }
}
