import Glibc
import Testing

@testable import Stage

@Suite struct ArtworkTests {
  /// Two pixels: red, half transparent; blue, wholly.
  private let translucent: [UInt8] = [
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00,
    0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0xF4, 0x22, 0x7F, 0x8A, 0x00, 0x00, 0x00, 0x11, 0x49, 0x44, 0x41, 0x54, 0x78, 0xDA, 0x63,
    0xF8, 0xCF, 0xC0, 0xD0, 0xC0, 0xC0, 0xF0, 0x9F, 0x01, 0x00, 0x0C, 0x7F, 0x02, 0x7F, 0xF5, 0x55, 0xAE, 0x82, 0x00, 0x00, 0x00, 0x00,
    0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
  ]

  private func failure(_ png: [UInt8], maximumSide: Int = 4_096) -> Artwork.Failure? {
    do throws(Artwork.Failure) {
      _ = try Artwork(png: png, maximumSide: maximumSide)
      return nil
    } catch {
      return error
    }
  }

  @Test func pixelsKeepTheirTransparency() throws {
    let artwork = try Artwork(png: translucent)
    #expect((artwork.width, artwork.height) == (2, 1))
    #expect(artwork.pixels == [0, 0, 128, 128, 0, 0, 0, 0])
  }

  @Test func opaqueFilesAreReadToo() throws {
    let stage = Stage(width: 16, height: 8)
    let artwork = try Artwork(png: stage.screenshot())
    #expect((artwork.width, artwork.height) == (16, 8) && artwork.pixels.prefix(4) == [0, 0, 0, 255])
  }

  @Test func whatIsWrongWithAFileIsSaid() throws {
    let png = try Stage(width: 40, height: 30).screenshot()
    #expect(failure([]) == .notPNG)
    #expect(failure(Array("GIF89a, and more than enough bytes to be looked at".utf8)) == .notPNG)
    #expect(failure(png, maximumSide: 39) == .tooLarge(found: "40x30 pixels", limit: "39x39"))
    #expect("\(try #require(failure(Array(png.prefix(png.count - 30)))))".hasPrefix("is damaged: "))
    do throws(Artwork.Failure) {
      _ = try Artwork(path: "/nowhere/logo.png")
      Issue.record("there is no such file")
    } catch {
      #expect("\(error)" == "cannot be read: No such file or directory")
    }
    do throws(Artwork.Failure) {
      _ = try Artwork(path: "/")
      Issue.record("a folder is no file")
    } catch {
      #expect("\(error)".hasPrefix("cannot be read: "))
    }
  }

  @Test func aPictureThatClaimsToBeHugeIsNeverUnpacked() {
    var png = translucent
    png.replaceSubrange(16..<20, with: [0x7F, 0xFF, 0xFF, 0xFF])
    #expect(failure(png) == .tooLarge(found: "2147483647x1 pixels", limit: "4096x4096"))
  }
}
