import Base
import Frames

/// A video frame that the screen shows, its ledger complete.
public struct PresentedFrame: Sendable {
  /// The frame; its ledger's `present` is when the screen showed it.
  public var frame: VideoFrame
  /// Where on the screen it stands, in pixels.
  public var rectangle: Rectangle

  /// When the frame passed each stage.
  public var ledger: Ledger { frame.ledger }
}

/// A frame of a page's video that the screen shows, its ledger complete.
public struct PresentedVideo: Sendable {
  /// Which video.
  public var video: VideoIdentifier
  /// The frame; its ledger's `present` is when the screen showed it.
  public var frame: VideoFrame
  /// What of its box is seen, in pixels of the screen; where the video is seen more than once, the lowest place.
  public var rectangle: Rectangle

  /// When the frame passed each stage.
  public var ledger: Ledger { frame.ledger }
}

/// One change of the picture on the screen.
public struct Flip: Sendable {
  /// When the screen changed.
  public var time: Instant
  /// Counts the flips from 1.
  public var number: Int
  /// The remote frame, when this flip is the first to show it.
  public var remote: PresentedFrame?
  /// The self-view's frame, when this flip is the first to show it.
  public var selfView: PresentedFrame?
  /// The frames of a page's videos that this flip is the first to show.
  public var videos: [PresentedVideo] = []
}

/// What became of the frames and of the screen's refresh periods so far.
public struct StageStatistics: Sendable, Equatable {
  /// Changes of the picture.
  public var flips = 0
  /// Refreshes that found nothing new.
  public var repeated = 0
  /// Frames never shown, because a newer one came before the screen could take them.
  public var skipped = 0
  /// Remote frames shown.
  public var remoteFramesPresented = 0
  /// Self-view frames shown.
  public var selfViewFramesPresented = 0
  /// Frames of pages' videos shown.
  public var videoFramesPresented = 0
  /// Frames replaced or removed while nobody could see their video.
  public var unseen = 0
  /// From a frame or a page's picture being there to its being shown, over ten seconds; nil: nothing was shown in them.
  public var readyToFlip: LatencyFigures?
  /// What composing a picture took, over ten seconds; nil: nothing was composed in them.
  public var composition: LatencyFigures?
}
