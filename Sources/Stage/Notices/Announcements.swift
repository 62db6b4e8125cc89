import Base

/// What the stage itself says: wishes and time go in; what is to be seen at the moment comes out.
struct Announcements {
  /// What is to be seen, each part over the one before.
  struct Content: Equatable {
    /// What an idle screen says to have people start a call.
    var invitation: String?
    /// What is amiss while a call goes on all the same.
    var cautions: [String] = []
    var notice: Notice?
    /// What the notice's countdown shows.
    var secondsLeft: Int?
    var identification: Notice?
    var volume: Volume?
    var isCameraInUse = false
    var figures: [String] = []
  }

  /// How loud the box is.
  struct Volume: Equatable {
    var percent: Int
    var isMuted: Bool
  }

  /// How long the volume is shown after it was changed last.
  static let volumeDuration = Interval.seconds(2)

  private var wanted = Content()
  private var noticeStart: Instant?
  private var identificationDuration: Interval?
  private var identificationEnd: Instant?
  private var volumeEnd: Instant?

  /// Changes what people are invited to do.
  mutating func setInvitation(_ text: String?) { wanted.invitation = text }

  /// Changes what is amiss; nothing takes it off.
  mutating func setCautions(_ texts: [String]) { wanted.cautions = texts }

  /// Changes the notice. The same one again changes nothing, a running countdown included.
  mutating func setNotice(_ notice: Notice?) {
    guard notice != wanted.notice else { return }
    (wanted.notice, noticeStart) = (notice, nil)
  }

  /// Shows who the box is for so long from the moment that it is first seen; nil takes it off.
  mutating func identify(_ notice: Notice?, for duration: Interval) {
    (wanted.identification, identificationDuration, identificationEnd) = (notice, duration, nil)
  }

  /// Shows how loud the box is, for a moment.
  mutating func showVolume(_ volume: Volume) { (wanted.volume, volumeEnd) = (volume, nil) }

  /// Says whether a camera's pictures leave the box.
  mutating func setCameraInUse(_ isInUse: Bool) { wanted.isCameraInUse = isInUse }

  /// Changes the figures; none takes them off.
  mutating func setFigures(_ lines: [String]) { wanted.figures = lines }

  /// Lets time pass, and returns what is to be seen. Each thing's time begins when it is first asked for here.
  mutating func content(at now: Instant) -> Content {
    if let notice = wanted.notice {
      let start = noticeStart ?? now
      noticeStart = start
      wanted.secondsLeft = Stage.secondsLeft(of: notice.countdown, since: start, now: now)
    } else {
      wanted.secondsLeft = nil
    }
    if wanted.identification != nil, let duration = identificationDuration {
      let end = identificationEnd ?? now + duration
      identificationEnd = end
      if now >= end { wanted.identification = nil }
    }
    if wanted.volume != nil {
      let end = volumeEnd ?? now + Announcements.volumeDuration
      volumeEnd = end
      if now >= end { wanted.volume = nil }
    }
    return wanted
  }
}
