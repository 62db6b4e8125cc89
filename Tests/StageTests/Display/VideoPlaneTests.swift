import CLinux
import Frames
import Glibc
import Synchronization
import Testing

@testable import Stage

/// Videos on planes of their own, their frames in another device's memory or the processor's.
@Suite struct VideoPlaneTests {
  /// A device with buffers of one colour each, which counts those that are in somebody's hands.
  private final class Device: Sendable {
    let held = Atomic(0)
    private let memory: [Int32]
    static let colors: [Color] = [
      Color(red: 250, green: 10, blue: 10), Color(red: 10, green: 250, blue: 10), Color(red: 10, green: 10, blue: 250),
    ]

    init(width: Int, height: Int) {
      memory = Device.colors.map { color in
        let descriptor = linux_memory_create("device")
        let pixels = [UInt32](repeating: TestSurfaces.pixel(color), count: width * height)
        pixels.withUnsafeBytes { _ = write(descriptor, $0.baseAddress!, $0.count) }
        return descriptor
      }
    }

    deinit { for descriptor in memory { close(descriptor) } }

    /// A frame that is white where the processor looks, and of a colour of its own in the device's memory.
    func frame(_ index: Int, width: Int = 32, height: Int = 16, format: PixelFormat = .xrgb8888) -> VideoFrame {
      held.add(1, ordering: .relaxed)
      var frame = TestFrames.solid(.white, width: width, height: height)
      frame.deviceBuffer = DeviceBuffer(
        width: width, height: height, format: format.rawValue,
        planes: [.init(descriptor: dup(memory[index]), offset: 0, stride: width * 4)]
      ) { [self] in held.subtract(1, ordering: .relaxed) }
      return frame
    }

    var heldCount: Int { held.load(ordering: .relaxed) }
  }

  private static let video = VideoIdentifier(rawValue: 1)

  /// A monitor of 32 by 16 pixels with a video all over it.
  private struct Rig {
    let card: MockCard
    let composer = Composer(width: 32, height: 16)
    let head: Head
    private var damage = CompositionDamage()

    init(_ driver: MockPlanes = .vkms) throws {
      card = MockCard(driver, mode: TestCards.mode(32, 16, 60, isPreferred: true))
      card.importError = nil
      let snapshot = try card.snapshot(probes: true)
      let output = try #require(OutputPlan(snapshot, preferences: DisplayPreferences()).primary)
      head = Head(output, card: snapshot, rotation: .none, isMirrored: false, device: card)
      place(video)
    }

    func place(_ video: VideoIdentifier?) {
      let placement = video.map { VideoPlacement(video: $0, width: 32, height: 16, map: .translation(x: 0, y: 0), fit: .fill) }
      let layer = TestSurfaces.page(
        width: 32, height: 16, videos: placement.map { [$0] } ?? [], canvas: video == nil ? Color(red: 0, green: 100, blue: 0) : nil
      ) { _ in }
      composer.update(LayersUpdate(layers: [layer], isRearranged: true))
    }

    mutating func show(_ frame: VideoFrame) throws {
      composer.page.forEachVisibleVideo { $0.show(frame) }
      try turn()
    }

    /// What changed is committed, and flips. When the card is busy, nothing of it happens.
    mutating func turn() throws {
      composer.page.takeDamage(&damage)
      head.note(damage, composer: composer)
      do throws(DRMError) {
        guard head.isStale, try head.show(composer, composer.sketch()) else { return }
        #expect(try card.readEvents().count == 1)
        head.completeFlip()
      } catch {
        #expect(error.code == EBUSY)
      }
    }
  }

  @Test func framesOfADeviceAreShownFromWhereTheyAre() throws {
    let device = Device(width: 32, height: 16)
    var rig = try Rig()
    for turn in 0..<12 {
      try rig.show(device.frame(turn % 3))
      #expect(rig.card[5, 5].resembles(Device.colors[turn % 3]))
      #expect(device.heldCount == 1, "only what is on the screen is held")
    }
    let frames = rig.head.takeFrames()
    #expect(frames.imported == 12 && frames.copied == 0)
    // The card was told of each buffer once.
    #expect(rig.card.imported.count == 3 && rig.card.buffers.count == 3)
  }

  @Test func framesGoBackWhenSomethingElseIsShown() throws {
    let device = Device(width: 32, height: 16)
    var rig = try Rig()
    try rig.show(device.frame(0))
    rig.place(nil)
    try rig.turn()
    #expect(rig.card[5, 5].resembles(Color(red: 0, green: 100, blue: 0)))
    #expect(device.heldCount == 0 && rig.card.imported.isEmpty)
  }

  @Test func whatCannotBeImportedIsComposed() throws {
    // What drivers say that import nothing, want other memory, or have no room.
    for code in [ENODEV, EINVAL, EACCES, EBUSY, ENOMEM] {
      let device = Device(width: 32, height: 16)
      var rig = try Rig()
      rig.card.importError = code
      for index in 0..<3 {
        try rig.show(device.frame(index))
        #expect(rig.card[5, 5].resembles(.white), "\(code)")
      }
      #expect(rig.head.takeFrames() == PlaneFrames())
    }
  }

  @Test func aDeviceThatFailsLaterIsComposedFromThenOn() throws {
    let device = Device(width: 32, height: 16)
    var rig = try Rig()
    try rig.show(device.frame(0))
    #expect(rig.card[5, 5].resembles(Device.colors[0]))
    rig.card.importError = ENODEV
    try rig.show(device.frame(1))
    #expect(rig.card[5, 5].resembles(.white))
    try rig.show(device.frame(0))
    #expect(rig.card[5, 5].resembles(.white) && device.heldCount == 1)
  }

  @Test func memoryOfAModeThatADeviceHasLeftIsForgotten() throws {
    let (device, other) = (Device(width: 32, height: 16), Device(width: 16, height: 8))
    var rig = try Rig(.i915)
    for index in 0..<3 { try rig.show(device.frame(index)) }
    for index in 0..<3 { try rig.show(other.frame(index, width: 16, height: 8)) }
    #expect(rig.card[5, 5].resembles(Device.colors[2]))
    // The last of the old mode was on the screen when the first of the new one came.
    #expect(rig.card.imported.count <= 4)
  }

  @Test func aFrameOnTheScreenIsNotDrawnOver() throws {
    var rig = try Rig(.i915)
    try rig.show(TestFrames.solid(.red, width: 32, height: 16))
    try rig.show(TestFrames.solid(.green, width: 32, height: 16))
    #expect(rig.head.takeFrames().copied == 2)
    rig.card.isBusy = true
    for paint in [TestFrames.Paint.blue, .gray, .red] {
      try rig.show(TestFrames.solid(paint, width: 32, height: 16))
      #expect(rig.card[5, 5].resembles(TestFrames.Paint.green.color), "a flip that did not take place is seen")
    }
    rig.card.isBusy = false
    try rig.turn()
    #expect(rig.card[5, 5].resembles(TestFrames.Paint.red.color))
  }

  @Test func aBufferOnTheScreenIsKeptUntilAnotherIsShown() throws {
    var rig = try Rig(.i915)
    try rig.show(TestFrames.solid(.red, width: 32, height: 16))
    rig.card.isBusy = true
    try rig.show(TestFrames.solid(.blue, width: 16, height: 8))
    #expect(rig.card[5, 5].resembles(TestFrames.Paint.red.color), "the plane went dark")
    rig.card.isBusy = false
    try rig.turn()
    #expect(rig.card[5, 5].resembles(TestFrames.Paint.blue.color))
    try rig.show(TestFrames.solid(.green, width: 16, height: 8))
    #expect(rig.card.buffers.values.allSatisfy { $0.width == 16 }, "buffers of the former size are left over")
  }
}
