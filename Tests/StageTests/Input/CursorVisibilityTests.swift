import Base
import Testing

@testable import Stage

@Suite struct CursorVisibilityTests {
  private let start = Instant.zero + .seconds(100)

  @Test func cursorComesWithAMotionAndGoesAfterARest() {
    var cursor = CursorVisibility()
    #expect(!cursor.isVisible && cursor.deadline == nil)
    cursor.take(.key(code: 30, isPressed: true), now: start)
    cursor.take(.touchUp(id: 0), now: start)
    #expect(!cursor.isVisible)
    cursor.take(.pointerMotion(x: 7, y: 8), now: start)
    #expect(cursor.isVisible && cursor.place == (7, 8))
    cursor.advance(to: start + .seconds(4))
    #expect(cursor.isVisible)
    // Whoever scrolls or presses is still there.
    cursor.take(.pointerAxis(horizontal: 0, vertical: 1), now: start + .seconds(4))
    cursor.advance(to: start + .seconds(8))
    #expect(cursor.isVisible && cursor.deadline == start + .seconds(9))
    cursor.advance(to: start + .seconds(9))
    #expect(!cursor.isVisible && cursor.deadline == nil)
  }

  @Test func fingerHidesTheCursor() {
    var cursor = CursorVisibility()
    cursor.take(.pointerMotion(x: 7, y: 8), now: start)
    cursor.take(.touchDown(id: 0, x: 1, y: 1), now: start)
    #expect(!cursor.isVisible && cursor.deadline == nil)
  }
}
