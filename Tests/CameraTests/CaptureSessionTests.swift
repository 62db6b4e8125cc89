import Base
import Frames
import Glibc
import ScriptedDevices
import Synchronization
import Testing
import V4L2

@testable import Camera

@Suite struct CaptureSessionTests {
  private typealias Mode = ScriptedVideoDevice.Mode

  private func settings(_ width: Int = 64, _ height: Int = 32) -> CameraSettings {
    var settings = CameraSettings()
    (settings.width, settings.height) = (width, height)
    return settings
  }

  private func device(_ modes: [Mode] = [Mode(.yuyv, 64, 32)]) -> ScriptedVideoDevice { ScriptedVideoDevice(modes: [.capture: modes]) }

  private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  /// Gives a picture of one shade.
  private func deliver(
    _ device: ScriptedVideoDevice, shade: UInt8 = 100, flags: QueueBuffer.Flags = [.monotonic], at time: Instant = .zero,
    byteCounts: [Int]? = nil
  ) {
    #expect(
      device.deliver(flags: flags, time: time, byteCounts: byteCounts) { _, memory in
        memset(memory.baseAddress!, Int32(shade), memory.count)
      })
  }

  @Test func theNewestPictureIsTakenAndItsTimeIsTheDrivers() throws {
    let device = device()
    let session = try CaptureSession(device: device, settings: settings())
    #expect(try session.takePicture(now: { at(0) }) == nil)
    for number in 1...3 { deliver(device, shade: UInt8(10 * number), at: at(Int64(number * 33))) }
    let frame = try #require(try session.takePicture(now: { at(103) }))
    #expect(frame.buffer.luma[0] == 30 && frame.ledger[.capture] == at(99))
    #expect(session.figures[.superseded] == 2 && session.figures.frames == 1)
    #expect(try session.takePicture(now: { at(104) }) == nil)
  }

  @Test func damagedPicturesAreDroppedAndCounted() throws {
    let device = device()
    let session = try CaptureSession(device: device, settings: settings())
    deliver(device, shade: 50)
    deliver(device, shade: 60, flags: [.monotonic, .error])
    // The damaged one is newer, and yet not what is shown.
    #expect(try session.takePicture(now: { at(1) })?.buffer.luma[0] == 50)
    deliver(device, byteCounts: [4_000])
    #expect(try session.takePicture(now: { at(2) }) == nil)
    #expect(session.figures.discards == [.flagged: 1, .short: 1])
    // Every buffer that is not held by somebody is with the driver again.
    #expect(device.waitingCount() == 5)
  }

  @Test func aTimeThatCannotBeTrueIsNotBelieved() throws {
    let device = device()
    let session = try CaptureSession(device: device, settings: settings())
    func captureTime(_ flags: QueueBuffer.Flags, _ time: Instant) throws -> Instant? {
      deliver(device, flags: flags, at: time)
      return try session.takePicture(now: { at(5_000) })?.ledger[.capture]
    }
    #expect(try captureTime([.monotonic], at(4_990)) == at(4_990))
    #expect(try captureTime([], at(4_990)) == at(5_000), "of another clock")
    #expect(try captureTime([.monotonic], at(5_001)) == at(5_000), "in the future")
    #expect(try captureTime([.monotonic], at(3_000)) == at(5_000), "long ago")
  }

  /// A USB camera's time is that of its first packet; the last one comes much later.
  @Test func theWayOverTheBusIsToldFromTheTimeHere() throws {
    let device = device()
    let session = try CaptureSession(device: device, settings: settings())
    func transfer(_ flags: QueueBuffer.Flags, _ time: Int64, ready: Int64?) throws -> Interval {
      deliver(device, flags: flags, at: at(time))
      let frame = try session.takePicture(now: { at(125) }, ready: ready.map(at))
      #expect(frame?.ledger[.capture] == at(min(time, 125)))
      return session.figures.transferTime
    }
    #expect(try transfer([.monotonic, .startOfExposure], 100, ready: 121) == .milliseconds(21))
    #expect(try transfer([.monotonic, .startOfExposure], 100, ready: nil) == .milliseconds(25))
    #expect(try transfer([.monotonic, .startOfExposure], 100, ready: 90) == .zero, "it was there before anybody looked")
    #expect(try transfer([.monotonic], 100, ready: 121) == .zero, "the time at which it was whole")
    #expect(try transfer([.monotonic, .startOfExposure], 130, ready: 121) == .zero, "not believed")
  }

  @Test func whatOthersShowStaysWholeAndTheDriverNeverStarves() throws {
    let device = device()
    let wakes = Mutex(0)
    let session = try CaptureSession(device: device, settings: settings(), wake: { wakes.withLock { $0 += 1 } })
    var held: [VideoFrame] = []
    for number in 0..<20 {
      deliver(device, shade: UInt8(10 + number))
      held.append(try #require(try session.takePicture(now: { at(0) })))
      #expect(device.waitingCount() >= 2)
    }
    let shared = held.filter { $0.deviceBuffer != nil }
    #expect(shared.count == 3)
    for (number, frame) in shared.enumerated() {
      let buffer = try #require(frame.deviceBuffer)
      #expect(buffer.width == 64 && buffer.height == 32 && buffer.format == FourCC.yuyv.rawValue && buffer.planes[0].stride == 128)
      var byte: UInt8 = 0
      #expect(pread(buffer.planes[0].descriptor, &byte, 1, 0) == 1 && byte == UInt8(10 + number))
    }
    held.removeAll()
    #expect(wakes.withLock { $0 } == 0, "still held by the list of those that are shared")
    withExtendedLifetime(shared) {}
  }

  @Test func aBufferThatComesBackGoesToTheDriver() throws {
    let device = device()
    let wakes = Mutex(0)
    let session = try CaptureSession(device: device, settings: settings(), wake: { wakes.withLock { $0 += 1 } })
    deliver(device)
    var frame = try session.takePicture(now: { at(0) })
    #expect(frame?.deviceBuffer != nil && device.waitingCount() == 4)
    frame = nil
    #expect(wakes.withLock { $0 } == 1)
    #expect(try session.takePicture(now: { at(0) }) == nil)
    #expect(device.waitingCount() == 5)
  }

  @Test func picturesOutliveTheirCamera() throws {
    let device = device()
    let session = try CaptureSession(device: device, settings: settings())
    deliver(device, shade: 77)
    let frame = try #require(try session.takePicture(now: { at(0) }))
    session.close()
    #expect(!device.isStreaming())
    var byte: UInt8 = 0
    #expect(pread(try #require(frame.deviceBuffer).planes[0].descriptor, &byte, 1, 0) == 1 && byte == 77 && frame.buffer.luma[0] == 77)
  }

  @Test func noDescriptorStaysOpen() throws {
    func count() -> Int { (0..<1_024).count { fcntl(Int32($0), F_GETFD) >= 0 } }
    func cycle() throws {
      let device = device()
      let session = try CaptureSession(device: device, settings: settings())
      deliver(device)
      _ = try session.takePicture(now: { at(0) })
      device.unplug()
      #expect(throws: CameraFailure.self) { try session.takePicture(now: { at(0) }) }
      session.close()
    }
    try cycle()
    // Other tests open descriptors meanwhile: that many cycles would not hide among them.
    let before = count()
    for _ in 0..<50 { try cycle() }
    #expect(count() < before + 50)
  }

  @Test func whatTheBusHasNoRoomForIsFollowedByTheNextMode() throws {
    let device = device([Mode(.yuyv, 1_280, 720), Mode(.mjpeg, 1_280, 720)])
    device.fail("VIDIOC_STREAMON", code: ENOSPC)
    let session = try CaptureSession(device: device, settings: settings(1_280, 720))
    #expect(session.mode.pixelFormat == .mjpeg && device.isStreaming())
    #expect(device.currentFormat()?.pixelFormat == .mjpeg)
  }

  @Test(arguments: [
    ("VIDIOC_S_FMT", EBUSY, CameraFailure.busy("/dev/video0, YUYV 64x32: VIDIOC_S_FMT: Device or resource busy")),
    ("VIDIOC_REQBUFS", EBUSY, .busy("/dev/video0: VIDIOC_REQBUFS: Device or resource busy")),
    ("VIDIOC_QUERYCAP", ENODEV, .absent("/dev/video0: VIDIOC_QUERYCAP: No such device")),
    ("mmap", ENOMEM, .broken("/dev/video0: mmap: Cannot allocate memory")),
    ("VIDIOC_STREAMON", EIO, .broken("/dev/video0: VIDIOC_STREAMON: Input/output error")),
  ]) func whyItDoesNotStartIsSaid(call: String, code: Int32, failure: CameraFailure) {
    let device = device()
    device.fail(call, code: code, count: .max)
    let thrown = #expect(throws: CameraFailure.self) { try CaptureSession(device: device, settings: settings()) }
    // The scripted driver names no detail where the kernel's wrapper does.
    let detail = ", YUYV 64x32"
    #expect(thrown?.description == failure.description.split(separator: detail).joined())
    #expect(!device.isStreaming())
  }

  @Test func aCameraThatGoesAwayIsNoticed() throws {
    let device = device()
    let session = try CaptureSession(device: device, settings: settings())
    device.unplug()
    #expect(throws: CameraFailure.absent("/dev/video0: VIDIOC_DQBUF: No such device")) { try session.takePicture(now: { at(0) }) }
  }

  @Test func anotherSignalStartsAnew() throws {
    let device = device()
    device.set(input: VideoInput(index: 1, name: "HDMI", hasTimings: true))
    let session = try CaptureSession(device: device, settings: settings())
    #expect(device.calls.contains("VIDIOC_S_DV_TIMINGS"))
    try session.checkSignal()
    try session.takeEvents()
    device.set(input: VideoInput(index: 1, name: "HDMI", hasSignal: false, hasTimings: true))
    #expect(throws: CameraFailure.broken("/dev/video0: no signal")) { try session.checkSignal() }
    device.post(.sourceChange(isResolution: true))
    #expect(throws: CameraFailure.broken("/dev/video0: another signal")) { try session.takeEvents() }
    session.close()
    #expect(throws: CameraFailure.broken("/dev/video0: no signal")) { try CaptureSession(device: device, settings: settings()) }
    #expect(!device.isStreaming())
  }

  @Test func controlsAreSetAsConfigured() throws {
    let device = device()
    device.add(VideoControl(.exposureMayLowerRate, kind: .boolean, defaultValue: 1))
    device.add(VideoControl(.brightness, range: -64...64, defaultValue: 0))
    device.add(VideoControl(.absoluteZoom, range: 100...500, step: 10, defaultValue: 100))
    device.add(
      VideoControl(.powerLineFrequency, kind: .menu, range: 0...2, defaultValue: 2),
      menu: [MenuEntry(index: 0, name: "Disabled"), MenuEntry(index: 1, name: "50 Hz"), MenuEntry(index: 2, name: "60 Hz")])
    var settings = settings()
    (settings.brightness, settings.zoom, settings.powerLineFrequency) = (0.75, 0.5, .hertz50)
    let session = try CaptureSession(device: device, settings: settings)
    #expect(session.refusals == [])
    #expect(device.value(.exposureMayLowerRate) == 0, "the rate holds in the dark")
    #expect(device.value(.brightness) == 32 && device.value(.absoluteZoom) == 300 && device.value(.powerLineFrequency) == 1)
    session.close()

    settings.powerLineFrequency = .automatic
    let again = try CaptureSession(device: device, settings: settings)
    #expect(device.value(.powerLineFrequency) == 1, "this one has no automatic")
    again.close()
  }

  @Test func aControlThatIsRefusedKeepsNoPictureBack() throws {
    let device = device()
    device.add(VideoControl(.brightness, name: "Brightness", range: 0...100))
    device.fail("VIDIOC_S_EXT_CTRLS", code: EIO)
    var settings = settings()
    settings.brightness = 1
    let session = try CaptureSession(device: device, settings: settings)
    #expect(session.refusals == ["Brightness: /dev/video0: VIDIOC_S_EXT_CTRLS: Input/output error"])
  }

  @Test func theCameraMirrorsWhereItCan() throws {
    var settings = settings()
    settings.isMirrored = true
    let able = device()
    able.add(VideoControl(.horizontalFlip, kind: .boolean))
    let session = try CaptureSession(device: able, settings: settings)
    #expect(able.value(.horizontalFlip) == 1)
    able.deliver { _, memory in for index in 0..<memory.count { memory[index] = UInt8(index % 128) } }
    let frame = try #require(try session.takePicture(now: { at(0) }))
    #expect(frame.buffer.luma[0] == 0 && frame.deviceBuffer != nil, "it is not turned over twice")

    let unable = device()
    let other = try CaptureSession(device: unable, settings: settings)
    unable.deliver { _, memory in for index in 0..<memory.count { memory[index] = UInt8(index % 128) } }
    let turned = try #require(try other.takePicture(now: { at(0) }))
    #expect(turned.buffer.luma[0] == 126 && turned.deviceBuffer == nil)
  }

  @Test func aDriverThatListsNoRatesIsAskedForTheWantedOne() throws {
    let session = try CaptureSession(device: device([Mode(.yuyv, 64, 32, [])]), settings: settings())
    #expect(session.mode.framesPerSecond == 30)
  }

  @Test func theRateIsMeasured() throws {
    let device = device()
    let session = try CaptureSession(device: device, settings: settings())
    for number in 0...60 {
      deliver(device)
      _ = try session.takePicture(now: { at(Int64(number) * 40) })
    }
    #expect(abs(session.figures.framesPerSecond - 25) < 0.1)
  }

  @Test func pictureMemoryIsUsedAgain() throws {
    let device = device([Mode(.mjpeg, 64, 32)])
    let session = try CaptureSession(device: device, settings: settings())
    let jpeg = testPicture(width: 64, height: 32).jpeg()
    var places: Set<UnsafeMutablePointer<UInt8>> = []
    for _ in 0..<50 {
      device.deliver(byteCounts: [jpeg.count]) { _, memory in memory.copyBytes(from: jpeg) }
      places.insert(try #require(try session.takePicture(now: { at(0) })).buffer.luma)
    }
    #expect(places.count == 1)
  }
}
