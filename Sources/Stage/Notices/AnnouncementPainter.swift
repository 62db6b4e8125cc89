/// Draws what the stage itself says, each part on a sheet of its own; what does not change costs nothing.
struct AnnouncementPainter {
  private var invitation = SheetPainter<InvitationSheet.Content>()
  private var cautions = SheetPainter<SmallSheet.Content>()
  private var notice = SheetPainter<NoticeSheet.Content>()
  private var identification = SheetPainter<NoticeSheet.Content>()
  private var volume = SheetPainter<VolumeSheet.Content>()
  private var figures = SheetPainter<FiguresSheet.Content>()
  private var cameraMark = SheetPainter<SheetStyle>()

  /// What was drawn, from bottom to top.
  private(set) var rasters: [Raster] = []

  /// Where the notice stands.
  var noticeBox: Rectangle? { notice.raster?.bounds }

  /// Draws what is new of `content` for a screen and theme, and tells which areas of the screen that changes. `isOverPicture`: the idle screen
  /// shows a picture, which is not covered.
  mutating func show(_ content: Announcements.Content, isOverPicture: Bool, style: SheetStyle, damaged: (Rectangle) -> Void) {
    var isNew = false
    func note(_ area: Rectangle) {
      isNew = true
      damaged(area)
    }
    // An identification is read in peace.
    let (invited, shown) = content.identification == nil ? (content.invitation, content.notice) : (nil, nil)
    let cautioned = content.identification == nil && !content.cautions.isEmpty
    invitation.show(
      invited.map { InvitationSheet.Content(text: $0, isSmall: isOverPicture, style: style) }, draw: InvitationSheet.draw, damaged: note)
    // Between the figures and the camera's mark.
    cautions.show(
      cautioned
        ? SmallSheet.Content(text: content.cautions.joined(separator: "\n"), isAtTop: true, size: 1 / 32, width: 0.7, style: style) : nil,
      draw: SmallSheet.draw, damaged: note)
    notice.show(
      shown.map { NoticeSheet.Content(notice: $0, secondsLeft: content.secondsLeft, style: style) }, draw: NoticeSheet.draw, damaged: note)
    identification.show(
      content.identification.map { NoticeSheet.Content(notice: $0, style: style) }, draw: NoticeSheet.draw, damaged: note)
    volume.show(
      content.volume.map { VolumeSheet.Content(percent: $0.percent, isMuted: $0.isMuted, style: style) }, draw: VolumeSheet.draw,
      damaged: note)
    figures.show(
      content.figures.isEmpty ? nil : FiguresSheet.Content(lines: content.figures, style: style), draw: FiguresSheet.draw, damaged: note)
    cameraMark.show(content.isCameraInUse ? style : nil, draw: CameraMark.draw, damaged: note)
    if isNew {
      rasters = [
        invitation.raster, cautions.raster, notice.raster, identification.raster, volume.raster, figures.raster, cameraMark.raster,
      ].compactMap { $0 }
    }
  }
}
