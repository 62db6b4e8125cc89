extension Wayland {
  /// `wl_compositor`.
  final class CompositorGlobal: Resource {
    enum Request: UInt16 { case createSurface, createRegion }

    override var interface: String { "wl_compositor" }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .createSurface: try client.add(Surface(client, id: try arguments.newID(), version: version))
      case .createRegion: try client.add(RegionResource(client, id: try arguments.newID(), version: version))
      case nil: throw unknown(opcode)
      }
    }
  }

  /// `wl_subcompositor`.
  final class Subcompositor: Resource {
    enum Request: UInt16 { case destroy, getSubsurface }
    enum Failure: UInt32 { case badSurface, badParent }

    override var interface: String { "wl_subcompositor" }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .destroy: destroy()
      case .getSubsurface:
        let id = try arguments.newID()
        let (surface, parent) = (try arguments.object(Surface.self), try arguments.object(Surface.self))
        guard surface.role == nil, surface.take(.subsurface) else {
          throw failure(Failure.badSurface, "wl_surface@\(surface.id) already serves as something else")
        }
        var (ancestor, depth): (Surface?, Int) = (parent, 0)
        while let current = ancestor {
          guard current !== surface, depth < Limits.nesting else {
            throw failure(Failure.badSurface, "wl_surface@\(surface.id) would lie within itself, or too deep")
          }
          (ancestor, depth) = (current.parent, depth + 1)
        }
        let subsurface = try client.add(Subsurface(client, id: id, version: version, surface: surface, parent: parent))
        surface.role = subsurface
        parent.addChild(subsurface)
      case nil: throw unknown(opcode)
      }
    }
  }

  /// `wl_subsurface`: places one surface within another.
  final class Subsurface: Resource, SurfaceRole {
    enum Request: UInt16 { case destroy, setPosition, placeAbove, placeBelow, setSync, setDesync }
    enum Failure: UInt32 { case badSurface }

    override var interface: String { "wl_subsurface" }
    private(set) weak var surface: Surface?
    private(set) weak var parent: Surface?
    /// Where the surface's corner lies in the parent, in surface pixels.
    private(set) var x = 0
    private(set) var y = 0
    private var pendingPosition: (x: Int, y: Int)?
    private var isSynchronized = true

    init(_ client: Client, id: UInt32, version: UInt32, surface: Surface, parent: Surface) {
      (self.surface, self.parent) = (surface, parent)
      super.init(client, id: id, version: version)
    }

    /// Whether commits wait for the parent: here, or in an ancestor.
    var isEffectivelySynchronized: Bool {
      isSynchronized || (parent?.role as? Subsurface)?.isEffectivelySynchronized ?? false
    }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .destroy: destroy()
      case .setPosition: pendingPosition = (try arguments.int().clamped, try arguments.int().clamped)
      case .placeAbove: try place(nextTo: try arguments.object(Surface.self), isAbove: true)
      case .placeBelow: try place(nextTo: try arguments.object(Surface.self), isAbove: false)
      case .setSync: isSynchronized = true
      case .setDesync:
        isSynchronized = false
        if !isEffectivelySynchronized { try surface?.applyTree() }
      case nil: throw unknown(opcode)
      }
    }

    private func place(nextTo sibling: Surface, isAbove: Bool) throws(ProtocolFailure) {
      guard let parent else { return }
      let other = sibling === parent ? nil : sibling.role as? Subsurface
      guard sibling === parent || (other != nil && other !== self), parent.move(self, nextTo: other, isAbove: isAbove) else {
        throw failure(Failure.badSurface, "wl_surface@\(sibling.id) is neither a sibling nor the parent")
      }
    }

    /// Takes over the position asked for; the parent was committed.
    func applyPosition() {
      guard let position = pendingPosition else { return }
      pendingPosition = nil
      guard (x, y) != position else { return }
      (x, y) = position
      compositor.arrangementChanged()
    }

    func check(_ state: SurfaceState) throws(ProtocolFailure) {}
    func surfaceWasApplied() throws(ProtocolFailure) {}

    func surfaceWasRemoved() {
      parent?.removeChild(self)
      surface = nil
    }

    /// The parent is gone: the surface is no longer seen.
    func parentWasRemoved() {
      parent = nil
      compositor.arrangementChanged()
    }

    override func wasRemoved() {
      parent?.removeChild(self)
      surface?.role = nil
    }
  }
}

extension Wayland.Surface {
  /// Applies what this surface and its synchronized subsurfaces wait with, now that nothing above makes them wait.
  fileprivate func applyTree() throws(Wayland.ProtocolFailure) {
    try applyWaiting()
    for child in stack { if let child, !child.isEffectivelySynchronized { try child.surface?.applyTree() } }
  }
}
