import Base
import Frames

@testable import Stage

/// Pictures whose every part can be told apart on the screen.
enum TestFrames {
  /// BT.601 limited-range luma and chroma of a colour.
  enum Paint: CaseIterable {
    case red, green, blue, white, gray

    var yuv: (UInt8, UInt8, UInt8) {
      switch self {
      case .red: (82, 90, 240)
      case .green: (145, 54, 34)
      case .blue: (41, 240, 110)
      case .white: (235, 128, 128)
      case .gray: (126, 128, 128)
      }
    }

    var color: Color {
      switch self {
      case .red: Color(red: 255, green: 0, blue: 0)
      case .green: Color(red: 0, green: 255, blue: 0)
      case .blue: Color(red: 0, green: 0, blue: 255)
      case .white: .white
      case .gray: Color(red: 128, green: 128, blue: 128)
      }
    }
  }

  /// A frame of one colour.
  static func solid(_ paint: Paint, width: Int, height: Int) -> VideoFrame {
    quadrants([paint, paint, paint, paint], width: width, height: height)
  }

  /// A frame of four colours: upper left, upper right, lower left, lower right.
  static func quadrants(
    _ paints: [Paint] = [.red, .green, .blue, .white], width: Int, height: Int, rotation: VideoFrame.Rotation = .none
  ) -> VideoFrame {
    let buffer = VideoBuffer(width: width, height: height)
    for y in 0..<height {
      for x in 0..<width {
        let (luma, u, v) = paints[(y * 2 < height ? 0 : 2) + (x * 2 < width ? 0 : 1)].yuv
        buffer.luma[y * buffer.lumaStride + x] = luma
        if x % 2 == 0, y % 2 == 0 {
          buffer.chromaU[y / 2 * buffer.chromaStride + x / 2] = u
          buffer.chromaV[y / 2 * buffer.chromaStride + x / 2] = v
        }
      }
    }
    return VideoFrame(buffer: buffer, rotation: rotation)
  }
}

extension Color {
  /// Equal but for what conversion and rounding may change.
  func resembles(_ other: Color) -> Bool {
    func near(_ a: UInt8, _ b: UInt8) -> Bool { abs(Int(a) - Int(b)) <= 6 }
    return near(red, other.red) && near(green, other.green) && near(blue, other.blue)
  }
}

extension Picture {
  /// The colours a quarter in from each corner of `area`: upper left, upper right, lower left, lower right.
  func corners(of area: Rectangle) -> [Color] {
    [(1, 1), (3, 1), (1, 3), (3, 3)].map { self[area.x + area.width * $0.0 / 4, area.y + area.height * $0.1 / 4] }
  }

  /// Whether all pixels that differ from `other` lie in `area`, and at least one does.
  func differs(from other: Picture, onlyIn area: Rectangle) -> Bool {
    var isDifferent = false
    for y in 0..<height {
      for x in 0..<width where self[x, y] != other[x, y] {
        guard area.contains(x: x, y: y) else { return false }
        isDifferent = true
      }
    }
    return isDifferent
  }
}

/// Whether the colours are what was painted.
func matches(_ colors: [Color], _ paints: [TestFrames.Paint]) -> Bool {
  colors.count == paints.count && zip(colors, paints).allSatisfy { $0.resembles($1.color) }
}
