/// Layers that together make the picture, from bottom to top, before anybody knows which planes show them.
struct LayerStack: Hashable {
  /// From bottom to top.
  var layers: [PlaneContent]

  /// The stacks that show a scene on a screen with so many planes: of those with the same videos on planes of their own, the one with the
  /// fewest layers first. The last is the composed picture alone.
  static func stacks(_ sketch: SceneSketch, screen: Rectangle, planeCount: Int) -> [LayerStack] {
    var stacks: [LayerStack] = []
    func add(_ stack: LayerStack?) {
      if let stack, !stacks.contains(stack) { stacks.append(stack) }
    }
    if !sketch.isDimmed {
      let plain = sketch.videos.filter { $0.isPlain && !$0.seen.isEmpty }.sorted { $0.seen.area > $1.seen.area }
      for count in stride(from: min(plain.count, planeCount), to: 0, by: -1) {
        let chosen = plain.prefix(count).map(\.identifier)
        for stack in over(sketch, uncovered(Set(chosen), in: sketch), screen: screen) { add(stack) }
        for stack in between(sketch, Set(chosen), screen: screen) { add(stack) }
      }
      // What is uncovered may be small, and left out above by larger ones that are not.
      let uncovered = uncovered(Set(plain.map(\.identifier)), in: sketch)
      let shown = plain.filter { uncovered.contains($0.identifier) }.prefix(max(0, planeCount - 1)).map(\.identifier)
      for stack in over(sketch, self.uncovered(Set(shown), in: sketch), screen: screen) { add(stack) }

      if sketch.isFlat && sketch.videos.contains(where: { isTouched($0, in: sketch) }) {
        // What is blended over a video need not be blended anew for each frame.
        add(LayerStack(layers: [.under(with: Set(sketch.videos.map(\.identifier)), backgrounds: []), .page(with: [], holes: [])]))
      }
    }
    add(LayerStack(layers: [.composed(without: [])]))
    return stacks
  }

  /// Whether the page or something that the stage lays over it is seen over a video.
  private static func isTouched(_ video: SceneSketch.Video, in sketch: SceneSketch) -> Bool {
    video.isUnderPage || sketch.overlays.contains { $0.overlaps(video.seen) }
  }

  /// Of some videos, those over which nothing is seen but others of them.
  private static func uncovered(_ videos: Set<VideoIdentifier>, in sketch: SceneSketch) -> Set<VideoIdentifier> {
    var left = videos
    while true {
      let covered = sketch.videos.indices.filter { index in
        let video = sketch.videos[index]
        guard left.contains(video.identifier) else { return false }
        return isTouched(video, in: sketch)
          || sketch.videos[(index + 1)...].contains { above in
            above.visible.overlaps(video.seen) && (!left.contains(above.identifier) || above.isLetterboxed)
          }
      }
      if covered.isEmpty { return left }
      left.subtract(covered.map { sketch.videos[$0].identifier })
    }
  }

  /// Videos over a composed picture that lacks them.
  private static func over(_ sketch: SceneSketch, _ videos: Set<VideoIdentifier>, screen: Rectangle) -> [LayerStack] {
    guard !videos.isEmpty else { return [] }
    let shown = sketch.videos.filter { videos.contains($0.identifier) }
    let above = shown.map { PlaneContent.video($0.identifier) }
    let whole = LayerStack(layers: [.composed(without: videos)] + above)
    return shown[0].seen.contains(screen) ? [LayerStack(layers: above), whole] : [whole]
  }

  /// Videos between what lies under the page, and the page.
  private static func between(_ sketch: SceneSketch, _ videos: Set<VideoIdentifier>, screen: Rectangle) -> [LayerStack] {
    guard sketch.isFlat else { return [] }
    var (under, onPage): (Set<VideoIdentifier>, Set<VideoIdentifier>) = ([], [])
    // Where something stands on a layer above the lowest one: what overlaps it from above cannot be on the lowest.
    var raised: [Rectangle] = []
    for video in sketch.videos {
      let isRaised = raised.contains { $0.overlaps(video.visible) }
      if videos.contains(video.identifier) {
        // Its background stays on the lowest layer.
        if isRaised && video.isLetterboxed { return [] }
        raised.append(video.seen)
      } else if isRaised {
        onPage.insert(video.identifier)
        raised.append(video.visible)
      } else {
        under.insert(video.identifier)
      }
    }
    // A video that is seen in two places cannot be told apart there.
    guard sketch.hasPage || !sketch.overlays.isEmpty || !onPage.isEmpty, under.isDisjoint(with: onPage) else { return [] }
    let shown = sketch.videos.filter { videos.contains($0.identifier) }
    let above = shown.map { PlaneContent.video($0.identifier) } + [.page(with: onPage, holes: videos)]
    let isBlack = sketch.isGroundBlack && under.isEmpty && !shown.contains { $0.isLetterboxed }
    let whole = LayerStack(layers: [isBlack ? .black : .under(with: under, backgrounds: videos)] + above)
    let needsGround = !isBlack && !shown[0].seen.contains(screen)
    return needsGround ? [whole] : [LayerStack(layers: above), whole]
  }
}
