import Base

extension Configuration {
  /// `[time]`: where the clock is set from.
  public struct Time: Sendable, Equatable {
    /// `servers`: NTP servers, by name or address; empty: those that the network names, else the image's own.
    public var servers: [String] = []
    /// `zone`: as the tz database names it; nil: UTC.
    public var zone: String?

    /// The image's servers, UTC.
    public init() {}
  }

  /// `[access]`: who may look after the box, and how.
  public struct Access: Sendable, Equatable {
    /// `ssh_keys`: who may log in as `operator`, beside those in the file `authorized_keys`.
    public var keys: [SSHKey] = []
    /// `remote_input`: whether operators may touch and type from afar.
    public var allowsRemoteInput = false
    /// `screenshots`: whether operators may see what the screen shows.
    public var allowsScreenshots = true
    /// `metrics`: where figures can be had by HTTP in Prometheus' text format; nil: nowhere.
    public var metrics: SocketAddress?

    /// No keys; screenshots are allowed.
    public init() {}
  }

  /// `[update]`: where new versions come from, and when.
  public struct Update: Sendable, Equatable {
    /// `url`: of a bundle that is looked at again and again, the identity already filled in; nil: updates are brought by hand.
    public var url: String?
    /// `automatic`: whether a newer bundle at `url` is installed without being asked for.
    public var isAutomatic = true
    /// `window`: when the box may restart into a new version; nil: whenever no call is under way.
    public var window: WeeklyPeriod?
    /// `keyring_file`: the path of the certificates that bundles must be signed by; nil: the image's own.
    public var keyringFile: String?
    /// `allow_downgrade`: whether a bundle may be older than what runs.
    public var allowsDowngrade = false

    /// Updates by hand.
    public init() {}
  }

  /// `[logs]`: what is written down, and where else it goes.
  public struct Logs: Sendable, Equatable {
    /// A server of the syslog protocol (RFC 5424).
    public struct Server: Sendable, Equatable, CustomStringConvertible {
      /// How messages get there.
      public enum Transport: String, Sendable, CaseIterable {
        /// RFC 5426.
        case udp
        /// RFC 6587.
        case tcp
        /// RFC 5425.
        case tls
      }

      /// How messages get there.
      public var transport: Transport
      /// The name or address; an IPv6 address without brackets.
      public var host: String
      /// The port: 514, or 6514 with TLS, where the file names none.
      public var port: UInt16

      public var description: String { "\(transport.rawValue)://" + (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
    }

    /// `level`: the least important messages that are kept.
    public var level = Log.Level.notice
    /// `syslog`: who gets a copy of everything; nil: nobody.
    public var syslog: Server?
    /// `journal_upload`: the URL of a `systemd-journal-remote` that gets the journal, the identity already filled in; nil: none.
    public var journalUpload: String?

    /// What matters, kept on the box alone.
    public init() {}
  }

  /// `[limits]`: how much of the machine a part may use; nil: what its unit says.
  public struct Limits: Sendable, Equatable {
    /// `app_memory_mb`: MiB that `parlor run` may use before it is ended and started again.
    public var appMemory: Int?
    /// `page_memory_mb`: MiB that the page's processes may use together before they are ended and started again.
    public var pageMemory: Int?
    /// `app_cpu_percent`: of one processor, of which `parlor run` gets no more.
    public var appProcessor: Int?
    /// `page_cpu_percent`: of one processor, of which the page's processes get no more together.
    public var pageProcessor: Int?
    /// `journal_mb`: MiB that logs may take on the disk; the oldest go first.
    public var journalSize: Int?

    /// As the units say.
    public init() {}
  }
}
