import Base
import CV4L2
import Glibc
import Testing

@testable import V4L2

@Suite struct ValueTests {
  @Test func controlsAreThoseOfTheKernel() {
    let known: [(VideoControl.Identifier, Int32)] = [
      (.brightness, V4L2_CID_BRIGHTNESS), (.horizontalFlip, V4L2_CID_HFLIP), (.powerLineFrequency, V4L2_CID_POWER_LINE_FREQUENCY),
      (.exposureMayLowerRate, V4L2_CID_EXPOSURE_AUTO_PRIORITY), (.absoluteZoom, V4L2_CID_ZOOM_ABSOLUTE),
      (.bitrate, V4L2_CID_MPEG_VIDEO_BITRATE), (.forceKeyFrame, V4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME),
      (.minimumCaptureBuffers, V4L2_CID_MIN_BUFFERS_FOR_CAPTURE),
    ]
    for (identifier, number) in known { #expect(identifier.rawValue == UInt32(number)) }
  }

  @Test func sharesOfAControlFallOnItsSteps() {
    let control = VideoControl(.brightness, range: -64...64, step: 16)
    #expect(control.value(atShare: 0) == -64)
    #expect(control.value(atShare: 1) == 64)
    #expect(control.value(atShare: 0.5) == 0)
    #expect(control.value(atShare: 0.6) == 16)
    #expect(control.value(atShare: 7) == 64)
  }

  @Test func intervalsOfTelevisionAreThousandsOver1001() {
    #expect(FrameInterval(framesPerSecond: 30) == FrameInterval(numerator: 1, denominator: 30))
    #expect(FrameInterval(framesPerSecond: 29.97) == FrameInterval(numerator: 1_001, denominator: 30_000))
    #expect(FrameInterval(numerator: 0, denominator: 30).framesPerSecond == 0)
  }

  @Test func nodesAreToldApart() {
    func node(_ capabilities: DeviceCapability.Capabilities) -> DeviceCapability {
      DeviceCapability(driver: "", card: "", bus: "", capabilities: capabilities)
    }
    #expect(node([.capture, .streaming]).isCamera)
    #expect(node([.multiplanarCapture, .streaming]).captureType == .multiplanarCapture)
    #expect(!node([.metadata, .streaming]).isCamera)
    #expect(!node([.memoryToMemory, .streaming]).isCamera && node([.memoryToMemory, .streaming]).isConverter)
    #expect(node([.multiplanarMemoryToMemory, .streaming]).outputType == .multiplanarOutput)
    #expect(node([.capture, .output, .streaming]).isConverter)
    #expect(!node([.output, .streaming]).isCamera && !node([.output, .streaming]).isConverter)
  }

  @Test func colorsHaveTheKernelsDefaults() {
    func format(_ pixels: FourCC, _ colors: PictureFormat.Colors) -> PictureFormat {
      PictureFormat(pixelFormat: pixels, width: 16, height: 16, colors: colors)
    }
    #expect(!format(.yuyv, PictureFormat.Colors(space: UInt32(V4L2_COLORSPACE_SRGB.rawValue))).isFullRange)
    #expect(format(.yuyv, PictureFormat.Colors(space: UInt32(V4L2_COLORSPACE_JPEG.rawValue))).isFullRange)
    #expect(format(.yuyv, PictureFormat.Colors(quantization: UInt32(V4L2_QUANTIZATION_FULL_RANGE.rawValue))).isFullRange)
    #expect(format(.mjpeg, PictureFormat.Colors(space: UInt32(V4L2_COLORSPACE_SRGB.rawValue))).isFullRange)
    #expect(format(.nv12, PictureFormat.Colors(space: UInt32(V4L2_COLORSPACE_REC709.rawValue))).matrix == .bt709)
    #expect(format(.nv12, PictureFormat.Colors(encoding: UInt32(V4L2_YCBCR_ENC_709.rawValue))).matrix == .bt709)
    #expect(format(.nv12, PictureFormat.Colors(space: UInt32(V4L2_COLORSPACE_BT2020.rawValue))).matrix == .bt2020)
    #expect(format(.nv12, .bt601).matrix == .bt601)
  }
}

@Suite struct KernelVideoDeviceTests {
  @Test func aDeviceThatIsNotThereIsNamed() {
    #expect(throws: V4L2Error(call: "open", subject: "/dev/video-none", code: ENOENT)) { try KernelVideoDevice(path: "/dev/video-none") }
    let error = V4L2Error(call: "open", subject: "/dev/video0", code: ENOENT)
    #expect(error.isGone && error.description == "/dev/video0: open: No such file or directory")
  }

  /// What is no video device refuses each call with the kernel's own word, and has no lists.
  @Test func whatIsNoVideoDeviceSaysSo() throws {
    let device = try KernelVideoDevice(path: "/dev/null")
    #expect(throws: V4L2Error(call: "VIDIOC_QUERYCAP", subject: "/dev/null", code: ENOTTY)) { try device.capability() }
    #expect(try device.formats(of: .capture) == [])
    #expect(try device.sizes(of: .yuyv) == [])
    #expect(device.controls() == [] && device.control(.brightness) == nil && device.input() == nil)
    #expect(throws: V4L2Error.self) { try device.dequeue(memory: .mapped, of: .multiplanarCapture) }
    #expect(throws: V4L2Error.self) { try device.set([ControlSetting(.brightness, 1)]) }
  }
}
