/// What people can do at an idle screen, in a few words: in its middle as a notice, or small at the lower edge, over a picture.
enum InvitationSheet {
  /// What decides the look.
  struct Content: Equatable {
    var text: String
    /// Whether it stands small at the lower edge.
    var isSmall: Bool
    var style: SheetStyle
  }

  /// Draws the words.
  static func draw(_ content: Content) -> Sheet? {
    guard content.isSmall else {
      return NoticeSheet.draw(NoticeSheet.Content(notice: Notice(kind: .information, title: content.text), style: content.style))
    }
    return SmallSheet.draw(SmallSheet.Content(text: content.text, isAtTop: false, size: 1 / 21, width: 1, style: content.style))
  }
}
