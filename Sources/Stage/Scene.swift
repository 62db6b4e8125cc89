import Frames

/// What the screen shows at one moment.
public struct Scene: Sendable {
  /// A corner of the screen.
  public enum Corner: String, Sendable, CaseIterable {
    case topLeft = "top-left"
    case topRight = "top-right"
    case bottomLeft = "bottom-left"
    case bottomRight = "bottom-right"
  }

  /// The other side, over the whole screen; nil: black.
  public var remote: VideoFrame?
  /// The own camera, in a corner above the remote side; nil: not shown.
  public var selfView: VideoFrame?
  /// What is behind the self-view while there is no other side; nil: black.
  public var idle: Artwork?
  /// What the stage itself says, above everything.
  var announcements: Announcements.Content
  /// How the remote side fills the screen.
  public var fit: VideoFit
  /// Where the self-view stands.
  public var corner: Corner
  /// Whether the self-view is turned left to right, as in a mirror.
  public var isMirrored: Bool
  /// The colours of notices.
  public var theme: Notice.Theme

  /// An empty scene: a black screen.
  public init(
    remote: VideoFrame? = nil, selfView: VideoFrame? = nil, notice: Notice? = nil, fit: VideoFit = .contain, corner: Corner = .bottomRight,
    isMirrored: Bool = true, theme: Notice.Theme = Notice.Theme()
  ) {
    (self.remote, self.selfView) = (remote, selfView)
    announcements = Announcements.Content(notice: notice, secondsLeft: notice?.countdown)
    (self.fit, self.corner, self.isMirrored, self.theme) = (fit, corner, isMirrored, theme)
  }

  /// A message above everything, its countdown at the start; nil: none.
  public var notice: Notice? {
    get { announcements.notice }
    set { (announcements.notice, announcements.secondsLeft) = (newValue, newValue?.countdown) }
  }

  /// The place of a self-view of the given upright size on a screen of `width` by `height`: at most a quarter of each side, away from the edge.
  static func selfViewArea(width: Int, height: Int, corner: Corner, on screen: (width: Int, height: Int)) -> Rectangle {
    let margin = max(1, min(screen.width, screen.height) / 40)
    let limit = Rectangle(x: 0, y: 0, width: max(1, screen.width / 4), height: max(1, screen.height / 4))
    var area = VideoFit.contain.placement(width: width, height: height, in: limit).target
    let isLeft = corner == .topLeft || corner == .bottomLeft
    let isTop = corner == .topLeft || corner == .topRight
    area.x = isLeft ? margin : screen.width - margin - area.width
    area.y = isTop ? margin : screen.height - margin - area.height
    return area
  }
}
