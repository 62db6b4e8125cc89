// Page host → run, and back: loading, dialogs, the end. All are sent with frame document 0.

/// The page host's first message.
public struct HostHello: ControlMessage {
  public static let type = "host.hello"
  public var version: String
  /// Its process identifier.
  public var process: Int32

  /// The message.
  public init(version: String, process: Int32) { (self.version, self.process) = (version, process) }
}

/// A page begins to load.
public struct PageLoading: ControlMessage {
  public static let type = "page.loading"
  public var url: String

  /// The message.
  public init(url: String) { self.url = url }
}

/// The first bytes of a page came.
public struct PageCommitted: ControlMessage {
  public static let type = "page.committed"
  public var url: String

  /// The message.
  public init(url: String) { self.url = url }
}

/// A page's first picture is on the screen.
public struct PageDrawn: ControlMessage {
  public static let type = "page.drawn"
  public var url: String

  /// The message.
  public init(url: String) { self.url = url }
}

/// All of a page is loaded.
public struct PageFinished: ControlMessage {
  public static let type = "page.finished"
  public var url: String

  /// The message.
  public init(url: String) { self.url = url }
}

/// A page's title.
public struct PageTitle: ControlMessage {
  public static let type = "page.title"
  public var title: String

  /// The message.
  public init(title: String) { self.title = title }
}

/// A page could not be loaded, or does not go on.
public struct PageFailed: ControlMessage {
  public static let type = "page.failed"
  /// One of the codes that BRIDGE.md lists, such as `page.dns`.
  public var code: String
  public var reason: String
  public var url: String

  /// The message.
  public init(code: String, reason: String, url: String) { (self.code, self.reason, self.url) = (code, reason, url) }
}

/// A navigation, download, window or scheme was refused.
public struct PageRefused: ControlMessage {
  public static let type = "page.refused"
  public var url: String
  public var reason: String

  /// The message.
  public init(url: String, reason: String) { (self.url, self.reason) = (url, reason) }
}

/// A page asks something of whoever stands in front of it.
public struct DialogOpen: ControlMessage {
  /// JavaScript's three dialogs.
  public enum Kind: String, Codable, Sendable { case alert, confirm, prompt }

  public static let type = "dialog.open"
  public var dialog: UInt32
  public var kind: Kind
  public var origin: String
  public var text: String
  /// What stands in the field at first.
  public var value: String?

  /// The message.
  public init(dialog: UInt32, kind: Kind, origin: String, text: String, value: String? = nil) {
    (self.dialog, self.kind, self.origin, self.text, self.value) = (dialog, kind, origin, text, value)
  }
}

/// A dialog is no longer of interest.
public struct DialogCancel: ControlMessage {
  public static let type = "dialog.cancel"
  public var dialog: UInt32

  /// The message.
  public init(dialog: UInt32) { self.dialog = dialog }
}

/// A line for the log.
public struct HostLog: ControlMessage {
  /// How much it matters.
  public enum Level: String, Codable, Sendable { case error, warning, notice, info, debug }

  public static let type = "host.log"
  public var level: Level
  public var text: String

  /// The message.
  public init(level: Level, text: String) { (self.level, self.text) = (level, text) }
}

/// Who fetches pages for the host.
public struct PageProxy: Codable, Equatable, Sendable {
  /// Where it is: `http://HOST:PORT`.
  public var url: String
  /// nil: it asks for none.
  public var username: String?
  public var password: String?
  /// Hosts, domains, addresses and prefixes that are reached without it.
  public var exceptions: [String] = []

  /// The proxy at `url`.
  public init(url: String) { self.url = url }
}

/// What the page host needs to know before it loads anything.
public struct PageSettings: ControlMessage {
  public static let type = "page.settings"
  /// What is loaded first.
  public var url: String
  /// Origins that may be navigated to and may use calls, besides that of `url`.
  public var allowedOrigins: [String] = []
  /// nil: the host's own.
  public var userAgent: String?
  /// In seconds: by then a page has drawn.
  public var loadDeadline: Double = 15
  /// Where the page's data lies; nil: nothing is kept.
  public var dataFolder: String?
  /// PEM files with authorities besides the system's.
  public var certificateFiles: [String] = []
  /// A PEM file with the certificate this side shows.
  public var clientCertificate: String?
  /// A PEM file with that certificate's key.
  public var clientKey: String?
  /// Pinned keys: SHA-256 of the subject public key info, base64. Empty: any.
  public var pins: [String] = []
  /// In MiB, of the web process; nil: the host's own.
  public var memoryLimit: Int?
  /// In seconds: by then a dialog is answered by itself.
  public var dialogTimeout: Double = 30
  /// nil: nobody stands between.
  public var proxy: PageProxy?

  /// The defaults for a page at `url`.
  public init(url: String) { self.url = url }
}

/// Loads a page in place of the one before.
public struct PageLoad: ControlMessage {
  public static let type = "page.load"
  public var url: String

  /// The message.
  public init(url: String) { self.url = url }
}

/// Loads the page again.
public struct PageReload: ControlMessage {
  public static let type = "page.reload"

  /// The message.
  public init() {}
}

/// What was said to a dialog.
public struct DialogAnswer: ControlMessage {
  public static let type = "dialog.answer"
  public var dialog: UInt32
  public var accepted: Bool
  /// What stands in the field.
  public var value: String?

  /// The message.
  public init(dialog: UInt32, accepted: Bool, value: String? = nil) {
    (self.dialog, self.accepted, self.value) = (dialog, accepted, value)
  }
}

/// Ends the page host.
public struct HostExit: ControlMessage {
  public static let type = "host.exit"

  /// The message.
  public init() {}
}
