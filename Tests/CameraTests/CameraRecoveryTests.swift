import Base
import Frames
import Testing

@testable import Camera

@Suite struct CameraRecoveryTests {
  private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  /// Steps through time up to the next thing to do.
  private func next(_ recovery: inout CameraRecovery, from now: inout Instant) -> CameraRecovery.Step? {
    now = max(now, recovery.deadline)
    return recovery.step(now: now)
  }

  @Test func aCameraThatIsThereRunsWithItsFirstPicture() {
    var recovery = CameraRecovery(now: .zero)
    #expect(recovery.step(now: .zero) == .open)
    #expect(recovery.state == .starting)
    recovery.opened(name: "Webcam", framesPerSecond: 30, now: at(300))
    #expect(recovery.state == .starting, "nobody has seen a picture yet")
    recovery.pictured(at: at(400))
    #expect(recovery.state == .running(name: "Webcam"))
    #expect(recovery.step(now: at(2_300)) == nil)
  }

  @Test func anAbsentCameraIsLookedForWithoutEnd() {
    var recovery = CameraRecovery(now: .zero)
    var now = Instant.zero
    var attempts: [Instant] = []
    while attempts.count < 5_000 {
      #expect(next(&recovery, from: &now) == .open)
      attempts.append(now)
      recovery.failed(.absent("no camera is there"), now: now)
      #expect(recovery.state == .absent(reason: "no camera is there"))
      #expect(recovery.deadline > now, "never without a pause")
    }
    #expect(attempts[1] - attempts[0] == .milliseconds(100))
    #expect(attempts[4_999] - attempts[4_998] == .seconds(2))
  }

  @Test func aDeviceThatArrivesIsOpenedAtOnceAndAgainSoon() {
    var recovery = CameraRecovery(now: .zero)
    var now = Instant.zero
    for _ in 0..<10 {
      #expect(next(&recovery, from: &now) == .open)
      recovery.failed(.absent("none"), now: now)
    }
    now += .milliseconds(700)
    recovery.arrived(now: now)
    #expect(recovery.step(now: now) == .open)
    // Its node may not be ours yet: udev sets that a moment later.
    recovery.failed(.broken("Permission denied"), now: now)
    #expect(recovery.deadline - now <= .milliseconds(200))
  }

  @Test func anArrivalDuringAnAttemptIsNotForgotten() {
    var recovery = CameraRecovery(now: .zero)
    #expect(recovery.step(now: .zero) == .open)
    recovery.arrived(now: at(5))
    recovery.failed(.absent("none"), now: at(10))
    #expect(recovery.step(now: at(10)) == .open)
  }

  @Test func aBusyCameraIsTriedAgainUntilItIsFree() {
    var recovery = CameraRecovery(now: .zero)
    var now = Instant.zero
    for _ in 0..<20 {
      #expect(next(&recovery, from: &now) == .open)
      recovery.failed(.busy("held by another"), now: now)
      #expect(recovery.state == .busy(reason: "held by another"))
    }
    #expect(next(&recovery, from: &now) == .open)
    recovery.opened(name: "Webcam", framesPerSecond: 30, now: now)
    recovery.pictured(at: now)
    #expect(recovery.state.isRunning)
  }

  @Test func aHungDriverIsClosedAndOpenedAgain() {
    var recovery = CameraRecovery(now: .zero)
    var now = Instant.zero
    #expect(recovery.step(now: now) == .open)
    recovery.opened(name: "Webcam", framesPerSecond: 30, now: now)
    recovery.pictured(at: at(20_000))
    now = at(22_000)
    #expect(recovery.step(now: at(21_999)) == nil)
    #expect(recovery.step(now: now) == .close)
    #expect(recovery.state == .failed(reason: "no picture for 2 seconds"))
    recovery.stopped(now: now)
    #expect(next(&recovery, from: &now) == .open)
    #expect(now == at(22_100))
    #expect(!recovery.state.isRunning, "it counts as broken until there is a picture")
    recovery.opened(name: "Webcam", framesPerSecond: 30, now: now)
    recovery.pictured(at: now)
    #expect(recovery.state.isRunning)
  }

  @Test func aDriverThatNeverReturnsIsLeftBehind() {
    var recovery = CameraRecovery(now: .zero)
    var now = Instant.zero
    #expect(recovery.step(now: now) == .open)
    #expect(next(&recovery, from: &now) == .close, "opening does not return")
    #expect(now - Instant.zero == CameraRecovery.Patience().opening)
    #expect(next(&recovery, from: &now) == .abandon)
    #expect(next(&recovery, from: &now) == .open)
  }

  @Test func oneThatBreaksDownAfterEachFewPicturesIsTriedLessOften() {
    var recovery = CameraRecovery(now: .zero)
    var now = Instant.zero
    var pauses: [Interval] = []
    for _ in 0..<6 {
      #expect(next(&recovery, from: &now) == .open)
      recovery.opened(name: "Webcam", framesPerSecond: 30, now: now)
      for _ in 0..<30 {
        now += .milliseconds(33)
        recovery.pictured(at: now)
      }
      recovery.failed(.broken("Input/output error"), now: now)
      pauses.append(recovery.deadline - now)
    }
    #expect(pauses == pauses.sorted() && pauses.last == .seconds(2))
  }

  @Test func aSlowCameraIsNoHungOne() {
    var recovery = CameraRecovery(now: .zero)
    #expect(recovery.step(now: .zero) == .open)
    recovery.opened(name: "Microscope", framesPerSecond: 1, now: .zero)
    recovery.pictured(at: at(100))
    #expect(recovery.step(now: at(3_900)) == nil)
    #expect(recovery.step(now: at(4_100)) == .close)
  }

  @Test func aCameraThatIsToWorkInAnotherWayIsOpenedAnewAtOnce() {
    var recovery = CameraRecovery(now: .zero)
    recovery.reopen(now: .zero)
    #expect(recovery.step(now: .zero) == .open, "there is nothing to close")
    recovery.opened(name: "Webcam", framesPerSecond: 30, now: at(300))
    recovery.pictured(at: at(400))
    recovery.reopen(now: at(1_000))
    #expect(recovery.state == .running(name: "Webcam") && recovery.step(now: at(1_100)) == nil)
    recovery.stopped(now: at(1_200))
    #expect(recovery.step(now: at(1_200)) == .open)
    recovery.opened(name: "Webcam", framesPerSecond: 30, now: at(1_400))
    recovery.pictured(at: at(1_500))
    #expect(recovery.state == .running(name: "Webcam"))
    // One that does not come back from that is left behind like any other.
    recovery.reopen(now: at(2_000))
    #expect(recovery.step(now: at(4_000)) == .abandon)
  }
}
