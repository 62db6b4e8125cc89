import CPango
import CYUV
import Frames

/// Draws a video whose box does not lie along the screen's sides, or that is enlarged far beyond the screen: with Cairo, smoothly, and slower.
struct AskewPainter {
  private var converted: SurfaceBitmap?

  /// Draws the visible part of `box` with `frame` in it, both rounded and on the placement's background, onto transparent pixels.
  mutating func draw(_ box: PlacedBox, _ frame: VideoFrame?, on sprite: SurfaceBitmap) {
    sprite.raster(x: 0, y: 0).fill(Rectangle(x: 0, y: 0, width: sprite.width, height: sprite.height), 0)
    let target = unsafe cairo_image_surface_create_for_data(
      sprite.pixels, CAIRO_FORMAT_ARGB32, Int32(sprite.width), Int32(sprite.height), Int32(sprite.stride))
    let context = unsafe cairo_create(target)
    defer {
      unsafe cairo_destroy(context)
      unsafe cairo_surface_finish(target)
      unsafe cairo_surface_destroy(target)
    }
    let placement = box.placement
    unsafe cairo_translate(context, Double(-box.visible.x), Double(-box.visible.y))
    unsafe AskewPainter.transform(context, box.map)
    unsafe AskewPainter.roundedPath(context, placement)
    unsafe cairo_clip(context)

    let picture = frame.flatMap { box.picture(width: $0.uprightWidth, height: $0.uprightHeight) }
    let isCovered = picture.map { $0.seenX == 0...placement.width && $0.seenY == 0...placement.height } ?? false
    let background = placement.background
    if background >> 24 != 0 && !isCovered {
      let alpha = Double(background >> 24)
      func channel(_ shift: UInt32) -> Double { min(1, Double(background >> shift & 255) / alpha) }
      unsafe cairo_set_source_rgba(context, channel(16), channel(8), channel(0), alpha / 255)
      unsafe cairo_paint(context)
    }
    guard let frame, let picture else {
      converted = nil
      return
    }
    let buffer = frame.buffer
    let pixels = SurfaceBitmap.reuse(converted, width: buffer.width, height: buffer.height)
    converted = pixels
    _ = unsafe I420ToARGB(
      buffer.luma, Int32(buffer.lumaStride), buffer.chromaU, Int32(buffer.chromaStride), buffer.chromaV, Int32(buffer.chromaStride),
      pixels.pixels, Int32(pixels.stride), Int32(buffer.width), Int32(buffer.height))
    let source = unsafe cairo_image_surface_create_for_data(
      pixels.pixels, CAIRO_FORMAT_RGB24, Int32(buffer.width), Int32(buffer.height), Int32(pixels.stride))
    defer {
      unsafe cairo_surface_finish(source)
      unsafe cairo_surface_destroy(source)
    }
    unsafe cairo_rectangle(
      context, picture.seenX.lowerBound, picture.seenY.lowerBound, picture.seenX.upperBound - picture.seenX.lowerBound,
      picture.seenY.upperBound - picture.seenY.lowerBound)
    if !isCovered { unsafe cairo_clip(context) }
    unsafe AskewPainter.transform(context, AskewPainter.map(of: frame, to: picture))
    unsafe cairo_set_source_surface(context, source, 0, 0)
    // The outermost pixels go on beyond the edge, so that nothing transparent is mixed in there.
    unsafe cairo_pattern_set_extend(cairo_get_source(context), CAIRO_EXTEND_PAD)
    unsafe cairo_pattern_set_filter(cairo_get_source(context), CAIRO_FILTER_GOOD)
    unsafe cairo_paint(context)
  }

  /// From the buffer's pixels to the content box.
  private static func map(of frame: VideoFrame, to picture: PlacedBox.Picture) -> AffineMap {
    let (width, height) = (Double(frame.width), Double(frame.height))
    let upright =
      switch frame.rotation {
      case .none: AffineMap.identity
      case .quarter: AffineMap(a: 0, b: 1, c: -1, d: 0, e: height, f: 0)
      case .half: AffineMap(a: -1, b: 0, c: 0, d: -1, e: width, f: height)
      case .threeQuarters: AffineMap(a: 0, b: -1, c: 1, d: 0, e: 0, f: width)
      }
    return upright.followed(
      by: AffineMap(
        a: picture.width / Double(frame.uprightWidth), b: 0, c: 0, d: picture.height / Double(frame.uprightHeight), e: picture.x,
        f: picture.y))
  }

  private static func transform(_ context: OpaquePointer?, _ map: AffineMap) {
    var matrix = cairo_matrix_t(xx: map.a, yx: map.b, xy: map.c, yy: map.d, x0: map.e, y0: map.f)
    unsafe cairo_transform(context, &matrix)
  }

  private static func roundedPath(_ context: OpaquePointer?, _ placement: VideoPlacement) {
    let (width, height, radii) = (placement.width, placement.height, placement.boundedRadii)
    let quarter = Double.pi / 2
    unsafe cairo_new_sub_path(context)
    unsafe cairo_arc(context, width - radii.topRight, radii.topRight, radii.topRight, -quarter, 0)
    unsafe cairo_arc(context, width - radii.bottomRight, height - radii.bottomRight, radii.bottomRight, 0, quarter)
    unsafe cairo_arc(context, radii.bottomLeft, height - radii.bottomLeft, radii.bottomLeft, quarter, 2 * quarter)
    unsafe cairo_arc(context, radii.topLeft, radii.topLeft, radii.topLeft, 2 * quarter, 3 * quarter)
    unsafe cairo_close_path(context)
  }
}
