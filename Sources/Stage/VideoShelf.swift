import Frames
import Synchronization

/// The newest frame of each video that pages may show. From any thread.
final class VideoShelf: Sendable {
  /// A class, so that a new frame is put in without copying the dictionary's value out and in.
  private final class Slot {
    var frame: VideoFrame
    /// Whether no flip has shown it yet.
    var isNew = true

    init(_ frame: VideoFrame) { self.frame = frame }
  }

  private struct Content {
    var slots: [VideoIdentifier: Slot] = [:]
    var seen: Set<VideoIdentifier> = []
    var skipped = 0
    var unseen = 0

    mutating func countLost(_ slot: Slot, of video: VideoIdentifier) {
      guard slot.isNew else { return }
      if seen.contains(video) { skipped += 1 } else { unseen += 1 }
    }
  }

  private let content = Mutex(Content())

  /// Puts the newest frame of a video in, in place of the one before, and returns whether the video can be seen.
  func put(_ frame: VideoFrame, of video: VideoIdentifier) -> Bool {
    let (old, isSeen) = content.withLock { content -> (VideoFrame?, Bool) in
      let isSeen = content.seen.contains(video)
      guard let slot = content.slots[video] else {
        content.slots[video] = Slot(frame)
        return (nil, isSeen)
      }
      content.countLost(slot, of: video)
      defer { (slot.frame, slot.isNew) = (frame, true) }
      return (slot.frame, isSeen)
    }
    _ = old  // released outside the lock: it may return memory to a pool
    return isSeen
  }

  /// Forgets a video.
  func remove(_ video: VideoIdentifier) {
    let old = content.withLock { content -> VideoFrame? in
      guard let slot = content.slots.removeValue(forKey: video) else { return nil }
      content.countLost(slot, of: video)
      return slot.frame
    }
    _ = old
  }

  /// Says which videos can be seen.
  func setSeen(_ videos: Set<VideoIdentifier>) { content.withLock { $0.seen = videos } }

  /// The newest frame of a video, and whether no flip has shown it yet; nil before the first.
  func newest(of video: VideoIdentifier) -> (frame: VideoFrame, isNew: Bool)? {
    content.withLock { $0.slots[video].map { ($0.frame, $0.isNew) } }
  }

  /// Marks a frame as shown, unless a newer one came meanwhile.
  func markShown(_ frame: VideoFrame, of video: VideoIdentifier) {
    content.withLock { content in
      guard let slot = content.slots[video], slot.frame.buffer === frame.buffer else { return }
      slot.isNew = false
    }
  }

  /// Frames that were replaced before a flip showed them: of videos that could be seen, and of those that could not.
  var lost: (skipped: Int, unseen: Int) { content.withLock { ($0.skipped, $0.unseen) } }
}
