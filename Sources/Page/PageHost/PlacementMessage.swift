/// What `native.place` takes, as BRIDGE.md describes it: where the videos of one document stand.
struct PlacementMessage: Decodable, Equatable {
  struct Video: Decodable, Equatable {
    var video: UInt32
    var width: Double
    var height: Double
    var map: [Double]
    var fit: VideoPlace.Fit
    var position: [Double]
    var radii: [Double]
    var opacity: Double
    var clip: [Double]?
    var background: String
  }

  struct Frame: Decodable, Equatable {
    var document: UInt32
    var map: [Double]
    var clip: [Double]?
    /// Of the frame element and all around it; nil: 1.
    var opacity: Double?
  }

  var serial: UInt32
  var canvas: String?
  var videos: [Video]
  var frames: [Frame]
}

extension PlacementMessage.Video {
  /// The place in the document's own coordinates; nil when a list has the wrong length or a colour cannot be read.
  var place: VideoPlace? {
    guard let map = AffineMap(map), position.count == 2, radii.count == 4, let color = PageColor(background) else { return nil }
    var box: ClipBox?
    if let clip {
      guard let read = ClipBox(clip) else { return nil }
      box = read
    }
    return VideoPlace(
      video: video, width: max(0, width), height: max(0, height), map: map, fit: fit, positionX: position[0], positionY: position[1],
      radii: radii.map { max(0, $0) }, opacity: min(1, max(0, opacity)), clip: box, background: color.premultiplied)
  }
}

extension AffineMap {
  /// The map of six numbers a to f.
  init?(_ numbers: [Double]) {
    guard numbers.count == 6 else { return nil }
    self.init(a: numbers[0], b: numbers[1], c: numbers[2], d: numbers[3], e: numbers[4], f: numbers[5])
  }
}

extension ClipBox {
  /// The rectangle of x, y, width and height.
  init?(_ numbers: [Double]) {
    guard numbers.count == 4 else { return nil }
    self.init(x: numbers[0], y: numbers[1], width: max(0, numbers[2]), height: max(0, numbers[3]))
  }
}

/// A colour as the page writes it: `rrggbb` or `rrggbbaa` in hexadecimal, with or without `#`.
struct PageColor: Equatable {
  var red: UInt32
  var green: UInt32
  var blue: UInt32
  var alpha: UInt32

  init?(_ text: String) {
    let digits = text.hasPrefix("#") ? text.dropFirst() : Substring(text)
    guard digits.utf8.count == 6 || digits.utf8.count == 8, digits.allSatisfy(\.isHexDigit), let value = UInt32(digits, radix: 16) else {
      return nil
    }
    let rgba = digits.utf8.count == 8 ? value : value << 8 | 0xFF
    red = rgba >> 24
    green = rgba >> 16 & 0xFF
    blue = rgba >> 8 & 0xFF
    alpha = rgba & 0xFF
  }

  /// 0xAARRGGBB with the colours multiplied by alpha.
  var premultiplied: UInt32 {
    func scaled(_ value: UInt32) -> UInt32 { (value * alpha + 127) / 255 }
    return alpha << 24 | scaled(red) << 16 | scaled(green) << 8 | scaled(blue)
  }

  /// 0xFFRRGGBB: the colour without its transparency.
  var opaque: UInt32 { 0xFF00_0000 | red << 16 | green << 8 | blue }
}
