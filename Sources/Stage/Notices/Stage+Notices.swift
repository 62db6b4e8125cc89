import Base

// What the stage itself says. From any thread; where several are shown, each lies over those that stand before it here.
extension Stage {
  /// Has an idle screen say in a few words what people can do: in its middle, or small at the lower edge of the idle picture; nil takes that
  /// off.
  public func setInvitation(_ text: String?) { announce { $0.setInvitation(text) } }

  /// Shows in small letters in the middle of the upper edge what is amiss while a call goes on all the same; none takes that off.
  public func setCautions(_ texts: [String]) { announce { $0.setCautions(texts) } }

  /// Shows a notice in place of the one before; nil takes it off. The same notice again changes nothing, a running countdown included.
  public func setNotice(_ notice: Notice?) { announce { $0.setNotice(notice) } }

  /// Shows who the box is, over all other notices, for so long from the moment that it is first seen; nil takes that off.
  public func identify(_ notice: Notice?, for duration: Interval = .seconds(60)) { announce { $0.identify(notice, for: duration) } }

  /// Shows how loud the box is (0 to 100 percent), for two seconds, at the lower edge.
  public func showVolume(percent: Int, isMuted: Bool) {
    announce { $0.showVolume(Announcements.Volume(percent: min(max(percent, 0), 100), isMuted: isMuted)) }
  }

  /// Shows lines of figures in small letters in the upper left corner; none takes them off.
  public func setFigures(_ lines: [String]) { announce { $0.setFigures(lines) } }

  /// Shows a mark in the upper right corner while pictures of a camera leave the box.
  public func setCameraMark(_ isInUse: Bool) { announce { $0.setCameraInUse(isInUse) } }

  private func announce(_ change: (inout Announcements) -> Void) {
    announcements.withLock { change(&$0) }
    wake.signal()
  }
}
