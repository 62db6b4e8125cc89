import Base
import Frames

/// What stands for a camera's pictures while there are none: a black one at once, so that nobody goes on seeing a face that is not there any more, and
/// another each second, so that whoever joins meanwhile need not wait for a picture to begin with.
struct BlackPictures {
  private static let pause = Interval.seconds(1)
  private var buffer: VideoBuffer?
  /// When the next one is due; nil: none is.
  private(set) var due: Instant?

  /// Puts a black picture into `pictures` if one is due. `isMissing`: the camera gives none now.
  mutating func step(isMissing: Bool, pictures: VideoFanOut, now: Instant) {
    guard isMissing else {
      (due, buffer) = (nil, nil)
      return
    }
    guard due.map({ now >= $0 }) ?? true else { return }
    due = now + BlackPictures.pause
    let (width, height) = (pictures.format.width, pictures.format.height)
    if buffer?.width != width || buffer?.height != height {
      let black = VideoBuffer(width: width, height: height)
      black.fill(luma: 16)
      buffer = black
    }
    guard let buffer else { return }
    var ledger = Ledger()
    ledger[.capture] = now
    pictures.put(VideoFrame(buffer: buffer, ledger: ledger))
  }
}
