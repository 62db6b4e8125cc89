import Base
import Frames
import Testing

@testable import Camera

struct SyntheticCameraTests {
  @Test func theSameNumberGivesTheSamePicture() {
    let (a, b) = (SyntheticCamera(), SyntheticCamera())
    #expect(lumaPSNR(a.frame(at: 500).buffer, b.frame(at: 500).buffer) == 128)
  }

  @Test func thePictureMovesGently() {
    let camera = SyntheticCamera()
    let between = lumaPSNR(camera.frame(at: 100).buffer, camera.frame(at: 101).buffer)
    #expect((15.0..<50.0).contains(between))
  }

  @Test func theTimeCodeHoldsNumberAndCaptureTime() throws {
    let camera = SyntheticCamera(width: 320, height: 180, framesPerSecond: 25)
    let code = try #require(TimeCode.read(from: camera.frame(at: 50).buffer))
    #expect(code == TimeCode(index: 50, milliseconds: 2_000))
    let late = camera.frame(at: 50, captureTime: .zero + .milliseconds(9_000))
    #expect(TimeCode.read(from: late.buffer)?.milliseconds == 9_000)
    #expect(late.ledger[.capture] == .zero + .milliseconds(9_000))
  }

  @Test(arguments: [(160, 120), (333, 251), (1_280, 720), (180, 320)])
  func anySizeWorksForALongTime(width: Int, height: Int) {
    let camera = SyntheticCamera(width: width, height: height)
    for index in stride(from: 0, to: 100_000, by: 1_111) {
      #expect(TimeCode.read(from: camera.frame(at: index).buffer)?.index == UInt32(index))
    }
  }
}
