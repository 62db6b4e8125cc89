import Foundation
import Testing

@testable import PageHost

@Suite struct PlacementComposerTests {
  static func message(_ serial: UInt32, video: UInt32 = 1, x: Double = 0, canvas: String? = nil, clip: String = "null", frames: String = "")
    -> PlacementMessage
  {
    let text = """
      {"serial": \(serial), "canvas": \(canvas.map { "\"\($0)\"" } ?? "null"), "videos": [{"video": \(video), "width": 40, "height": 30,
       "map": [1, 0, 0, 1, \(x), 5], "fit": "scale-down", "position": [0.5, 0.25], "radii": [1, 2, 3, 4], "opacity": 0.5, "clip": \(clip),
       "background": "ff000080"}], "frames": [\(frames)]}
      """
    return try! JSONDecoder().decode(PlacementMessage.self, from: Data(text.utf8))
  }

  @Test func placementsWaitForTheirPicture() {
    var composer = PlacementComposer()
    composer.receive(Self.message(1, x: 10), of: 7, isMainFrame: true)
    #expect(composer.current.videos.isEmpty)
    composer.pictureUpdated()
    #expect(composer.current.videos.map(\.map.e) == [10])
    composer.receive(Self.message(2, x: 20), of: 7, isMainFrame: true)
    composer.receive(Self.message(3, x: 30), of: 7, isMainFrame: true)
    #expect(composer.current.videos.map(\.map.e) == [10])
    composer.pictureUpdated()
    #expect(composer.current.videos.map(\.map.e) == [30])
    // The picture has been there all along.
    let isFreed1 = composer.painted(3, of: 7)
    #expect(!isFreed1)
  }

  @Test func paintedSetsFreeWhatNoPictureTook() {
    var composer = PlacementComposer()
    composer.receive(Self.message(1), of: 7, isMainFrame: true)
    let isFreed2 = composer.painted(2, of: 7)
    #expect(!isFreed2)
    let isFreed3 = composer.painted(1, of: 8)
    #expect(!isFreed3)
    let isFreed4 = composer.painted(1, of: 7)
    #expect(isFreed4)
    #expect(composer.current.videos.count == 1)
    composer.receive(Self.message(2), of: 7, isMainFrame: true)
    let isFreed5 = composer.painted(2, of: 7)
    #expect(!isFreed5)
  }

  @Test func everyPartArrives() {
    var composer = PlacementComposer()
    composer.receive(Self.message(1, video: 9, canvas: "#10203040", clip: "[1, 2, 3, 4]"), of: 7, isMainFrame: true)
    composer.pictureUpdated()
    let place = VideoPlace(
      video: 9, width: 40, height: 30, map: AffineMap(a: 1, b: 0, c: 0, d: 1, e: 0, f: 5), fit: .scaleDown, positionX: 0.5, positionY: 0.25,
      radii: [1, 2, 3, 4], opacity: 0.5, clip: ClipBox(x: 1, y: 2, width: 3, height: 4), background: 0x8080_0000)
    #expect(composer.current == Placements(videos: [place], canvas: 0xFF10_2030))
  }

  @Test func framesLendTheirOpacity() {
    var composer = PlacementComposer()
    composer.receive(
      Self.message(1, frames: #"{"document": 8, "map": [1, 0, 0, 1, 0, 0], "clip": null, "opacity": 0.5}"#), of: 7, isMainFrame: true)
    composer.receive(Self.message(1, video: 2), of: 8, isMainFrame: false)
    composer.pictureUpdated()
    #expect(composer.current.videos.map(\.opacity) == [0.5, 0.25])
  }

  @Test func framesAreMappedAndClipped() {
    var composer = PlacementComposer()
    composer.receive(
      Self.message(1, frames: #"{"document": 8, "map": [2, 0, 0, 2, 100, 200], "clip": [100, 200, 50, 40]}"#), of: 7, isMainFrame: true)
    composer.receive(Self.message(1, video: 2, x: 3, clip: "[5, 5, 100, 100]"), of: 8, isMainFrame: false)
    composer.receive(Self.message(1, video: 3), of: 9, isMainFrame: false)
    composer.pictureUpdated()
    let videos = composer.current.videos
    #expect(videos.map(\.video) == [1, 2])
    #expect(videos[1].map == AffineMap(a: 2, b: 0, c: 0, d: 2, e: 106, f: 210))
    #expect(videos[1].clip == ClipBox(x: 110, y: 210, width: 40, height: 30))
    composer.remove(8)
    composer.receive(Self.message(2), of: 7, isMainFrame: true)
    composer.pictureUpdated()
    #expect(composer.current.videos.map(\.video) == [1])
  }

  @Test func circlesOfFramesEnd() {
    var composer = PlacementComposer()
    composer.receive(Self.message(1, frames: #"{"document": 8, "map": [1, 0, 0, 1, 0, 0], "clip": null}"#), of: 7, isMainFrame: true)
    composer.receive(
      Self.message(
        1, video: 2,
        frames: #"{"document": 7, "map": [1, 0, 0, 1, 0, 0], "clip": null}, {"document": 8, "map": [1, 0, 0, 1, 0, 0], "clip": null}"#),
      of: 8,
      isMainFrame: false)
    composer.pictureUpdated()
    #expect(composer.current.videos.map(\.video) == [1, 2])
  }

  @Test func aNewPageLeavesNothingOfTheOld() {
    var composer = PlacementComposer()
    composer.receive(Self.message(1, canvas: "000000"), of: 7, isMainFrame: true)
    composer.pictureUpdated()
    composer.receive(Self.message(2, x: 50), of: 7, isMainFrame: true)
    composer.pageReplaced()
    // Its first picture is not there yet: the old one still stands, with its videos.
    #expect(composer.current.videos.count == 1)
    let isFreed6 = composer.painted(2, of: 7)
    #expect(!isFreed6)
    composer.pictureUpdated()
    #expect(composer.current == Placements(canvas: PlacementComposer.defaultCanvas))
  }

  @Test func aPageCannotFillTheMemory() {
    var composer = PlacementComposer()
    for document in 1...3000 as ClosedRange<UInt32> { composer.receive(Self.message(1), of: document, isMainFrame: false) }
    #expect(composer.refusedCount == 3000 - PlacementComposer.documentLimit)
  }

  @Test(arguments: ["[1, 2, 3]", "[]"]) func wrongLengthsAreRefused(_ map: String) throws {
    let text = """
      {"serial": 1, "videos": [{"video": 1, "width": 1, "height": 1, "map": \(map), "fit": "fill", "position": [0, 0], "radii": [0, 0, 0, 0],
       "opacity": 1, "clip": null, "background": "00000000"}], "frames": []}
      """
    var composer = PlacementComposer()
    composer.receive(try JSONDecoder().decode(PlacementMessage.self, from: Data(text.utf8)), of: 1, isMainFrame: true)
    composer.pictureUpdated()
    #expect(composer.refusedCount == 1)
    #expect(composer.current.videos.isEmpty)
  }

  @Test func whateverThePageSaysFitsTheProtocol() {
    var place = Self.message(1).videos[0].place!
    place.map = AffineMap(a: 1e300, b: -1e300, c: 0, d: 0, e: 0, f: 0)
    place.width = 1e300
    place.positionX = -1e300
    place.clip = ClipBox(x: 1e300, y: -1e300, width: 1e300, height: 0)
    let wire = place.wireForm
    #expect(wire.map.0.isFinite && wire.map.1.isFinite && wire.position.0.isFinite)
    for value in [wire.width, wire.clip.0, wire.clip.1, wire.clip.2] { #expect(abs(value) < 8_388_608) }
  }
}
