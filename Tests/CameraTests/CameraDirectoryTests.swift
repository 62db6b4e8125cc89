import Glibc
import ScriptedDevices
import Testing
import V4L2

@testable import Camera

@Suite struct CameraDirectoryTests {
  /// A webcam with its metadata node, an infrared camera of the same maker, and a codec.
  private let machine = ScriptedVideoDevices([
    VideoNode(path: "/dev/video0", identifier: "usb-Maker_Webcam_1234-video-index0", place: "pci-0000:00:14.0-usb-0:1:1.0-video-index0"),
    VideoNode(path: "/dev/video1", identifier: "usb-Maker_Webcam_1234-video-index1"),
    VideoNode(path: "/dev/video2", place: "pci-0000:00:14.0-usb-0:2:1.0-video-index0"), VideoNode(path: "/dev/video11"),
  ]) { path in
    let yuyv: [BufferType: [ScriptedVideoDevice.Mode]] = [.capture: [ScriptedVideoDevice.Mode(.yuyv, 64, 32)]]
    return switch path {
    case "/dev/video0": ScriptedVideoDevice(name: path, card: "HD Webcam: HD Webcam", modes: yuyv)
    case "/dev/video1": ScriptedVideoDevice(name: path, card: "HD Webcam: HD Webcam", capabilities: [.metadata, .streaming], modes: [:])
    case "/dev/video2": ScriptedVideoDevice(name: path, card: "IR Camera", modes: yuyv)
    default: ScriptedVideoDevice(name: path, card: "codec", capabilities: [.multiplanarMemoryToMemory, .streaming], modes: [:])
    }
  }

  @Test func onlyNodesThatGivePicturesAreCameras() {
    let cameras = CameraDirectory(devices: machine).cameras()
    #expect(cameras.map(\.path) == ["/dev/video0", "/dev/video2"])
    #expect(cameras.map(\.label) == ["HD Webcam: HD Webcam", "IR Camera"])
    #expect(cameras.map(\.stableName) == ["usb-Maker_Webcam_1234-video-index0", "pci-0000:00:14.0-usb-0:2:1.0-video-index0"])
  }

  @Test(arguments: [
    ("usb-Maker_Webcam_1234-video-index0", "/dev/video0"), ("/dev/v4l/by-id/usb-Maker_Webcam_1234-video-index0", "/dev/video0"),
    ("/dev/v4l/by-path/pci-0000:00:14.0-usb-0:2:1.0-video-index0", "/dev/video2"), ("/dev/video2", "/dev/video2"),
    ("video2", "/dev/video2"), ("IR Camera", "/dev/video2"), ("hd webcam", "/dev/video0"),
  ]) func aCameraIsKnownByEachOfItsNames(name: String, path: String) throws {
    let directory = CameraDirectory(devices: machine)
    #expect(CameraDirectory.fitting(.named(name), among: directory.cameras()).map(\.path) == [path])
    var settings = CameraSettings()
    settings.selection = .named(name)
    #expect(try directory.open(settings).camera.path == path)
  }

  @Test func aNameThatIsNotThereIsSaidWithThoseThatAre() {
    var settings = CameraSettings()
    settings.selection = .named("Doorbell")
    let failure = #expect(throws: CameraFailure.self) { try CameraDirectory(devices: machine).open(settings) }
    #expect(
      failure
        == .absent(
          "no camera is called Doorbell; there is HD Webcam: HD Webcam (usb-Maker_Webcam_1234-video-index0), "
            + "IR Camera (pci-0000:00:14.0-usb-0:2:1.0-video-index0)"))
    machine.set([])
    #expect(throws: CameraFailure.absent("no camera is there")) { try CameraDirectory(devices: machine).open(CameraSettings()) }
  }

  @Test func aNodeThatMayNotBeOpenedIsSaid() {
    machine.set([VideoNode(path: "/dev/video0")])
    machine.fail("/dev/video0", code: EACCES)
    #expect(throws: CameraFailure.absent("no camera is there (/dev/video0: open: Permission denied)")) {
      try CameraDirectory(devices: machine).open(CameraSettings())
    }
  }

  @Test func whicheverCameraWorksIsTaken() throws {
    let machine = ScriptedVideoDevices([VideoNode(path: "/dev/video0"), VideoNode(path: "/dev/video1")]) { path in
      let device = ScriptedVideoDevice(name: path, modes: [.capture: [ScriptedVideoDevice.Mode(.yuyv, 64, 32)]])
      if path == "/dev/video0" { device.fail("VIDIOC_STREAMON", code: EBUSY, count: .max) }
      return device
    }
    let directory = CameraDirectory(devices: machine)
    #expect(try directory.open(CameraSettings()).camera.path == "/dev/video1")
    machine.set([VideoNode(path: "/dev/video0")])
    #expect(throws: CameraFailure.busy("/dev/video0: VIDIOC_STREAMON: Device or resource busy")) { try directory.open(CameraSettings()) }
  }

  @Test func aCameraThatFailedIsTriedAfterOthers() throws {
    let machine = ScriptedVideoDevices([VideoNode(path: "/dev/video0"), VideoNode(path: "/dev/video1")]) { path in
      ScriptedVideoDevice(name: path, modes: [.capture: [ScriptedVideoDevice.Mode(.yuyv, 64, 32)]])
    }
    let directory = CameraDirectory(devices: machine)
    #expect(try directory.open(CameraSettings(), avoiding: ["/dev/video0"]).camera.path == "/dev/video1")
    #expect(try directory.open(CameraSettings(), excluding: ["/dev/video1"], avoiding: ["/dev/video0"]).camera.path == "/dev/video0")
  }

  @Test func namesOfTheKernelsNodesAreRead() throws {
    let folder = "/tmp/parlor-nodes-\(getpid())"
    for path in ["", "/v4l", "/v4l/by-id", "/v4l/by-path"] { mkdir(folder + path, 0o700) }
    let links = ["/v4l/by-id/usb-A", "/v4l/by-path/pci-B"]
    defer {
      for name in links + ["/v4l/by-id", "/v4l/by-path", "/v4l", "/video0", "/video10", "/video2", "/null", ""] { remove(folder + name) }
    }
    for node in ["video0", "video10", "video2", "null"] { close(open("\(folder)/\(node)", O_CREAT | O_WRONLY, 0o600)) }
    symlink("../../video2", "\(folder)/v4l/by-id/usb-A")
    symlink("../../video10", "\(folder)/v4l/by-path/pci-B")
    #expect(
      KernelVideoDevices(folder: folder).nodes() == [
        VideoNode(path: "\(folder)/video0"), VideoNode(path: "\(folder)/video2", identifier: "usb-A"),
        VideoNode(path: "\(folder)/video10", place: "pci-B"),
      ])
  }
}
