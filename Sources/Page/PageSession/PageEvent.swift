import Base

/// What happened with the page, for the owner of a ``PageService``. Told on the network thread.
public enum PageEvent: Sendable, Equatable {
  /// The page host is there.
  case hostConnected(version: String, process: Int32)
  /// The page host is gone, and with it the page.
  case hostLost
  /// A page begins to load.
  case loading(url: String)
  /// The first bytes of a page came.
  case committed(url: String)
  /// A page's first picture is on the screen.
  case drawn(url: String)
  /// All of a page is loaded.
  case finished(url: String)
  /// A page's title.
  case title(String)
  /// A page could not be loaded, or does not go on; `code` is stable, such as `page.dns`.
  case failed(code: String, reason: String, url: String)
  /// A navigation, download, window or scheme was refused.
  case refused(url: String, reason: String)
  /// A page asks something; it waits for ``PageService/answer(dialog:isAccepted:value:)``.
  case dialog(identifier: UInt32, kind: DialogKind, origin: String, text: String, value: String?)
  /// A dialog is no longer of interest.
  case dialogCancelled(identifier: UInt32)
  /// The connections' states (W3C `RTCPeerConnectionState`), of all that are not new any more.
  case callStateChanged([String])
  /// A page asked for a device that its origin has no grant for.
  case mediaDenied(origin: String, device: CaptureDevice)

  /// JavaScript's three dialogs.
  public enum DialogKind: String, Sendable { case alert, confirm, prompt }
  /// What a grant opens.
  public enum CaptureDevice: String, Sendable { case camera, microphone }
}
