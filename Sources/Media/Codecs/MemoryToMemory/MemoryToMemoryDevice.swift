import Glibc
import V4L2

/// Coding hardware behind one of the kernel's memory-to-memory devices.
package struct MemoryToMemoryDevice: CodingDevice {
  package typealias Opener = @Sendable (_ path: String) throws(V4L2Error) -> any VideoDevice

  package let path: String
  package let name: String
  /// What it writes, and what it reads.
  package let encodes: Set<FourCC>
  package let decodes: Set<FourCC>
  private let open: Opener

  /// Looks what a device is; nil when it is no codec with compressed data on one side, or does not answer.
  package init?(path: String, open: @escaping Opener = { path throws(V4L2Error) in try KernelVideoDevice(path: path) }) {
    guard let device = try? open(path), let capability = try? device.capability(), capability.isConverter,
      let output = capability.outputType, let capture = capability.captureType
    else { return nil }
    func compressed(_ type: BufferType) -> Set<FourCC> {
      Set(((try? device.formats(of: type)) ?? []).filter { $0.isCompressed && !$0.isEmulated }.map(\.pixelFormat))
    }
    (self.path, self.open) = (path, open)
    (encodes, decodes) = (compressed(capture), compressed(output))
    guard !encodes.isEmpty || !decodes.isEmpty else { return nil }
    name = "V4L2 \(capability.driver) (\(path))"
  }

  package func supports(_ codec: VideoCodec, _ direction: CodecChoice.Direction) -> Bool {
    (direction == .encode ? encodes : decodes).contains(CodedFormat(codec).pixelFormat)
  }

  package func makeEncoder(_ codec: VideoCodec, settings: VideoEncoderSettings) throws(CodecError) -> any VideoEncoder {
    try makeEncoder(CodedFormat(codec), settings: settings)
  }

  package func makeDecoder(_ codec: VideoCodec) throws(CodecError) -> any VideoDecoder { try makeDecoder(CodedFormat(codec)) }

  package func makeEncoder(_ format: CodedFormat, settings: VideoEncoderSettings) throws(CodecError) -> any VideoEncoder {
    try MemoryToMemoryEncoder(try opened(), format, name: name, settings: settings)
  }

  package func makeDecoder(_ format: CodedFormat) throws(CodecError) -> any VideoDecoder {
    try MemoryToMemoryDecoder(try opened(), format, name: name)
  }

  private func opened() throws(CodecError) -> any VideoDevice {
    do throws(V4L2Error) { return try open(path) } catch { throw .unavailable("\(error)") }
  }

  /// The machine's, by their numbers.
  package static func all() -> [MemoryToMemoryDevice] {
    guard let folder = opendir("/dev") else { return [] }
    defer { closedir(folder) }
    var numbers: [Int] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name.hasPrefix("video"), let number = Int(name.dropFirst(5)) { numbers.append(number) }
    }
    return numbers.sorted().compactMap { MemoryToMemoryDevice(path: "/dev/video\($0)") }
  }
}
