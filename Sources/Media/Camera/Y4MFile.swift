import Base
import Frames
import Glibc

/// A YUV4MPEG2 file (8 bits, 4:2:0) as a source of pictures. It starts again at its end.
public final class Y4MFile: VideoSource {
  public let path: String
  public let width: Int
  public let height: Int
  public let framesPerSecond: Double
  /// How many frames the file holds, at least one.
  public var frameCount: Int { offsets.count }

  private let descriptor: Int32
  private let drawsTimeCode: Bool
  /// Where each frame's pixels start.
  private let offsets: [Int]
  private let pool = VideoBufferPool()

  /// Opens the file and finds its frames; with `drawsTimeCode` each gets a `TimeCode` over its top.
  public init(path: String, drawsTimeCode: Bool = false) throws(CameraError) {
    (self.path, self.drawsTimeCode) = (path, drawsTimeCode)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .file(path: path, reason: String(cString: strerror(errno))) }
    do throws(CameraError) {
      let line = try Y4MFile.line(at: 0, of: descriptor, path: path)
      let header = try Y4MFile.parse(line, path: path)
      (width, height, framesPerSecond) = header
      let frameSize = header.width * header.height + 2 * ((header.width + 1) / 2) * ((header.height + 1) / 2)
      let end = lseek(descriptor, 0, SEEK_END)
      var offsets: [Int] = []
      var position = line.utf8.count + 1
      while position < end {
        let frameLine = try Y4MFile.line(at: position, of: descriptor, path: path)
        guard frameLine == "FRAME" || frameLine.hasPrefix("FRAME ") else {
          throw .malformed(path: path, reason: "byte \(position): FRAME expected")
        }
        position += frameLine.utf8.count + 1
        guard position + frameSize <= end else { break }  // a recording that was cut off: its last frame is not whole
        offsets.append(position)
        position += frameSize
      }
      guard !offsets.isEmpty else { throw .malformed(path: path, reason: "no whole frame") }
      self.offsets = offsets
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  public func frame(at index: Int, captureTime: Instant) throws(CameraError) -> VideoFrame {
    let buffer = pool.buffer(width: width, height: height)
    var position = offsets[((index % frameCount) + frameCount) % frameCount]
    func readPlane(_ plane: UnsafeMutablePointer<UInt8>, stride: Int, width: Int, height: Int) throws(CameraError) {
      for row in 0..<height {
        guard pread(descriptor, plane + row * stride, width, position) == width else {
          throw .file(path: path, reason: "byte \(position): cannot be read any more")
        }
        position += width
      }
    }
    try readPlane(buffer.luma, stride: buffer.lumaStride, width: width, height: height)
    try readPlane(buffer.chromaU, stride: buffer.chromaStride, width: buffer.chromaWidth, height: buffer.chromaHeight)
    try readPlane(buffer.chromaV, stride: buffer.chromaStride, width: buffer.chromaWidth, height: buffer.chromaHeight)
    if drawsTimeCode {
      TimeCode(index: UInt32(truncatingIfNeeded: index), milliseconds: UInt64(max(0, captureTime.nanoseconds / 1_000_000)))
        .draw(into: buffer)
    }
    var ledger = Ledger()
    ledger[.capture] = captureTime
    return VideoFrame(buffer: buffer, ledger: ledger)
  }

  /// The text from `position` up to the next line feed, at most 255 bytes.
  private static func line(at position: Int, of descriptor: Int32, path: String) throws(CameraError) -> String {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = pread(descriptor, &bytes, bytes.count, position)
    guard count >= 0 else { throw .file(path: path, reason: String(cString: strerror(errno))) }
    guard let end = bytes[..<count].firstIndex(of: 10) else {
      throw .malformed(path: path, reason: "byte \(position): a line of at most 255 bytes expected")
    }
    return String(decoding: bytes[..<end], as: UTF8.self)
  }

  private static func parse(_ line: String, path: String) throws(CameraError) -> (width: Int, height: Int, framesPerSecond: Double) {
    let fields = line.split(separator: " ")
    guard fields.first == "YUV4MPEG2" else { throw .malformed(path: path, reason: "not a YUV4MPEG2 file") }
    var (width, height, framesPerSecond) = (0, 0, 0.0)
    for field in fields.dropFirst() {
      let value = field.dropFirst()
      switch field.first {
      case "W": width = Int(value) ?? 0
      case "H": height = Int(value) ?? 0
      case "F":
        let parts = value.split(separator: ":").map { Double($0) ?? 0 }
        if parts.count == 2, parts[1] > 0 { framesPerSecond = parts[0] / parts[1] }
      case "C":
        guard ["420", "420jpeg", "420mpeg2", "420paldv"].contains(value) else {
          throw .malformed(path: path, reason: "colour space \(value), accepted are 420, 420jpeg, 420mpeg2 and 420paldv")
        }
      default: break
      }
    }
    guard (1...8_192).contains(width), (1...8_192).contains(height) else {
      throw .malformed(path: path, reason: "size \(width)×\(height), accepted are sides from 1 to 8192")
    }
    guard framesPerSecond > 0, framesPerSecond <= 240 else {
      throw .malformed(path: path, reason: "\(framesPerSecond) frames per second, accepted are more than 0 and at most 240")
    }
    return (width, height, framesPerSecond)
  }
}

/// Writes pictures of one size to a YUV4MPEG2 file.
public struct Y4MWriter: ~Copyable {
  private let path: String
  private let (width, height): (Int, Int)
  private let descriptor: Int32
  private var bytes: [UInt8] = []

  /// Creates the file, or empties it.
  public init(path: String, width: Int, height: Int, framesPerSecond: Int) throws(CameraError) {
    (self.path, self.width, self.height) = (path, width, height)
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .file(path: path, reason: String(cString: strerror(errno))) }
    bytes.append(contentsOf: "YUV4MPEG2 W\(width) H\(height) F\(framesPerSecond):1 Ip A1:1 C420jpeg\n".utf8)
    try flush()
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Appends a picture, which must have the file's size.
  public mutating func write(_ buffer: VideoBuffer) throws(CameraError) {
    precondition(buffer.width == width && buffer.height == height, "all pictures of a file have one size")
    bytes.append(contentsOf: "FRAME\n".utf8)
    func append(_ plane: UnsafeMutablePointer<UInt8>, stride: Int, width: Int, height: Int) {
      for row in 0..<height { bytes.append(contentsOf: UnsafeBufferPointer(start: plane + row * stride, count: width)) }
    }
    append(buffer.luma, stride: buffer.lumaStride, width: width, height: height)
    append(buffer.chromaU, stride: buffer.chromaStride, width: buffer.chromaWidth, height: buffer.chromaHeight)
    append(buffer.chromaV, stride: buffer.chromaStride, width: buffer.chromaWidth, height: buffer.chromaHeight)
    try flush()
  }

  private mutating func flush() throws(CameraError) {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + written, $0.count - written) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw .file(path: path, reason: String(cString: strerror(errno))) }
      written += count
    }
    bytes.removeAll(keepingCapacity: true)
  }
}
