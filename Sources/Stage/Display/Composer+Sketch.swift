import Frames

extension Composer {
  /// What is to be seen, as far as it matters for the choice of planes.
  func sketch() -> SceneSketch {
    var sketch = SceneSketch()
    let overlay = overlay
    sketch.overlays = overlay.rasters.map(\.bounds)
    sketch.isDimmed = overlay.isDimmed
    page.describe(&sketch)
    return sketch
  }
}

extension PageComposition {
  /// The frame that a video shows, of the places that it is seen in the lowest.
  func frame(of video: VideoIdentifier) -> VideoFrame? {
    for surface in surfaces {
      for placed in surface.videos where placed.identifier == video && placed.isVisible { return placed.frame }
    }
    return nil
  }

  /// Adds surfaces and videos to a sketch.
  func describe(_ sketch: inout SceneSketch) {
    var count: [VideoIdentifier: Int] = [:]
    var hasPixelsBelow = false
    for (index, surface) in surfaces.enumerated() where !surface.visible.isEmpty {
      let visible = surface.videos.filter(\.isVisible)
      // A colour of its own lies over the surfaces below.
      if let canvas = surface.layer.canvas, canvas != .black { sketch.isGroundBlack = false }
      if hasPixelsBelow && (surface.layer.canvas != nil || !visible.isEmpty) { sketch.isFlat = false }
      for placed in visible {
        count[placed.identifier, default: 0] += 1
        if var video = placed.sketch() {
          video.isUnderPage = surfaces[index...].contains { !$0.isTransparent(video.seen) }
          sketch.videos.append(video)
        }
      }
      if !surface.isTransparent(surface.visible) {
        (sketch.hasPage, hasPixelsBelow) = (true, true)
      }
    }
    // A plane shows a video in one place.
    for index in sketch.videos.indices where count[sketch.videos[index].identifier] != 1 { sketch.videos[index].isPlain = false }
  }
}

extension PlacedVideo {
  /// This video in a sketch; nil while nothing of it or its box is seen.
  fileprivate func sketch() -> SceneSketch.Video? {
    guard let frame, let place = pictureInBox else {
      guard box.placement.background != 0 || isDrawnAside else { return nil }
      return SceneSketch.Video(
        identifier: identifier, visible: box.visible, picture: box.visible, sourceWidth: 1, sourceHeight: 1,
        crop: Rectangle(x: 0, y: 0, width: 1, height: 1), isPlain: false, hasBackground: true)
    }
    var video = SceneSketch.Video(
      identifier: identifier, visible: box.visible, picture: place.area, sourceWidth: frame.width, sourceHeight: frame.height,
      crop: PlacedBox.crop(frame, place.picture), turn: frame.rotation, isPlain: isPlain)
    if let buffer = frame.deviceBuffer {
      video.source = .deviceBuffer(PixelFormat(rawValue: buffer.format), modifier: buffer.modifier)
    }
    video.hasBackground = box.placement.background != 0
    return video
  }
}
