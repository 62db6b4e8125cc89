import Testing

@testable import Appliance

@Suite struct RunOptionsTests {
  private let folder = TemporaryFolder()

  @Test func thePictureGoesToMonitorsWhereThereIsACard() {
    #expect(RunOptions.Output.usual(card: nil, folder: "/nonexistent") == .headless(nil))
    // A render node drives no monitor.
    _ = folder.write("", to: "renderD128")
    #expect(RunOptions.Output.usual(card: nil, folder: folder.path) == .headless(nil))
    _ = folder.write("", to: "card1")
    #expect(RunOptions.Output.usual(card: nil, folder: folder.path) == .kms)
    // One that is named may come later.
    #expect(RunOptions.Output.usual(card: "/dev/dri/card7", folder: "/nonexistent") == .kms)
  }
}
