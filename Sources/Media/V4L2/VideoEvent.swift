import CV4L2

/// News of a device (`VIDIOC_DQEVENT`).
public enum VideoEvent: Sendable, Equatable {
  /// What can be subscribed to.
  public enum Kind: UInt32, Sendable {
    case endOfStream = 2
    case control = 3
    case sourceChange = 5
  }

  /// A codec has come to the end of what it was given.
  case endOfStream
  /// What the device takes in has another size or format; `isResolution` when it is the size.
  case sourceChange(isResolution: Bool)
  /// A control has another value.
  case control(VideoControl.Identifier, value: Int64)
  /// One that nobody here knows.
  case other(UInt32)
}

/// A part of a picture in pixels (`VIDIOC_G_SELECTION`).
public struct Selection: Sendable, Equatable {
  /// What the part is for.
  public enum Target: UInt32, Sendable {
    /// What is taken of the source: for encoders, what is seen of a padded picture.
    case crop = 0x0000
    case cropDefault = 0x0001
    case cropBounds = 0x0002
    /// Where the picture lies in its buffer: for decoders, what is seen of a padded picture.
    case compose = 0x0100
    case composeDefault = 0x0101
    case composeBounds = 0x0102
  }

  public var x: Int
  public var y: Int
  public var width: Int
  public var height: Int

  /// A part of a picture.
  public init(x: Int = 0, y: Int = 0, width: Int, height: Int) { (self.x, self.y, self.width, self.height) = (x, y, width, height) }
}

/// What a codec can be told beside its buffers (`VIDIOC_ENCODER_CMD`, `VIDIOC_DECODER_CMD`).
public enum CodecCommand: UInt32, Sendable, Equatable {
  /// Goes on after a stop.
  case start = 0
  /// Hands out what is left of what it was given, and no more.
  case stop = 1
}

/// Who gives way when programs want to change a device (`enum v4l2_priority`).
public enum DevicePriority: UInt32, Sendable {
  case background = 1
  case interactive = 2
  /// Nobody else may change the device.
  case record = 3
}

/// What a device is connected to (`VIDIOC_ENUMINPUT`).
public struct VideoInput: Sendable, Equatable {
  public var index: Int
  public var name: String
  /// Whether there is a signal, as far as the driver knows.
  public var hasSignal: Bool
  /// Whether a signal comes with timings of its own (HDMI and the like).
  public var hasTimings: Bool

  /// An input.
  public init(index: Int, name: String = "", hasSignal: Bool = true, hasTimings: Bool = false) {
    (self.index, self.name, self.hasSignal, self.hasTimings) = (index, name, hasSignal, hasTimings)
  }
}
