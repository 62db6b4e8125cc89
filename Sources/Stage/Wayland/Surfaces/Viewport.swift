extension Wayland {
  /// `wp_viewporter`.
  final class Viewporter: Resource {
    enum Request: UInt16 { case destroy, getViewport }
    enum Failure: UInt32 { case viewportExists }

    override var interface: String { "wp_viewporter" }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .destroy: destroy()
      case .getViewport:
        let (id, surface) = (try arguments.newID(), try arguments.object(Surface.self))
        guard surface.viewport == nil else { throw failure(Failure.viewportExists, "wl_surface@\(surface.id) has a viewport already") }
        surface.viewport = try client.add(Viewport(client, id: id, version: version, surface: surface))
      case nil: throw unknown(opcode)
      }
    }
  }

  /// `wp_viewport`: crops and scales a surface.
  final class Viewport: Resource {
    enum Request: UInt16 { case destroy, setSource, setDestination }
    enum Failure: UInt32 { case badValue, badSize, outOfBuffer, noSurface }

    /// The part of the buffer that is seen, in surface pixels before the crop's own scaling.
    struct Source: Equatable {
      var x: Double
      var y: Double
      var width: Double
      var height: Double
    }

    /// The size that it is shown in, in surface pixels.
    struct Size: Equatable {
      var width: Int
      var height: Int
    }

    override var interface: String { "wp_viewport" }
    private weak var surface: Surface?

    init(_ client: Client, id: UInt32, version: UInt32, surface: Surface) {
      self.surface = surface
      super.init(client, id: id, version: version)
    }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .destroy: destroy()
      case .setSource:
        let source = Source(
          x: try arguments.fixed(), y: try arguments.fixed(), width: try arguments.fixed(), height: try arguments.fixed())
        let surface = try living()
        if source == Source(x: -1, y: -1, width: -1, height: -1) {
          surface.pending.viewportSource = .some(nil)
        } else {
          guard source.x >= 0, source.y >= 0, source.width > 0, source.height > 0 else {
            throw failure(Failure.badValue, "a crop of \(source.width)x\(source.height) pixels at \(source.x), \(source.y)")
          }
          surface.pending.viewportSource = source
        }
      case .setDestination:
        let size = Size(width: try arguments.int(), height: try arguments.int())
        let surface = try living()
        if size == Size(width: -1, height: -1) {
          surface.pending.viewportSize = .some(nil)
        } else {
          let sides = 1...(2 * Limits.bufferSide)
          guard sides.contains(size.width), sides.contains(size.height) else {
            throw failure(Failure.badValue, "a surface of \(size.width)x\(size.height) pixels")
          }
          surface.pending.viewportSize = size
        }
      case nil: throw unknown(opcode)
      }
    }

    private func living() throws(ProtocolFailure) -> Surface {
      guard let surface, !surface.isDestroyed else { throw failure(Failure.noSurface, "the surface of the viewport is gone") }
      return surface
    }

    override func wasRemoved() {
      surface?.pending.viewportSource = .some(nil)
      surface?.pending.viewportSize = .some(nil)
      surface?.viewport = nil
    }
  }
}
