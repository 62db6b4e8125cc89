import Base
import Camera
import Codecs
import Frames
import Glibc
import V4L2

/// What the machine tests see of coding through the kernel's drivers: `coding-trial NAME` finds the first devices that write and read FWHT, sends pictures
/// through both, and writes what came of it as a line of JSON.
///
///     frames    sixty pictures with one key frame asked for      sizes     pictures of several sizes, one after the other
///     broken    a damaged frame among good ones                  imported  pictures in another device's memory
///     choices   what the probe chose for calls, with the reasons
@main struct CodingTrial {
  private let encoders: MemoryToMemoryDevice
  private let decoders: MemoryToMemoryDevice

  static func main() {
    Log.install(level: .warning) { level, text in say("\(level): \(text)", to: 2) }
    let name = CommandLine.arguments.dropFirst().first ?? ""
    do {
      if name == "choices" { return choices() }
      let devices = MemoryToMemoryDevice.all()
      guard let encoders = devices.first(where: { $0.encodes.contains(.fwht) }),
        let decoders = devices.first(where: { $0.decodes.contains(.fwht) })
      else {
        say("no device codes FWHT", to: 2)
        exit(69)
      }
      let trial = CodingTrial(encoders: encoders, decoders: decoders)
      switch name {
      case "frames": try trial.frames()
      case "sizes": try trial.sizes()
      case "broken": try trial.broken()
      case "imported": try trial.imported()
      default:
        say("usage: coding-trial frames|sizes|broken|imported|choices", to: 2)
        exit(64)
      }
    } catch {
      say("\(error)", to: 2)
      exit(1)
    }
  }

  private static func say(_ text: String, to descriptor: Int32 = 1) {
    let bytes = Array((text + "\n").utf8)
    _ = unsafe write(descriptor, bytes, bytes.count)
  }

  private static func choices() {
    let codecs = HardwareCodecs.shared
    codecs.startProbe()
    while !codecs.isProbed { usleep(10_000) }
    let entries = codecs.choices.map {
      "{\"codec\": \"\($0.codec.rawValue)\", \"direction\": \"\($0.direction.rawValue)\", \"implementation\": \"\($0.implementation)\", "
        + "\"hardware\": \($0.isHardware), \"reason\": \"\($0.reason)\"}"
    }
    say("[\(entries.joined(separator: ", "))]")
  }

  /// Sixty pictures, a key frame asked for at number 20, and a second decoder that comes in the middle.
  private func frames() throws {
    let camera = SyntheticCamera(width: 640, height: 360, framesPerSecond: 30)
    let encoder = try encoders.makeEncoder(.fwht, settings: VideoEncoderSettings(width: 640, height: 360))
    let (decoder, latecomer) = (try decoders.makeDecoder(.fwht), try decoders.makeDecoder(.fwht))
    var (shown, codes, keyFrames, byteCount, worst, refused, late) = (0, 0, [Int](), 0, 99.0, 0, 0)
    for index in 0..<60 {
      let source = camera.frame(at: index)
      guard let coded = try encoder.encode(source, forceKeyFrame: index == 20) else { continue }
      if index == 40 { try encoder.setBitrate(400_000, framesPerSecond: 15) }
      byteCount += coded.bytes.count
      if coded.isKeyFrame { keyFrames.append(index) }
      if let picture = try decoder.decode(coded) {
        shown += 1
        if TimeCode.read(from: picture.buffer)?.index == UInt32(index), picture.ledger == source.ledger { codes += 1 }
        worst = min(worst, lumaPSNR(source.buffer, picture.buffer))
      }
      if index >= 15 {
        do {
          if try latecomer.decode(coded) != nil { late += 1 }
        } catch CodecError.keyFrameRequired { refused += 1 }
      }
    }
    CodingTrial.say(
      "{\"encoder\": \"\(encoder.implementationName)\", \"decoder\": \"\(decoder.implementationName)\", \"shown\": \(shown), \"codes\": \(codes), "
        + "\"key_frames\": \(keyFrames), \"bytes\": \(byteCount), \"worst_psnr\": \(worst), \"refused\": \(refused), \"late\": \(late)}")
  }

  private func sizes() throws {
    let encoder = try encoders.makeEncoder(.fwht, settings: VideoEncoderSettings(width: 640, height: 360))
    let decoder = try decoders.makeDecoder(.fwht)
    var entries: [String] = []
    for (width, height) in [(640, 360), (800, 450), (642, 362), (1280, 720), (640, 360)] {
      let camera = SyntheticCamera(width: width, height: height, framesPerSecond: 30)
      for index in 0..<3 {
        let source = camera.frame(at: index)
        guard let coded = try encoder.encode(source, forceKeyFrame: false), let picture = try decoder.decode(coded) else { continue }
        let isSame = picture.width == width && picture.height == height
        entries.append(
          "[\(picture.width), \(picture.height), \(coded.isKeyFrame), \(isSame ? lumaPSNR(source.buffer, picture.buffer) : 0)]")
      }
    }
    CodingTrial.say("[\(entries.joined(separator: ", "))]")
  }

  /// Frames 3 and 4 are damaged; a key frame comes at number 6.
  private func broken() throws {
    let camera = SyntheticCamera(width: 640, height: 360, framesPerSecond: 30)
    let encoder = try encoders.makeEncoder(.fwht, settings: VideoEncoderSettings(width: 640, height: 360))
    let decoder = try decoders.makeDecoder(.fwht)
    var entries: [String] = []
    for index in 0..<9 {
      guard var coded = try encoder.encode(camera.frame(at: index), forceKeyFrame: index == 6) else { continue }
      if index == 3 { coded.bytes.replaceSubrange(8..<12, with: [0, 0, 0, 99]) }
      do {
        let picture = try decoder.decode(coded)
        entries.append(picture.map { "\(lumaPSNR(camera.frame(at: index).buffer, $0.buffer))" } ?? "null")
      } catch {
        entries.append("\"\(error)\"")
      }
    }
    CodingTrial.say("[\(entries.joined(separator: ", "))]")
  }

  /// Pictures whose pixels are in the memory of another open device alone: what they show beside that is grey.
  private func imported() throws {
    // Rows in sixteens, so that the driver adds none between the planes.
    let (width, height) = (640, 480)
    let camera = SyntheticCamera(width: width, height: height, framesPerSecond: 30)
    let owner = try KernelVideoDevice(path: encoders.path)
    let type: BufferType = try owner.capability().outputType ?? .output
    let capture: BufferType = try owner.capability().captureType ?? .capture
    _ = try owner.setFormat(PictureFormat(pixelFormat: .fwht, width: width, height: height), of: capture)
    let format = try owner.setFormat(PictureFormat(pixelFormat: .nv12, width: width, height: height), of: type)
    let count = try owner.requestBuffers(2, memory: .mapped, of: type)
    let encoder = try encoders.makeEncoder(.fwht, settings: VideoEncoderSettings(width: width, height: height))
    let decoder = try decoders.makeDecoder(.fwht)
    let stride = format.planes[0].stride
    var entries: [String] = []
    for index in 0..<8 {
      let source = camera.frame(at: index)
      let memory = unsafe try owner.map(try owner.buffer(index % count, memory: .mapped, of: type).planes[0])
      let start = unsafe memory.baseAddress!.assumingMemoryBound(to: UInt8.self)
      for y in 0..<height { unsafe (start + y * stride).update(from: source.buffer.luma + y * source.buffer.lumaStride, count: width) }
      unsafe (start + height * stride).update(repeating: 128, count: height / 2 * stride)
      unsafe owner.unmap(memory)
      let descriptor = try owner.export(index % count, plane: 0, of: type)
      let planes = [
        DeviceBuffer.Plane(descriptor: descriptor, offset: 0, stride: stride),
        DeviceBuffer.Plane(descriptor: descriptor, offset: stride * height, stride: stride),
      ]
      // From number 5 on there is no such memory any more.
      var frame = VideoFrame(buffer: VideoBuffer(width: width, height: height), ledger: source.ledger)
      if index < 5 {
        frame.deviceBuffer = DeviceBuffer(width: width, height: height, format: FourCC.nv12.rawValue, planes: planes)
      } else {
        frame.buffer = source.buffer
      }
      guard let coded = try encoder.encode(frame, forceKeyFrame: false), let picture = try decoder.decode(coded) else { continue }
      entries.append("[\(coded.isKeyFrame), \(lumaPSNR(source.buffer, picture.buffer))]")
    }
    CodingTrial.say("[\(entries.joined(separator: ", "))]")
  }
}
