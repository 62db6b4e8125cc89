extension Wayland {
  /// `parlor_video_manager_v1`, described in `parlor-video-v1.xml`.
  final class VideoManager: Resource {
    enum Request: UInt16 { case destroy, getVideoSurface }
    enum Failure: UInt32 { case alreadyExists }

    override var interface: String { "parlor_video_manager_v1" }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .destroy: destroy()
      case .getVideoSurface:
        let (id, surface) = (try arguments.newID(), try arguments.object(Surface.self))
        guard surface.videoSurface?.isDestroyed ?? true else {
          throw failure(Failure.alreadyExists, "wl_surface@\(surface.id) has a parlor_video_surface_v1 already")
        }
        surface.videoSurface = try client.add(VideoSurface(client, id: id, version: version, surface: surface))
      case nil: throw unknown(opcode)
      }
    }
  }

  /// `parlor_video_surface_v1`, described in `parlor-video-v1.xml`: the videos beneath one surface.
  final class VideoSurface: Resource {
    enum Request: UInt16 { case destroy, clear, place, setCanvas, clip }
    enum Failure: UInt32 { case noSurface, invalidValue, invalidFit, tooMany }

    override var interface: String { "parlor_video_surface_v1" }
    private weak var surface: Surface?

    init(_ client: Client, id: UInt32, version: UInt32, surface: Surface) {
      self.surface = surface
      super.init(client, id: id, version: version)
    }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .destroy: destroy()
      case .clear:
        let surface = try living()
        surface.changeVideos { $0.placements.removeAll() }
      case .place:
        let placement = try placement(&arguments)
        let surface = try living()
        surface.changeVideos { $0.placements.append(placement) }
        guard surface.pending.videos?.placements.count ?? 0 <= Limits.videos else {
          throw failure(Failure.tooMany, "more than \(Limits.videos) places")
        }
      case .setCanvas:
        let value = try arguments.uint()
        let surface = try living()
        guard value == 0 || value >> 24 == 0xFF else { throw failure(Failure.invalidValue, "a canvas colour that is not opaque") }
        let channel = { (shift: UInt32) in UInt8(truncatingIfNeeded: value >> shift) }
        let color = value == 0 ? nil : Color(red: channel(16), green: channel(8), blue: channel(0))
        surface.changeVideos { $0.canvas = color }
      case .clip:
        let clip = VideoPlacement.ClipRectangle(
          x: try arguments.fixed(), y: try arguments.fixed(), width: try length(&arguments, "width"),
          height: try length(&arguments, "height"))
        let surface = try living()
        var isPlaced = false
        surface.changeVideos { videos in
          guard let last = videos.placements.indices.last else { return }
          videos.placements[last].clip = clip
          isPlaced = true
        }
        guard isPlaced else { throw failure(Failure.invalidValue, "a clip without a place") }
      case nil: throw unknown(opcode)
      }
    }

    private func living() throws(ProtocolFailure) -> Surface {
      guard let surface, !surface.isDestroyed else { throw failure(Failure.noSurface, "the surface of the videos is gone") }
      return surface
    }

    private func placement(_ arguments: inout Arguments) throws(ProtocolFailure) -> VideoPlacement {
      let video = VideoIdentifier(rawValue: try arguments.uint())
      let (width, height) = (try length(&arguments, "width"), try length(&arguments, "height"))
      let map = AffineMap(
        a: try finite(&arguments, "a"), b: try finite(&arguments, "b"), c: try finite(&arguments, "c"), d: try finite(&arguments, "d"),
        e: try finite(&arguments, "e"), f: try finite(&arguments, "f"))
      let code = try arguments.uint()
      guard let fit = VideoPlacement.Fit(rawValue: code) else { throw failure(Failure.invalidFit, "fit \(code)") }
      let (positionX, positionY) = (try finite(&arguments, "position_x"), try finite(&arguments, "position_y"))
      let radii = VideoPlacement.CornerRadii(
        topLeft: try length(&arguments, "radius_top_left"), topRight: try length(&arguments, "radius_top_right"),
        bottomRight: try length(&arguments, "radius_bottom_right"), bottomLeft: try length(&arguments, "radius_bottom_left"))
      let opacity = try finite(&arguments, "opacity")
      guard (0...1).contains(opacity) else { throw failure(Failure.invalidValue, "an opacity of \(opacity)") }
      return VideoPlacement(
        video: video, width: width, height: height, map: map, fit: fit, positionX: positionX, positionY: positionY, cornerRadii: radii,
        opacity: opacity, clip: nil, background: try arguments.uint())
    }

    private func length(_ arguments: inout Arguments, _ name: String) throws(ProtocolFailure) -> Double {
      let value = try arguments.fixed()
      guard value >= 0 else { throw failure(Failure.invalidValue, "a \(name) of \(value)") }
      return value
    }

    private func finite(_ arguments: inout Arguments, _ name: String) throws(ProtocolFailure) -> Double {
      let value = try arguments.float()
      guard value.isFinite else { throw failure(Failure.invalidValue, "a \(name) of \(value)") }
      return value
    }

    override func wasRemoved() {
      surface?.changeVideos { $0 = VideoState() }
      surface?.videoSurface = nil
    }
  }
}
