import CPango

/// A picture for a screen on which nothing else is: all of it is seen, with bars of the theme's background where the shapes differ.
enum IdlePicture {
  /// What decides the look.
  struct Content: Equatable {
    var picture: Artwork
    var style: SheetStyle
  }

  /// Draws the picture over the whole screen, opaque.
  static func draw(_ content: Content) -> SurfaceBitmap {
    let style = content.style
    let bitmap = SurfaceBitmap(width: style.width, height: style.height, isOpaque: true)
    let screen = Rectangle(x: 0, y: 0, width: style.width, height: style.height)
    let place = VideoFit.contain.placement(width: content.picture.width, height: content.picture.height, in: screen).target
    bitmap.draw { context in
      Lettering.setColor(context, style.theme.background, opacity: 1)
      unsafe cairo_paint(context)
      content.picture.draw(
        on: context, x: Double(place.x), y: Double(place.y), width: Double(place.width), height: Double(place.height))
    }
    return bitmap
  }
}
