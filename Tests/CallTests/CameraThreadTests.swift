import Base
import Camera
import Frames
import Glibc
import Net
import ScriptedDevices
import Synchronization
import Testing
import V4L2

@testable import Call

@Suite(.serialized) struct CameraThreadTests {
  private typealias Mode = ScriptedVideoDevice.Mode

  /// A machine with cameras, and somebody who gives pictures with whichever runs.
  private final class Machine: Sendable {
    let devices: ScriptedVideoDevices
    private let feeder: WorkerThread
    init(_ nodes: [VideoNode] = [VideoNode(path: "/dev/video0")], make: @escaping @Sendable (String) -> ScriptedVideoDevice) {
      let devices = ScriptedVideoDevices(nodes, make: make)
      self.devices = devices
      let pause = Pause()
      self.pause = pause
      feeder = WorkerThread(name: "feeder") { thread in
        while !thread.isStopping {
          if !pause.isPaused {
            devices.streaming?.deliver(time: MonotonicClock.now()) { _, memory in memset(memory.baseAddress!, 90, memory.count) }
          }
          usleep(3_000)
        }
      }
    }

    final class Pause: Sendable {
      private let paused = Atomic(false)
      var isPaused: Bool { paused.load(ordering: .acquiring) }
      func set(_ value: Bool) { paused.store(value, ordering: .releasing) }
    }
    let pause: Pause

    func stop() { feeder.stop() }
  }

  /// Counts pictures.
  private final class Seen: Sendable {
    private let pictures = Guarded<(count: Int, last: VideoFrame?)>((0, nil))
    func take(_ frame: VideoFrame) { pictures.with { $0 = ($0.count + 1, frame) } }
    var count: Int { pictures.with { $0.count } }
    var last: VideoFrame? { pictures.with { $0.last } }
  }

  private static func quick() -> CameraRecovery.Patience {
    var patience = CameraRecovery.Patience()
    (patience.opening, patience.firstPicture, patience.picture, patience.closing) = (
      .seconds(1), .seconds(1), .milliseconds(500), .milliseconds(300)
    )
    return patience
  }

  private func until(_ what: String, _ condition: () -> Bool) async throws {
    for _ in 0..<6_000 {
      if condition() { return }
      try await Task.sleep(for: .milliseconds(5))
    }
    Issue.record("in 30 seconds not: \(what)")
  }

  private func settings(_ width: Int = 64, _ height: Int = 32) -> CameraSettings {
    var settings = CameraSettings()
    (settings.width, settings.height) = (width, height)
    return settings
  }

  @Test func picturesOfADeviceReachEverybody() async throws {
    let machine = Machine {
      ScriptedVideoDevice(name: $0, card: "HD Webcam", modes: [.capture: [Mode(.yuyv, 1_280, 720, [30]), Mode(.yuyv, 64, 48, [15, 30])]])
    }
    let camera = CameraThread(settings: settings(64, 48), devices: machine.devices)
    defer {
      camera.stop()
      machine.stop()
    }
    let (first, second) = (Seen(), Seen())
    _ = camera.pictures.add { first.take($0) }
    _ = camera.pictures.add(isOnlooker: true) { second.take($0) }
    try await until("pictures") { first.count > 10 && second.count > 10 }
    #expect(camera.watch.state == .running(name: "HD Webcam"))
    #expect(camera.width == 64 && camera.height == 48 && camera.framesPerSecond == 30)
    #expect(first.last?.buffer.luma[0] == 90 && first.last?.ledger[.capture] != nil)
    let statistics = camera.statistics
    #expect(statistics.name == "HD Webcam" && statistics.identifier == "/dev/video0" && statistics.format == "YUYV")
    #expect(statistics.width == 64 && statistics.height == 48 && statistics.figures.frames > 10)
  }

  /// Replugged in mid-call: pictures stop, the state says why, and they resume, though the node is another one.
  @Test func aCameraThatIsPluggedInAgainResumes() async throws {
    let machine = Machine { ScriptedVideoDevice(name: $0, modes: [.capture: [Mode(.yuyv, 64, 32)]]) }
    let camera = CameraThread(settings: settings(), devices: machine.devices)
    defer {
      camera.stop()
      machine.stop()
    }
    let states = Guarded<[String]>([])
    // The reason may change from "it was pulled out" to "there is none".
    _ = camera.watch.add { state in states.with { if $0.last != state.word { $0.append(state.word) } } }
    let seen = Seen()
    _ = camera.pictures.add { seen.take($0) }
    for cycle in 1...3 {
      let count = seen.count
      try await until("pictures") { seen.count > count && camera.watch.state.isRunning }
      machine.devices.set([])
      machine.devices.streaming?.unplug()
      try await until("absence") { camera.watch.state.word == "absent" }
      // Nobody is shown what is not there to see any more.
      try await until("black") { camera.pictures.newest.map { $0.buffer.luma[0] == 16 && $0.buffer.chromaU[0] == 128 } ?? false }
      machine.devices.set([VideoNode(path: "/dev/video\(cycle)")])
    }
    try await until("the last return") { camera.watch.state.isRunning }
    #expect(states.with { $0 } == ["starting"] + Array(repeating: ["running", "absent"], count: 3).joined() + ["running"])
  }

  @Test func aBusyCameraIsTakenWhenItIsFree() async throws {
    // A driver lets everybody open the device, and refuses later.
    let busy = Guarded(true)
    let machine = Machine { path in
      let device = ScriptedVideoDevice(name: path, modes: [.capture: [Mode(.yuyv, 64, 32)]])
      if busy.with({ $0 }) { device.fail("VIDIOC_REQBUFS", code: EBUSY, count: .max) }
      return device
    }
    let camera = CameraThread(settings: settings(), devices: machine.devices)
    defer {
      camera.stop()
      machine.stop()
    }
    try await until("a busy camera") { camera.watch.state.word == "busy" }
    #expect(camera.watch.state.reason == "/dev/video0: VIDIOC_REQBUFS: Device or resource busy")
    busy.with { $0 = false }
    try await until("pictures") { camera.watch.state.isRunning }
  }

  @Test func aCameraThatGivesNoMorePicturesIsOpenedAgain() async throws {
    let machine = Machine { ScriptedVideoDevice(name: $0, modes: [.capture: [Mode(.yuyv, 64, 32)]]) }
    let camera = CameraThread(settings: settings(), devices: machine.devices, patience: CameraThreadTests.quick())
    defer {
      camera.stop()
      machine.stop()
    }
    try await until("pictures") { camera.watch.state.isRunning }
    machine.pause.set(true)
    try await until("a failure") { camera.watch.state.word == "failed" }
    #expect(camera.watch.state.reason?.hasPrefix("no picture for ") == true)
    let openings = machine.devices.opened.count
    try await until("another attempt") { machine.devices.opened.count > openings }
    machine.pause.set(false)
    try await until("pictures again") { camera.watch.state.isRunning }
  }

  /// A call that never returns, as blocking drivers have it after an unplug, costs a thread and no more: the camera is found at its next node,
  /// and stopping waits for nothing.
  @Test(arguments: ["VIDIOC_DQBUF", "VIDIOC_STREAMOFF", "VIDIOC_QUERYCAP", "VIDIOC_STREAMON"])
  func aDriverThatNeverReturnsStopsNobody(call: String) async throws {
    let isHanging = Guarded(false)
    let machine = Machine { path in
      let device = ScriptedVideoDevice(name: path, modes: [.capture: [Mode(.yuyv, 64, 32)]])
      if path == "/dev/video0", isHanging.with({ $0 }) { device.setHanging(call, true) }
      return device
    }
    let camera = CameraThread(settings: settings(), devices: machine.devices, patience: CameraThreadTests.quick())
    try await until("pictures") { camera.watch.state.isRunning }
    isHanging.with { $0 = true }
    let hung = try #require(machine.devices.streaming)
    hung.setHanging(call, true)
    if call != "VIDIOC_DQBUF" { hung.unplug() }
    try await until("a failure") { !camera.watch.state.isRunning }
    if call != "VIDIOC_DQBUF" {
      try await until("word of the driver") { camera.watch.state.reason?.contains("the driver does not answer") == true }
    }
    machine.devices.set([VideoNode(path: "/dev/video0"), VideoNode(path: "/dev/video1")])
    try await until("pictures of the other node") { camera.watch.state.isRunning && machine.devices.streaming?.name == "/dev/video1" }
    machine.devices.streaming?.setHanging("VIDIOC_DQBUF", true)
    camera.stop()
    isHanging.with { $0 = false }
    // The threads that were left behind end, and let their devices go, when their calls return.
    for device in machine.devices.opened {
      for call in [call, "VIDIOC_DQBUF"] { device.setHanging(call, false) }
    }
    try await until("all threads to end") { captureThreadCount() == 0 }
    machine.stop()
    #expect(machine.devices.opened.allSatisfy { !$0.isStreaming() || $0.calls.last == "VIDIOC_REQBUFS" })
  }

  /// How many threads are inside of drivers.
  private func captureThreadCount() -> Int {
    guard let stream = opendir("/proc/self/task") else { return 0 }
    defer { closedir(stream) }
    var count = 0
    while let entry = readdir(stream) {
      let task = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      let file = open("/proc/self/task/\(task)/comm", O_RDONLY)
      guard file >= 0 else { continue }
      defer { close(file) }
      var name = [UInt8](repeating: 0, count: 32)
      let length = read(file, &name, 32)
      if String(decoding: name.prefix(max(0, length)), as: UTF8.self) == "parlor-capture\n" { count += 1 }
    }
    return count
  }

  @Test func nothingIsLeftOfManyReplugs() async throws {
    let machine = Machine { ScriptedVideoDevice(name: $0, modes: [.capture: [Mode(.nv12, 64, 32)]]) }
    let camera = CameraThread(settings: settings(), devices: machine.devices)
    defer {
      camera.stop()
      machine.stop()
    }
    let seen = Seen()
    _ = camera.pictures.add { seen.take($0) }
    for number in 0..<50 {
      let count = seen.count
      try await until("pictures") { seen.count > count && camera.watch.state.isRunning }
      machine.devices.set([])
      machine.devices.streaming?.unplug()
      try await until("its end") { camera.watch.state.word == "absent" }
      machine.devices.set([VideoNode(path: "/dev/video\(number % 2)")])
      camera.lookAgain()
    }
    try await until("pictures") { camera.watch.state.isRunning }
    #expect(captureThreadCount() == 1)
    let opened = machine.devices.opened.filter { $0.calls.contains("VIDIOC_STREAMON") }
    // Each was stopped and its buffers given back, as far as a device that is gone lets.
    #expect(opened.count == 51 && opened.dropLast().allSatisfy { $0.calls.suffix(2) == ["VIDIOC_STREAMOFF", "VIDIOC_REQBUFS"] })
    #expect(camera.statistics.figures.frames >= 51)
  }

  @Test func aSourceAlwaysRuns() {
    let camera = CameraThread(source: SyntheticCamera(width: 160, height: 120, framesPerSecond: 10))
    defer { camera.stop() }
    #expect(camera.watch.state.isRunning && camera.statistics.width == 160 && camera.statistics.nominalRate == 10)
  }
}
