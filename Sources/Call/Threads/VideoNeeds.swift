/// What those need who take a source's pictures.
public struct VideoNeeds: Sendable, Equatable {
  /// Whether somebody needs pixels.
  public var pictures: Bool
  /// Whether somebody would send access units as they are, if the source gives any.
  public var units: Bool
  /// Bits per second that units should take at most; nil: as it comes.
  public var bitrate: Int?

  /// Needs; by default those of somebody who looks.
  public init(pictures: Bool = true, units: Bool = false, bitrate: Int? = nil) {
    (self.pictures, self.units, self.bitrate) = (pictures, units, bitrate)
  }

  /// What satisfies both. One source has one bitrate: that of the slowest.
  func joined(with other: VideoNeeds) -> VideoNeeds {
    VideoNeeds(
      pictures: pictures || other.pictures, units: units || other.units,
      bitrate: bitrate.map { min($0, other.bitrate ?? .max) } ?? other.bitrate)
  }
}
