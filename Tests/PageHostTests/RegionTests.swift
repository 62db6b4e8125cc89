import Testing

@testable import PageHost

@Suite struct RegionTests {
  @Test func containedRectanglesAreDropped() {
    var region = Region()
    region.add(PixelRectangle(x: 0, y: 0, width: 10, height: 10))
    region.add(PixelRectangle(x: 2, y: 2, width: 3, height: 3))
    region.add(PixelRectangle(x: 0, y: 0, width: 0, height: 3))
    #expect(region.rectangles == [PixelRectangle(x: 0, y: 0, width: 10, height: 10)])
    region.add(PixelRectangle(x: -1, y: -1, width: 20, height: 20))
    #expect(region.rectangles == [PixelRectangle(x: -1, y: -1, width: 20, height: 20)])
  }

  @Test func manyRectanglesBecomeOne() {
    var region = Region()
    for index in 0...Region.limit { region.add(PixelRectangle(x: index * 10, y: index, width: 5, height: 1)) }
    #expect(region.rectangles == [PixelRectangle(x: 0, y: 0, width: Region.limit * 10 + 5, height: Region.limit + 1)])
  }
}
