import Base
import Frames
import Glibc

/// A WAV file (16-bit PCM, mono or stereo, any usual rate) as a source of sound at 48 kHz. It starts again at its end.
public final class WAVFile: AudioSource {
  public let channelCount: Int
  /// How many 10 ms blocks the file fills; the last one is padded with silence.
  public let blockCount: Int
  /// Interleaved samples at 48 kHz, a whole number of blocks.
  private let samples: [Int16]

  /// Reads the whole file.
  public convenience init(path: String) throws(SoundError) {
    try self.init(bytes: WAVFile.contents(of: path), name: path)
  }

  /// Reads a WAV file's bytes; errors call it `name`.
  public init(bytes: [UInt8], name: String = "WAV file") throws(SoundError) {
    let (rate, channelCount, recorded) = try WAVFile.parse(bytes, name: name)
    var samples = recorded
    if rate != AudioBlock.sampleRate {
      let resampler = try Resampler(from: rate, to: AudioBlock.sampleRate, channelCount: channelCount)
      // A little silence after the end pushes the filter's tail out.
      samples = resampler.process(recorded + Array(repeating: 0, count: rate / 100 * channelCount))
    }
    let blockSize = AudioBlock.sampleCount * channelCount
    blockCount = max(1, (samples.count + blockSize - 1) / blockSize)
    samples.append(contentsOf: repeatElement(0, count: blockCount * blockSize - samples.count))
    (self.channelCount, self.samples) = (channelCount, samples)
  }

  public func block(at index: Int, captureTime: Instant?) -> AudioBlock {
    let blockSize = AudioBlock.sampleCount * channelCount
    let start = ((index % blockCount + blockCount) % blockCount) * blockSize
    return AudioBlock(samples: Array(samples[start..<start + blockSize]), channelCount: channelCount, captureTime: captureTime)
  }

  private static func parse(_ bytes: [UInt8], name: String) throws(SoundError) -> (rate: Int, channelCount: Int, samples: [Int16]) {
    func text(_ offset: Int) -> String { String(decoding: bytes[offset..<offset + 4], as: UTF8.self) }
    func field(_ offset: Int, _ count: Int) -> Int { (0..<count).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) } }
    guard bytes.count >= 12, text(0) == "RIFF", text(8) == "WAVE" else { throw .malformed(path: name, reason: "not a WAV file") }
    var format: (rate: Int, channelCount: Int)?
    var offset = 12
    while offset + 8 <= bytes.count {
      let (kind, start) = (text(offset), offset + 8)
      let count = min(field(offset + 4, 4), bytes.count - start)  // a recording that was cut off is played to where it ends
      switch kind {
      case "fmt ":
        guard count >= 16 else { throw .malformed(path: name, reason: "format chunk of \(count) bytes, at least 16 expected") }
        var encoding = field(start, 2)
        if encoding == 0xFFFE && count >= 26 { encoding = field(start + 24, 2) }  // extensible: the true one comes later
        let (channels, rate, bits) = (field(start + 2, 2), field(start + 4, 4), field(start + 14, 2))
        guard encoding == 1, bits == 16 else {
          throw .malformed(path: name, reason: "encoding \(encoding) with \(bits) bits, accepted is PCM with 16 bits")
        }
        guard (1...2).contains(channels) else { throw .malformed(path: name, reason: "\(channels) channels, accepted are 1 and 2") }
        guard (4_000...192_000).contains(rate) else { throw .unsupportedRate(rate) }
        format = (rate, channels)
      case "data":
        guard let format else { throw .malformed(path: name, reason: "sound before its format") }
        let frameCount = count / (2 * format.channelCount)
        guard frameCount > 0 else { throw .malformed(path: name, reason: "no sound in it") }
        let samples = (0..<frameCount * format.channelCount).map { index in
          Int16(bitPattern: UInt16(bytes[start + 2 * index]) | UInt16(bytes[start + 2 * index + 1]) << 8)
        }
        return (format.rate, format.channelCount, samples)
      default: break
      }
      offset = start + count + (count & 1)
    }
    throw .malformed(path: name, reason: "no sound in it")
  }

  private static func contents(of path: String) throws(SoundError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .file(path: path, reason: String(cString: strerror(errno))) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw .file(path: path, reason: String(cString: strerror(errno))) }
      if count == 0 { return bytes }
      guard bytes.count < 1 << 30 else { throw .malformed(path: path, reason: "more than a gigabyte") }
      bytes.append(contentsOf: chunk[..<count])
    }
  }
}
