extension Wayland {
  /// What a surface serves as. It keeps this kind for life.
  enum SurfaceRoleKind: String { case cursor, subsurface, toplevel, popup, dragIcon }

  /// Who follows a surface's commits, because it serves as something.
  protocol SurfaceRole: AnyObject {
    /// Whether the state may be committed at this point.
    func check(_ state: SurfaceState) throws(ProtocolFailure)
    /// The surface's state has been applied.
    func surfaceWasApplied() throws(ProtocolFailure)
    /// The surface is gone.
    func surfaceWasRemoved()
  }

  /// `wl_surface`: a rectangle of pixels with double-buffered state.
  final class Surface: Resource {
    enum Request: UInt16 {
      case destroy, attach, damage, frame, setOpaqueRegion, setInputRegion, commit, setBufferTransform, setBufferScale, damageBuffer, offset
    }
    enum Event: UInt16 { case enter, leave }
    enum Failure: UInt32 { case invalidScale, invalidTransform, invalidSize, invalidOffset }

    override var interface: String { "wl_surface" }
    /// Names the surface for the stage; never used twice.
    let identifier: UInt64

    /// What the client asked for since its last commit.
    var pending = SurfaceState()
    /// What a synchronized subsurface committed, waiting for its parent.
    private(set) var waiting: SurfaceState?

    private(set) var bitmap: SurfaceBitmap?
    private var transform = BufferTransform.normal
    private var scale = 1
    private var viewportSource: Viewport.Source?
    private var viewportSize: Viewport.Size?
    private var opaqueRegion = Region()
    private var isFormatOpaque = false
    /// Where input goes to the surface; nil: everywhere.
    private(set) var inputRegion: Region?
    private(set) var videos = VideoState()
    /// Whether the videos changed since the stage looked last.
    var videosAreNew = false
    /// Size in surface pixels; 0 without a picture.
    private(set) var width = 0
    private(set) var height = 0
    /// How far the client moved the corner so far; counts for cursors and drag icons.
    private(set) var offsetX = 0
    private(set) var offsetY = 0
    /// What changed since the stage looked last, in surface pixels.
    var damage = DamageList()
    /// Callbacks of the state applied, until the stage takes the picture.
    var callbacks: [Callback] = []
    /// Feedbacks of the state applied, until the stage takes the picture.
    var feedbacks: [PresentationFeedback] = []

    /// The order of the surface (nil) and its subsurfaces, from the bottom up.
    private(set) var stack: [Subsurface?] = [nil]
    private var pendingStack: [Subsurface?]?

    private(set) var roleKind: SurfaceRoleKind?
    weak var role: (any SurfaceRole)?
    weak var viewport: Viewport?
    weak var videoSurface: VideoSurface?
    private var isEntered = false

    override init(_ client: Client, id: UInt32, version: UInt32) {
      identifier = client.compositor.newSurfaceIdentifier()
      super.init(client, id: id, version: version)
    }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .destroy: destroy()
      case .attach: try attach(&arguments)
      case .damage: pending.damage.add(try rectangle(&arguments))
      case .frame:
        let callback = try client.add(Callback(client, id: try arguments.newID(), version: 1))
        pending.callbacks.append(callback)
      case .setOpaqueRegion: pending.opaqueRegion = try arguments.optionalObject(RegionResource.self)?.region ?? Region()
      case .setInputRegion: pending.inputRegion = .some(try arguments.optionalObject(RegionResource.self)?.region)
      case .commit: try commit()
      case .setBufferTransform:
        try require(version: 2, opcode)
        let value = try arguments.int()
        guard let transform = UInt32(exactly: value).flatMap(BufferTransform.init) else {
          throw failure(Failure.invalidTransform, "buffer transform \(value)")
        }
        pending.transform = transform
      case .setBufferScale:
        try require(version: 3, opcode)
        let scale = try arguments.int()
        guard (1...16).contains(scale) else { throw failure(Failure.invalidScale, "buffer scale \(scale)") }
        pending.scale = scale
      case .damageBuffer:
        try require(version: 4, opcode)
        pending.bufferDamage.add(try rectangle(&arguments))
      case .offset:
        try require(version: 5, opcode)
        (pending.offsetX, pending.offsetY) = (try arguments.int(), try arguments.int())
      case nil: throw unknown(opcode)
      }
    }

    private func attach(_ arguments: inout Arguments) throws(ProtocolFailure) {
      let buffer = try arguments.optionalObject(Buffer.self)
      let (x, y) = (try arguments.int(), try arguments.int())
      guard version < 5 || (x, y) == (0, 0) else { throw failure(Failure.invalidOffset, "an offset that belongs into wl_surface.offset") }
      pending.attachment = buffer.map { .buffer($0) } ?? .nothing
      if version < 5 { (pending.offsetX, pending.offsetY) = (x, y) }
    }

    private func rectangle(_ arguments: inout Arguments) throws(ProtocolFailure) -> Rectangle {
      Rectangle(x: try arguments.int(), y: try arguments.int(), width: try arguments.int(), height: try arguments.int())
    }

    /// Gives the surface its role, which never changes.
    func take(_ kind: SurfaceRoleKind) -> Bool {
      guard roleKind == nil || roleKind == kind else { return false }
      roleKind = kind
      return true
    }

    /// The parent, for a subsurface.
    var parent: Surface? { (role as? Subsurface)?.parent }

    // MARK: Committing

    private func commit() throws(ProtocolFailure) {
      try role?.check(pending)
      var state = waiting ?? SurfaceState()
      state.merge(pending)
      pending = SurfaceState()
      if let subsurface = role as? Subsurface, subsurface.isEffectivelySynchronized {
        waiting = state
      } else {
        waiting = nil
        try apply(state)
      }
    }

    /// Applies what waited for the parent, here and in all subsurfaces below that wait.
    func applyWaiting() throws(ProtocolFailure) {
      if let state = waiting {
        waiting = nil
        try apply(state)
      } else {
        for child in stack { if let child, child.isEffectivelySynchronized { try child.surface?.applyWaiting() } }
      }
    }

    private func apply(_ state: SurfaceState) throws(ProtocolFailure) {
      let oldSize = (width, height)
      let hadBitmap = bitmap != nil
      offsetX = (offsetX + state.offsetX).clamped
      offsetY = (offsetY + state.offsetY).clamped
      if let region = state.opaqueRegion { opaqueRegion = region }
      if let region = state.inputRegion { inputRegion = region }
      var isGeometryNew = (state.scale ?? scale) != scale || (state.transform ?? transform) != transform
      if let scale = state.scale { self.scale = scale }
      if let transform = state.transform { self.transform = transform }
      if let source = state.viewportSource {
        isGeometryNew = isGeometryNew || source != viewportSource
        viewportSource = source
      }
      if let size = state.viewportSize {
        isGeometryNew = isGeometryNew || size != viewportSize
        viewportSize = size
      }
      switch state.attachment {
      case .nothing: dropBitmap()
      case .buffer(let buffer):
        defer { buffer.release() }
        try take(buffer, state, isWhole: isGeometryNew)
      case nil: break
      }
      try updateSize()
      if let videos = state.videos, videos != self.videos {
        self.videos = videos
        videosAreNew = true
        compositor.surfaceContentChanged()
      }
      bitmap?.isOpaque = isFormatOpaque || (videos.placements.isEmpty && opaqueRegion.contains(bounds))
      if isGeometryNew || oldSize != (width, height) { damage.add(bounds) }
      callbacks += state.callbacks
      if state.attachment != nil {
        for feedback in feedbacks { feedback.discard() }
        feedbacks.removeAll()
      }
      feedbacks += state.feedbacks
      if !state.callbacks.isEmpty || !state.feedbacks.isEmpty || !damage.isEmpty { compositor.surfaceContentChanged() }
      if oldSize != (width, height) || hadBitmap != (bitmap != nil) || state.offsetX != 0 || state.offsetY != 0 {
        compositor.arrangementChanged()
      }
      if state.inputRegion != nil { compositor.arrangementChanged() }
      updateEntered()
      try applyChildren()
      try role?.surfaceWasApplied()
    }

    private func applyChildren() throws(ProtocolFailure) {
      if let order = pendingStack {
        stack = order
        pendingStack = nil
        compositor.arrangementChanged()
      }
      for child in stack {
        guard let child else { continue }
        child.applyPosition()
        if child.isEffectivelySynchronized { try child.surface?.applyWaiting() }
      }
    }

    // MARK: Pixels

    /// All of the surface, in surface pixels.
    var bounds: Rectangle { Rectangle(x: 0, y: 0, width: width, height: height) }

    /// The part of the bitmap that is seen, in bitmap pixels; nil: all.
    var source: Rectangle? {
      guard let bitmap, let crop = viewportSource else { return nil }
      let x = min(bitmap.width - 1, Int((crop.x * Double(scale)).rounded()))
      let y = min(bitmap.height - 1, Int((crop.y * Double(scale)).rounded()))
      let right = Int(((crop.x + crop.width) * Double(scale)).rounded())
      let bottom = Int(((crop.y + crop.height) * Double(scale)).rounded())
      let wanted = Rectangle(x: x, y: y, width: max(1, right - x), height: max(1, bottom - y))
      return Region.common(wanted, Rectangle(x: 0, y: 0, width: bitmap.width, height: bitmap.height))
    }

    private func take(_ buffer: Buffer, _ state: SurfaceState, isWhole: Bool) throws(ProtocolFailure) {
      let layout = buffer.layout
      let (width, height) = transform.isSideways ? (layout.height, layout.width) : (layout.width, layout.height)
      guard width % scale == 0, height % scale == 0 else { throw invalidSize(width, height) }
      isFormatOpaque = layout.format == .xrgb8888
      if let bitmap, bitmap.width == width, bitmap.height == height, transform == .normal, !isWhole {
        let all = Rectangle(x: 0, y: 0, width: width, height: height)
        var areas = DamageList()
        for area in state.bufferDamage.rectangles {
          if let area = Region.common(area, all) { areas.add(area) }
        }
        for area in state.damage.rectangles {
          if let area = Region.common(bitmapArea(of: area), all) { areas.add(area) }
        }
        for area in areas.rectangles {
          try buffer.copy(area, to: bitmap)
          damage.add(surfaceArea(of: area))
        }
        return
      }
      let target = try newBitmap(width: width, height: height)
      if transform == .normal {
        try buffer.copy(Rectangle(x: 0, y: 0, width: width, height: height), to: target)
      } else {
        try buffer.copyUpright(transform, to: target)
      }
      try updateSize()
      damage.add(bounds)
    }

    private func invalidSize(_ width: Int, _ height: Int) -> ProtocolFailure {
      failure(Failure.invalidSize, "a buffer of \(width)x\(height) pixels is no multiple of its scale, \(scale)")
    }

    private func newBitmap(width: Int, height: Int) throws(ProtocolFailure) -> SurfaceBitmap {
      if let bitmap, bitmap.width == width, bitmap.height == height { return bitmap }
      dropBitmap()
      guard client.bitmapBytes + width * height * 4 <= Limits.bitmapBytes else {
        throw ProtocolFailure(.noMemory, object: id, "pictures of more than \(Limits.bitmapBytes >> 20) MB")
      }
      client.bitmapBytes += width * height * 4
      let new = SurfaceBitmap(width: width, height: height)
      bitmap = new
      return new
    }

    private func dropBitmap() {
      guard let old = bitmap else { return }
      client.bitmapBytes -= old.width * old.height * 4
      bitmap = nil
    }

    private func updateSize() throws(ProtocolFailure) {
      guard let bitmap else {
        (width, height) = (0, 0)
        return
      }
      // A new scale may come without a new buffer.
      guard bitmap.width % scale == 0, bitmap.height % scale == 0 else { throw invalidSize(bitmap.width, bitmap.height) }
      (width, height) = (bitmap.width / scale, bitmap.height / scale)
      if let crop = viewportSource {
        guard crop.x + crop.width <= Double(width), crop.y + crop.height <= Double(height) else {
          throw viewportFailure(.outOfBuffer, "a crop that ends outside of the buffer")
        }
        if viewportSize == nil {
          guard crop.width == crop.width.rounded(), crop.height == crop.height.rounded() else {
            throw viewportFailure(.badSize, "a crop of \(crop.width)x\(crop.height) pixels makes no whole surface")
          }
          (width, height) = (Int(crop.width), Int(crop.height))
        }
      }
      if let size = viewportSize { (width, height) = (size.width, size.height) }
    }

    private func viewportFailure(_ code: Viewport.Failure, _ reason: String) -> ProtocolFailure {
      viewport?.failure(code, reason) ?? ProtocolFailure(.implementation, object: id, reason)
    }

    /// How surface pixels map to bitmap pixels: `bitmap = origin + factor * surface`.
    private var mapping: (originX: Double, originY: Double, factorX: Double, factorY: Double) {
      guard viewportSource != nil || viewportSize != nil, width > 0, height > 0, let bitmap else {
        return (0, 0, Double(scale), Double(scale))
      }
      let crop =
        viewportSource
        ?? Viewport.Source(x: 0, y: 0, width: Double(bitmap.width / scale), height: Double(bitmap.height / scale))
      let factor = Double(scale)
      return (crop.x * factor, crop.y * factor, crop.width * factor / Double(width), crop.height * factor / Double(height))
    }

    private func bitmapArea(of area: Rectangle) -> Rectangle {
      let map = mapping
      return Rectangle(
        left: map.originX + Double(area.x) * map.factorX, top: map.originY + Double(area.y) * map.factorY,
        right: map.originX + Double(area.x + area.width) * map.factorX, bottom: map.originY + Double(area.y + area.height) * map.factorY)
    }

    private func surfaceArea(of area: Rectangle) -> Rectangle {
      let map = mapping
      let outer = Rectangle(
        left: (Double(area.x) - map.originX) / map.factorX, top: (Double(area.y) - map.originY) / map.factorY,
        right: (Double(area.x + area.width) - map.originX) / map.factorX,
        bottom: (Double(area.y + area.height) - map.originY) / map.factorY)
      return Region.common(outer, bounds) ?? Rectangle(x: 0, y: 0, width: 0, height: 0)
    }

    // MARK: Subsurfaces

    /// Adds a subsurface on top; seen with the next commit.
    func addChild(_ child: Subsurface) {
      pendingStack = (pendingStack ?? stack) + [child]
    }

    /// Takes a subsurface away, at once.
    func removeChild(_ child: Subsurface) {
      stack.removeAll { $0 === child }
      pendingStack?.removeAll { $0 === child }
      compositor.arrangementChanged()
    }

    /// Moves `child` next to `sibling` (nil: this surface) with the next commit. False when there is no such sibling.
    func move(_ child: Subsurface, nextTo sibling: Subsurface?, isAbove: Bool) -> Bool {
      var order = pendingStack ?? stack
      order.removeAll { $0 === child }
      guard let index = order.firstIndex(where: { $0 === sibling }) else { return false }
      order.insert(child, at: isAbove ? index + 1 : index)
      pendingStack = order
      return true
    }

    // MARK: Videos

    /// Changes the videos with the next commit.
    func changeVideos(_ change: (inout VideoState) -> Void) {
      guard !isDestroyed else { return }
      var state = pending.videos ?? waiting?.videos ?? videos
      change(&state)
      pending.videos = state
    }

    // MARK: Being seen

    private func updateEntered() {
      guard isEntered != (bitmap != nil) else { return }
      isEntered = bitmap != nil
      for output in client.outputs { post((isEntered ? Event.enter : .leave).rawValue, .object(output)) }
    }

    /// Tells about an output that was bound after the surface came up.
    func enter(_ output: Output) { if isEntered { post(Event.enter.rawValue, .object(output)) } }

    /// Takes the picture off, as when the role object goes.
    func unmap() {
      guard bitmap != nil else { return }
      dropBitmap()
      (width, height) = (0, 0)
      updateEntered()
      compositor.arrangementChanged()
    }

    override func wasRemoved() {
      if case .buffer(let buffer) = waiting?.attachment { buffer.release() }
      for callback in callbacks + pending.callbacks + (waiting?.callbacks ?? []) { callback.destroy() }
      for feedback in feedbacks + pending.feedbacks + (waiting?.feedbacks ?? []) { feedback.discard() }
      (callbacks, feedbacks, pending, waiting) = ([], [], SurfaceState(), nil)
      dropBitmap()
      for child in stack { child?.parentWasRemoved() }
      for child in pendingStack ?? [] { child?.parentWasRemoved() }
      (stack, pendingStack) = ([nil], nil)
      role?.surfaceWasRemoved()
      compositor.surfaceWasRemoved(self)
    }
  }
}

extension Rectangle {
  /// The pixels that an area touches; what lies beyond any screen is cut off.
  fileprivate init(left: Double, top: Double, right: Double, bottom: Double) {
    func whole(_ value: Double, _ rule: FloatingPointRoundingRule) -> Int { Int(max(-1e9, min(1e9, value)).rounded(rule)) }
    let (x, y) = (whole(left, .down), whole(top, .down))
    self.init(x: x, y: y, width: whole(right, .up) - x, height: whole(bottom, .up) - y)
  }
}

extension Int {
  /// The value, kept within what a screen position can sensibly be, so that sums stay far from overflowing.
  var clamped: Int { Swift.max(-1 << 24, Swift.min(1 << 24, self)) }
}
