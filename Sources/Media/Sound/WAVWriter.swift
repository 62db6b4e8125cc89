import Frames
import Glibc

/// Writes blocks to a WAV file at 48 kHz. The file is whole after every block.
public struct WAVWriter: ~Copyable {
  private let path: String
  private let channelCount: Int
  private let descriptor: Int32
  private var dataCount = 0

  /// Creates the file, or empties it.
  public init(path: String, channelCount: Int = 1) throws(SoundError) {
    precondition((1...2).contains(channelCount), "sound has one or two channels")
    (self.path, self.channelCount) = (path, channelCount)
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .file(path: path, reason: String(cString: strerror(errno))) }
    try put(WAVWriter.header(dataCount: 0, channelCount: channelCount), at: 0)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Appends a block, with its channels made to fit.
  public mutating func write(_ block: AudioBlock) throws(SoundError) {
    let samples = block.converted(toChannelCount: channelCount).samples
    try put(samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }, at: 44 + dataCount)
    dataCount += 2 * samples.count
    try put(WAVWriter.header(dataCount: dataCount, channelCount: channelCount), at: 0)
  }

  private static func header(dataCount: Int, channelCount: Int) -> [UInt8] {
    func field(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    return Array("RIFF".utf8) + field(36 + dataCount, 4) + Array("WAVEfmt ".utf8) + field(16, 4) + field(1, 2) + field(channelCount, 2)
      + field(AudioBlock.sampleRate, 4) + field(AudioBlock.sampleRate * 2 * channelCount, 4) + field(2 * channelCount, 2) + field(16, 2)
      + Array("data".utf8) + field(dataCount, 4)
  }

  private func put(_ bytes: [UInt8], at offset: Int) throws(SoundError) {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress! + written, $0.count - written, offset + written) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw .file(path: path, reason: String(cString: strerror(errno))) }
      written += count
    }
  }
}
