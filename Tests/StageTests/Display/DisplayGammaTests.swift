import Base
import Testing

@testable import Stage

/// A monitor that is made lighter or darker while it shows a picture.
@Suite struct DisplayGammaTests {
  private let card = MockCard(MockPlanes.virtio, mode: TestCards.mode(64, 48, 60, isPreferred: true))
  private let display: KMSDisplay
  private let composer = Composer(width: 64, height: 48)

  init() {
    let card = card
    display = KMSDisplay(preferences: DisplayPreferences()) { card }
  }

  private func time(_ seconds: Double) -> Instant { .zero + .seconds(seconds) }

  /// Has the picture shown, and the flip over.
  private func show(at seconds: Double) {
    display.dispatch(now: time(seconds))
    if display.isShowing { display.show(composer, nil, now: time(seconds)) }
    display.dispatch(now: time(seconds))
  }

  @Test func itChangesWithoutSettingTheMode() throws {
    show(at: 0)
    #expect(card.gamma.isEmpty && display.status.gamma == 1)
    let modesets = card.modesetCount
    display.setGamma(0.5)
    let table = try #require(card.gamma[40])
    #expect(table.count == 256 && table[0] == 0 && table[255] == 65_535 && table[51] == 2_621)
    #expect(display.status.gamma == 0.5)
    display.setGamma(nil)
    #expect(card.gamma[40] == (0..<256).map { UInt16($0 * 257) } && display.status.gamma == 1)
    show(at: 1)
    #expect(card.modesetCount == modesets)
  }

  @Test func itIsThereAgainAfterDarkness() {
    show(at: 0)
    display.setGamma(0.7)
    display.setBlanked(true, now: time(1))
    card.forgetGamma()
    // A monitor that is off is left alone.
    display.setGamma(0.8)
    show(at: 2)
    #expect(card.gamma.isEmpty)
    display.setBlanked(false, now: time(3))
    show(at: 3)
    #expect(card.gamma[40] == GammaTables.entries(0.8, count: 256) && display.status.gamma == 0.8)
  }

  @Test func aMonitorThatComesLaterGetsIt() {
    card.isConnected = false
    display.setGamma(1.5)
    show(at: 0)
    #expect(card.gamma.isEmpty && display.status.gamma == nil)
    card.isConnected = true
    show(at: 10)
    #expect(card.gamma[40] == GammaTables.entries(1.5, count: 256))
    // Somebody else had the card meanwhile.
    display.suspend()
    #expect(display.status.gamma == nil)
    card.forgetGamma()
    display.resume()
    show(at: 20)
    #expect(card.gamma[40] == GammaTables.entries(1.5, count: 256) && display.status.gamma == 1.5)
  }

  @Test func aDriverWithoutATableIsLeftAlone() {
    card.gammaSize = 0
    display.setGamma(0.7)
    show(at: 0)
    display.setGamma(0.9)
    #expect(card.gamma.isEmpty && display.status.gamma == nil && display.status.problem == nil)
  }
}
