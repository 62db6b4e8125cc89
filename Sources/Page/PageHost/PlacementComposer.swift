/// Joins what the documents of one view say of their videos, and pairs it with the pictures it belongs to.
///
/// A document says where its videos stand before the picture is painted in which they stand there. So a message waits for the view's next update; where
/// nothing is painted at all, `native.painted` sets it free.
struct PlacementComposer {
  /// White: what a page stands on that says nothing else.
  static let defaultCanvas: UInt32 = 0xFFFF_FFFF
  /// Frames within frames are followed this deep.
  static let depthLimit = 16
  /// Documents that may wait or be known at once; the oldest are not needed by a page that works.
  static let documentLimit = 1024

  private struct Frame: Equatable {
    var document: UInt32
    var map: AffineMap
    var clip: ClipBox?
    var opacity: Double
  }

  private struct Document: Equatable {
    var serial: UInt32
    var canvas: UInt32?
    var videos: [VideoPlace]
    var frames: [Frame]
  }

  private var documents: [UInt32: Document] = [:]
  private var pending: [UInt32: Document] = [:]
  private var main: UInt32?
  private var pendingMain: UInt32?
  private var isReplaced = false
  /// Messages that were refused: a list of the wrong length, a colour that cannot be read, or too many documents.
  private(set) var refusedCount = 0

  /// What belongs to the picture as it stands.
  private(set) var current = Placements(canvas: defaultCanvas)

  /// Takes a message of `document`, for the picture to come.
  mutating func receive(_ message: PlacementMessage, of document: UInt32, isMainFrame: Bool) {
    var places: [VideoPlace] = []
    var frames: [Frame] = []
    for video in message.videos {
      guard let place = video.place else {
        refusedCount += 1
        return
      }
      places.append(place)
    }
    for frame in message.frames {
      guard let map = AffineMap(frame.map) else {
        refusedCount += 1
        return
      }
      frames.append(
        Frame(document: frame.document, map: map, clip: frame.clip.flatMap(ClipBox.init), opacity: min(1, max(0, frame.opacity ?? 1))))
    }
    guard pending.count + documents.count < Self.documentLimit || pending[document] != nil || documents[document] != nil else {
      refusedCount += 1
      return
    }
    pending[document] = Document(
      serial: message.serial, canvas: message.canvas.flatMap(PageColor.init)?.opaque, videos: places, frames: frames)
    if isMainFrame { pendingMain = document }
  }

  /// The view's next picture is of another page: nothing of before belongs to it.
  mutating func pageReplaced() {
    pending = [:]
    pendingMain = nil
    isReplaced = true
  }

  /// A document is gone.
  mutating func remove(_ document: UInt32) {
    pending[document] = nil
    documents[document] = nil
  }

  /// The view's picture has changed: what waits belongs to it.
  mutating func pictureUpdated() {
    guard isReplaced || !pending.isEmpty else { return }
    if isReplaced {
      documents = [:]
      main = nil
      isReplaced = false
    }
    documents.merge(pending) { $1 }
    pending.removeAll(keepingCapacity: true)
    if let pendingMain { main = pendingMain }
    pendingMain = nil
    compose()
  }

  /// The picture that message `serial` of `document` belonged to has been painted. True when that changes what is to be shown: nothing was updated.
  mutating func painted(_ serial: UInt32, of document: UInt32) -> Bool {
    guard !isReplaced, let waiting = pending[document], waiting.serial == serial else { return false }
    pending[document] = nil
    documents[document] = waiting
    if pendingMain == document {
      main = document
      pendingMain = nil
    }
    let before = current
    compose()
    return current != before
  }

  private mutating func compose() {
    var placements = Placements(canvas: Self.defaultCanvas)
    if let main, let document = documents[main] {
      placements.canvas = document.canvas ?? Self.defaultCanvas
      var visited: Set<UInt32> = []
      collect(main, map: .identity, clip: nil, opacity: 1, into: &placements.videos, visited: &visited, depth: 0)
    }
    current = placements
  }

  private func collect(
    _ number: UInt32, map: AffineMap, clip: ClipBox?, opacity: Double, into videos: inout [VideoPlace], visited: inout Set<UInt32>,
    depth: Int
  ) {
    guard depth < Self.depthLimit, videos.count < Placements.limit, let document = documents[number], visited.insert(number).inserted else {
      return
    }
    func joined(_ inner: ClipBox?) -> ClipBox? {
      guard let inner else { return clip }
      let bounds = map.bounds(of: inner)
      return clip.map { $0.intersection(bounds) } ?? bounds
    }
    for var place in document.videos {
      place.map = map.composed(with: place.map)
      place.clip = joined(place.clip)
      place.opacity *= opacity
      videos.append(place)
    }
    for frame in document.frames {
      collect(
        frame.document, map: map.composed(with: frame.map), clip: joined(frame.clip), opacity: opacity * frame.opacity, into: &videos,
        visited: &visited, depth: depth + 1)
    }
  }
}
