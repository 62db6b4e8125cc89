/// What an operator wants installed: `parlor update` writes it down for `parlor install-update`, which has the rights.
struct UpdateRequest: Codable, Equatable, Sendable {
  /// Tells the request from earlier ones.
  var number: Int
  /// The URL of a bundle; nil: it lies beside the request.
  var url: String?
  /// Whether it may be older than what runs.
  var allowsDowngrade: Bool

  /// Where operators put requests and bundles.
  static let folder = "/var/lib/parlor-operator/update"
  static let file = folder + "/request.json"
  static let bundle = folder + "/bundle.raucb"
}

/// How far an update is.
struct UpdateProgress: Codable, Equatable, Sendable {
  /// In this order, but for `failed`.
  enum State: String, Codable, Sendable { case downloading, checking, installing, installed, restarting, failed }

  /// The request's.
  var number: Int
  var state: State
  /// Of what is under way, 0 to 100; nil: nobody knows.
  var percent: Int?
  /// The version that the bundle holds, once that is known.
  var version: String?
  /// What is done just now, or why it failed.
  var message: String?
  /// The exit code of a failure.
  var exit: Int32?

  static let file = "/run/parlor-update/progress.json"

  /// Whether nothing more comes that an operator would wait for.
  var isOver: Bool { [.installed, .restarting, .failed].contains(state) }

  /// One line for a person.
  var text: String {
    [state.rawValue, percent.map { "\($0) %" }, version.map { "version \($0)" }].compactMap { $0 }.joined(separator: " ")
      + (message.map { ": \($0)" } ?? "")
  }
}
