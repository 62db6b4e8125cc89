import CWaylandClient

extension VideoPlace {
  /// The arguments of parlor_video_v1's `place`: all numbers finite and within the protocol's types, whatever the page said.
  var wireForm: parlor_video_place {
    /// `wl_fixed_t` holds ±2²³.
    func fixed(_ value: Double) -> Double { min(8_000_000, max(-8_000_000, value)) }
    func single(_ value: Double) -> Float { Float(min(1e9, max(-1e9, value))) }
    var place = parlor_video_place()
    place.video = video
    place.width = fixed(width)
    place.height = fixed(height)
    place.map = (single(map.a), single(map.b), single(map.c), single(map.d), single(map.e), single(map.f))
    place.fit = fit.number
    place.position = (single(positionX), single(positionY))
    place.radii = (fixed(radii[0]), fixed(radii[1]), fixed(radii[2]), fixed(radii[3]))
    place.opacity = single(opacity)
    place.clip = clip.map { (fixed($0.x), fixed($0.y), fixed($0.width), fixed($0.height)) } ?? (0, 0, -1, 0)
    place.background = background
    return place
  }
}
