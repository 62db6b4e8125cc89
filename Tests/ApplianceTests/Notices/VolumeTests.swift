import Testing

@testable import Appliance

@Suite struct VolumeTests {
  @Test func changesAreReadAndKeepToTheRange() {
    var volume = Volume(percent: 70)
    func change(_ text: String) -> Volume? {
      guard let change = Volume.Change(text) else { return nil }
      volume.apply(change)
      return volume
    }
    #expect(change("50") == Volume(percent: 50))
    #expect(change("+20") == Volume(percent: 70))
    #expect(change("-100") == Volume(percent: 0))
    #expect(change("+5") == Volume(percent: 5))
    #expect(change("100") == Volume(percent: 100))
    #expect(change("+1") == Volume(percent: 100))
    #expect(change("mute") == Volume(percent: 100, isMuted: true))
    #expect(change("mute") == Volume(percent: 100))
    _ = change("mute")
    #expect(change("-10") == Volume(percent: 90), "who turns the volume wants to hear it")
    for text in ["", "+", "-", "101", "+101", "1e1", " 5", "5%", "muted", "--5", "+-5", "٥"] { #expect(change(text) == nil, "\(text)") }
  }

  @Test func moreIsLouderAndMutedIsSilent() {
    let gains = (0...100).map { Volume(percent: $0).gain }
    #expect(gains.first == 0 && gains.last == 1 && zip(gains, gains.dropFirst()).allSatisfy { $0 < $1 })
    #expect(Volume(percent: 80, isMuted: true).gain == 0)
  }

  @Test func volumeOutlivesARestart() throws {
    let folder = TemporaryFolder()
    let file = "\(folder.path)/volume"
    #expect(Volume.load(from: file) == nil)
    try Volume(percent: 35, isMuted: true).save(to: file)
    #expect(Volume.load(from: file) == Volume(percent: 35, isMuted: true))
    #expect(folder.read("volume") == Array(#"{"muted":true,"percent":35}"#.utf8))
    _ = folder.write("not what was written", to: "volume")
    #expect(Volume.load(from: file) == nil)
    _ = folder.write(#"{"muted":false,"percent":900}"#, to: "volume")
    #expect(Volume.load(from: file) == Volume(percent: 100))
    #expect(throws: (any Error).self) { try Volume().save(to: "/nowhere/volume") }
  }
}
