import CYUV
import Frames

/// One video where a page put it: paints its box, or any part of it, beneath the page's pixels.
///
/// Along the screen's sides and opaque, as nearly all are, it is converted straight to the screen. What is translucent or lies askew is
/// drawn aside once for each frame, and blended from there.
final class PlacedVideo {
  /// Where it stands; see `place(_:)`.
  private(set) var box: PlacedBox
  /// Whether surfaces above hide all of it.
  var isHidden = false
  /// What is shown; nil until the first frame.
  private(set) var frame: VideoFrame?
  /// Where the picture stands in the box on the screen, in pixels; nil when none of it does, and for a box askew.
  private var picture: Rectangle?

  private var corners: [RoundedCorner]
  private var painter = VideoPainter()
  private var askewPainter = AskewPainter()
  private var isPrepared = false
  private var sprite: SurfaceBitmap?
  private var isSpriteDrawn = false
  private var cornerPixels: SurfaceBitmap?

  /// The screen's size bounds how large a picture is made.
  private let screen: Rectangle

  init(_ box: PlacedBox, screen: Rectangle) {
    (self.box, self.screen) = (box, screen)
    corners = RoundedCorner.corners(of: box)
  }

  /// Which video it is.
  var identifier: VideoIdentifier { box.placement.video }

  /// Whether anything of the box may be on the screen.
  var isVisible: Bool { !box.visible.isEmpty && !isHidden }

  /// Puts the same video elsewhere.
  func place(_ box: PlacedBox) {
    guard box != self.box else { return }
    self.box = box
    corners = RoundedCorner.corners(of: box)
    invalidate()
  }

  /// What another frame changes on the screen.
  struct Change {
    var area: Rectangle
    /// Whether only the picture's own pixels change, and nothing around it.
    var isPictureAlone: Bool
  }

  /// Shows another frame, or none, and returns what has to be painted again.
  func show(_ frame: VideoFrame?) -> Change {
    let previous = (picture, self.frame)
    self.frame = frame
    invalidate()
    // In a box of the same shape, a picture of the same shape changes nothing but its own pixels.
    let isSimilar = frame != nil && previous.1 != nil && picture != nil && picture == previous.0
    let area = isSimilar ? (picture ?? box.visible).intersection(box.visible) : box.visible
    return Change(area: area, isPictureAlone: isSimilar)
  }

  private func invalidate() {
    (isPrepared, isSpriteDrawn) = (false, false)
    picture = nil
    guard let frame, box.turn != nil, let picture = box.picture(width: frame.uprightWidth, height: frame.uprightHeight) else { return }
    let area = PlacedBox.area(box.map, x: picture.seenX, y: picture.seenY, isSnapped: true)
    self.picture = area.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Whether the picture cannot be made at its full size along the screen's sides.
  private var isAskew: Bool {
    guard box.turn != nil else { return true }
    guard let picture else { return false }
    return max(picture.width, picture.height) > 16_384 || picture.area > 4 * screen.area
  }

  private var isTranslucent: Bool { box.placement.opacity < 1 }

  /// Whether its pixels are not the screen's, but drawn elsewhere first.
  var isDrawnAside: Bool { isTranslucent || isAskew }

  /// Whether the picture is a rectangle of opaque pixels, neither turned by the page nor mirrored: as a plane of a display shows it.
  var isPlain: Bool { !isDrawnAside && corners.isEmpty && box.turn == Turn(quarters: 0, isMirrored: false) && picture != nil }

  /// Where the picture stands on the screen, and in its box.
  var pictureInBox: (area: Rectangle, picture: PlacedBox.Picture)? {
    guard let frame, let picture, let place = box.picture(width: frame.uprightWidth, height: frame.uprightHeight) else { return nil }
    return (picture, place)
  }

  /// Whether the box hides everything below it in `area`.
  func covers(_ area: Rectangle) -> Bool {
    guard isVisible, box.visible.contains(area), !isTranslucent, !isAskew, !corners.contains(where: { $0.area.overlaps(area) }) else {
      return false
    }
    return box.placement.background >> 24 == 255 || (frame != nil && picture?.contains(area) == true)
  }

  /// What is seen of the picture itself, when it lies along the screen's sides.
  var seenPicture: Rectangle? { picture.map { $0.intersection(box.visible) } }

  /// Paints what of the box lies in `area` and shows its background.
  func paintBackground(_ area: Rectangle, on raster: Raster) {
    let area = area.intersection(box.visible)
    guard !area.isEmpty, box.placement.background != 0 else { return }
    guard let picture else { return raster.blend(box.placement.background, area) }
    area.subtracting(picture) { raster.blend(box.placement.background, $0) }
  }

  /// Paints what of the box lies in `area`.
  func paint(_ area: Rectangle, on raster: Raster) {
    let area = area.intersection(box.visible)
    guard !area.isEmpty else { return }
    if isDrawnAside {
      raster.blend(drawnAside(), area)
      return
    }
    paint(area, around: 0, on: raster)
    for corner in corners {
      let part = area.intersection(corner.area)
      guard !part.isEmpty else { continue }
      let pixels = SurfaceBitmap.reuse(cornerPixels, width: corner.area.width, height: corner.area.height)
      cornerPixels = pixels
      let aside = pixels.raster(x: corner.area.x, y: corner.area.y)
      paint(part, onEmpty: aside)
      corner.mask(part, of: aside)
      raster.blend(aside, part)
    }
  }

  /// Paints an area without the corners from the given one on.
  private func paint(_ area: Rectangle, around index: Int, on raster: Raster) {
    guard index < corners.count else {
      if let picture {
        area.subtracting(picture) { raster.blend(box.placement.background, $0) }
        convert(area.intersection(picture), of: picture, to: raster)
      } else {
        raster.blend(box.placement.background, area)
      }
      return
    }
    area.subtracting(corners[index].area) { paint($0, around: index + 1, on: raster) }
  }

  /// Replaces the pixels of an area by background and picture.
  private func paint(_ area: Rectangle, onEmpty raster: Raster) {
    if let picture {
      area.subtracting(picture) { raster.fill($0, box.placement.background) }
      convert(area.intersection(picture), of: picture, to: raster)
    } else {
      raster.fill(area, box.placement.background)
    }
  }

  private func convert(_ area: Rectangle, of picture: Rectangle, to raster: Raster) {
    guard !area.isEmpty, let frame, let turn = box.turn else { return }
    if !isPrepared, let place = box.picture(width: frame.uprightWidth, height: frame.uprightHeight) {
      painter.prepare(
        frame, crop: PlacedBox.crop(frame, place), turn: turn.after(frame.rotation), width: picture.width, height: picture.height)
      isPrepared = true
    }
    painter.convert(area, from: picture, to: raster)
  }

  /// The visible part as premultiplied pixels, drawn now if it was not yet.
  private func drawnAside() -> Raster {
    let visible = box.visible
    let sprite = SurfaceBitmap.reuse(sprite, width: visible.width, height: visible.height)
    self.sprite = sprite
    let raster = sprite.raster(x: visible.x, y: visible.y)
    if !isSpriteDrawn {
      if isAskew {
        askewPainter.draw(box, frame, on: sprite)
      } else {
        paint(visible, onEmpty: raster)
        for corner in corners { corner.mask(corner.area, of: raster) }
      }
      raster.shade(visible, by: UInt8((min(1, box.placement.opacity) * 255).rounded()))
      isSpriteDrawn = true
    }
    return raster
  }
}
