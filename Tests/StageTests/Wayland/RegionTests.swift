import Base
import Testing

@testable import Stage

@Suite struct RegionTests {
  @Test func regionsAreWhatPixelByPixelSetsAre() {
    var random = RandomSource(seed: 7)
    for _ in 0..<50 {
      var region = Wayland.Region()
      var pixels = Set<Int>()
      for _ in 0..<12 {
        let area = Rectangle(
          x: Int.random(in: -2...12, using: &random), y: Int.random(in: -2...12, using: &random),
          width: Int.random(in: -1...8, using: &random), height: Int.random(in: 0...8, using: &random))
        let covered = (-4...24).flatMap { y in (-4...24).compactMap { x in area.contains(x: x, y: y) ? y * 100 + x : nil } }
        if Bool.random(using: &random) {
          region.add(area)
          pixels.formUnion(covered)
        } else {
          region.subtract(area)
          pixels.subtract(covered)
        }
      }
      for y in -4...24 { for x in -4...24 { #expect(region.contains(x: x, y: y) == pixels.contains(y * 100 + x)) } }
      #expect(region.rectangles.map { $0.width * $0.height }.reduce(0, +) == pixels.count)
      let inner = Rectangle(x: 3, y: 3, width: 4, height: 4)
      let isInside = (3..<7).allSatisfy { y in (3..<7).allSatisfy { x in pixels.contains(y * 100 + x) } }
      #expect(region.contains(inner) == isInside)
    }
  }

  @Test func regionOfTooManyRectanglesIsAnError() {
    let client = TestClient(TestClient.compositor())
    let region = client.make(client.wlCompositor, 1)
    for index in 0...Wayland.Limits.regionRectangles { client.request(region, 1, .int(index * 2), .int(0), .int(1), .int(1)) }
    #expect(client.error?[1] == 2)
  }

  @Test func muchDamageIsJoined() {
    var damage = Wayland.DamageList()
    for index in 0..<1_000 { damage.add(Rectangle(x: index * 3, y: 0, width: 1, height: 2)) }
    #expect(damage.rectangles.count <= Wayland.Limits.damageRectangles)
    for index in [0, 500, 999] { #expect(damage.rectangles.contains { $0.contains(x: index * 3, y: 1) }) }
  }
}
