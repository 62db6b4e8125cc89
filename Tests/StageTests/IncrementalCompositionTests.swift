import Base
import Frames
import Testing

@testable import Stage

/// Whatever clients do and in whatever order: painting what changed gives the same pixels as painting everything.
@Suite struct IncrementalCompositionTests {
  /// Clients that do something else each time, the same for the same seed.
  private struct Clients {
    static let (width, height) = (160, 120)
    var random: RandomSource
    var layers: [SurfaceLayer] = []
    var isRearranged = false
    var uncovered: [Rectangle] = []
    var nextIdentifier: UInt64 = 1

    init(seed: UInt64) { random = RandomSource(seed: seed) }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    mutating func chance(_ percent: Int) -> Bool { number(1...100) <= percent }

    mutating func rectangle(in bounds: Rectangle) -> Rectangle {
      let (x, y) = (number(0...bounds.width - 1), number(0...bounds.height - 1))
      return Rectangle(
        x: bounds.x + x, y: bounds.y + y, width: number(1...bounds.width - x), height: number(1...bounds.height - y))
    }

    mutating func color() -> UInt32 {
      let alpha: UInt8 = [0, 0, 90, 200, 255, 255][number(0...5)]
      let color = Color(red: UInt8(number(0...255)), green: UInt8(number(0...255)), blue: UInt8(number(0...255)))
      return TestSurfaces.pixel(color, alpha: alpha)
    }

    mutating func placement() -> VideoPlacement {
      let maps: [(Double, Double, Double, Double)] = [
        (1, 0, 0, 1), (1, 0, 0, 1), (-1, 0, 0, 1), (0, 1, -1, 0), (0, 1, 1, 0), (1.3, 0, 0, 0.7), (0.8, 0.6, -0.6, 0.8), (30, 0, 0, 30),
      ]
      let (a, b, c, d) = maps[number(0...maps.count - 1)]
      return VideoPlacement(
        video: VideoIdentifier(rawValue: UInt32(number(1...4))), width: Double(number(1...1_200)) / 10,
        height: Double(number(1...900)) / 10,
        map: AffineMap(a: a, b: b, c: c, d: d, e: Double(number(-200...1_600)) / 10, f: Double(number(-200...1_200)) / 10),
        fit: VideoPlacement.Fit.allCases[number(0...4)], positionX: Double(number(0...4)) / 4, positionY: Double(number(0...4)) / 4,
        cornerRadii: chance(50) ? .init() : .init(Double(number(1...30))), opacity: chance(80) ? 1 : 0.6,
        clip: chance(80) ? nil : .init(x: Double(number(0...80)), y: Double(number(0...60)), width: 60.5, height: 50),
        background: chance(50) ? 0 : color())
    }

    mutating func addSurface() {
      let screen = Rectangle(x: -30, y: -30, width: Clients.width + 60, height: Clients.height + 60)
      let target = layers.isEmpty ? Rectangle(x: 0, y: 0, width: Clients.width, height: Clients.height) : rectangle(in: screen)
      let isScaled = chance(15)
      let bitmap = SurfaceBitmap(
        width: isScaled ? number(1...100) : target.width, height: isScaled ? number(1...100) : target.height, isOpaque: chance(10))
      var layer = SurfaceLayer(identifier: nextIdentifier, bitmap: bitmap, target: target, canvas: chance(20) ? .white : nil)
      layer.damage = [target]
      nextIdentifier += 1
      layers.insert(layer, at: number(0...layers.count))
      isRearranged = true
    }

    mutating func draw(on index: Int) {
      guard let bitmap = layers[index].bitmap else { return }
      let area = rectangle(in: Rectangle(x: 0, y: 0, width: bitmap.width, height: bitmap.height))
      TestSurfaces.fill(bitmap, area, color())
      let target = layers[index].target
      let isScaled = bitmap.width != target.width || bitmap.height != target.height
      layers[index].damage.append(
        isScaled ? target : Rectangle(x: area.x + target.x, y: area.y + target.y, width: area.width, height: area.height))
    }

    /// One thing that a client does.
    mutating func act() {
      guard !layers.isEmpty, !(layers.count < 4 && chance(10)) else { return addSurface() }
      let index = number(0...layers.count - 1)
      switch number(0...9) {
      case 0...3: draw(on: index)
      case 4, 5: layers[index].videos.insert(placement(), at: number(0...layers[index].videos.count))
      case 6 where !layers[index].videos.isEmpty: layers[index].videos.remove(at: number(0...layers[index].videos.count - 1))
      case 7 where layers.count > 1:
        let target = layers[index].target
        uncovered.append(target)
        isRearranged = true
        if chance(30) {
          layers.remove(at: index)
        } else if chance(50) {
          layers.insert(layers.remove(at: index), at: number(0...layers.count - 1))
        } else {
          layers[index].target.x += number(-20...20)
          layers[index].target.y += number(-20...20)
          layers[index].damage.append(layers[index].target)
        }
      case 8: layers[index].canvas = chance(50) ? nil : Color(red: UInt8(number(0...255)), green: 9, blue: 99)
      default:
        guard !layers[index].videos.isEmpty else { return }
        layers[index].videos[number(0...layers[index].videos.count - 1)] = placement()
      }
    }

    mutating func takeUpdate() -> LayersUpdate {
      defer {
        for index in layers.indices { layers[index].damage = [] }
        (isRearranged, uncovered) = (false, [])
      }
      return LayersUpdate(layers: layers, isRearranged: isRearranged, uncovered: uncovered)
    }
  }

  private static func noise(width: Int, height: Int, rotation: VideoFrame.Rotation, _ random: inout RandomSource) -> VideoFrame {
    let buffer = VideoBuffer(width: width, height: height)
    for y in 0..<height { for x in 0..<width { buffer.luma[y * buffer.lumaStride + x] = UInt8.random(in: 16...235, using: &random) } }
    for y in 0..<buffer.chromaHeight {
      for x in 0..<buffer.chromaWidth {
        buffer.chromaU[y * buffer.chromaStride + x] = UInt8.random(in: 16...240, using: &random)
        buffer.chromaV[y * buffer.chromaStride + x] = UInt8.random(in: 16...240, using: &random)
      }
    }
    return VideoFrame(buffer: buffer, rotation: rotation)
  }

  @Test(arguments: 1...16)
  func paintingWhatChangedEqualsPaintingAll(seed: Int) {
    var clients = Clients(seed: UInt64(seed))
    var frames: [VideoIdentifier: VideoFrame] = [:]
    let stage = Stage(width: Clients.width, height: Clients.height)
    for step in 0..<60 {
      for _ in 0..<clients.number(0...2) { clients.act() }
      if clients.chance(50) {
        let video = VideoIdentifier(rawValue: UInt32(clients.number(1...4)))
        if clients.chance(10) {
          frames[video] = nil
          stage.remove(video)
        } else {
          let rotation = [VideoFrame.Rotation.none, .none, .quarter, .half, .threeQuarters][clients.number(0...4)]
          let (width, height) = [(33, 17), (64, 36), (64, 36), (20, 50)][clients.number(0...3)]
          let frame = Self.noise(width: width, height: height, rotation: rotation, &clients.random)
          frames[video] = frame
          stage.show(frame, in: video)
        }
      }
      stage.update(layers: clients.takeUpdate())
      stage.present(now: Instant(nanoseconds: Int64(step)))
      let whole = Stage.picture(of: clients.layers, frames: frames, width: Clients.width, height: Clients.height)
      guard stage.picture() != whole else { continue }
      let first = (0..<Clients.width * Clients.height).first {
        stage.picture()[$0 % Clients.width, $0 / Clients.width] != whole[$0 % Clients.width, $0 / Clients.width]
      }!
      let (x, y) = (first % Clients.width, first / Clients.width)
      Issue.record("step \(step), at \(x), \(y): \(stage.picture()[x, y]) instead of \(whole[x, y]); painted \(stage.paintedAreas)")
      return
    }
  }
}
