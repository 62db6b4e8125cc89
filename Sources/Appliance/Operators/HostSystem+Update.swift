import FoundationEssentials
import Glibc

extension HostSystem {
  /// What an update is made of.
  public enum UpdateSource: Sendable, Equatable {
    /// A web server's.
    case url(String)
    /// A file; `-` is the standard input.
    case file(String)
  }

  /// `parlor update`: has a bundle installed, and tells how far that is. It goes on when nobody listens any more. `pause` waits between two looks.
  public func update(
    _ source: UpdateSource, allowsDowngrade: Bool, isJSON: Bool, output: Verbs.Output, pause: () -> Void = { usleep(500_000) }
  ) throws(VerbFailure) {
    try requireServiceManager()
    guard try !isActive(.update) else {
      throw VerbFailure(.unavailable, "an update is under way already" + (progress.map { " (\($0.text))" } ?? ""))
    }
    var request = UpdateRequest(number: Int.random(in: 1..<1 << 50), allowsDowngrade: allowsDowngrade)
    switch source {
    case .url(let url):
      guard url.hasPrefix("https://") || url.hasPrefix("http://") else {
        throw VerbFailure(.usage, "\(url): accepted: https://…, http://…, FILE, -")
      }
      request.url = url
    case .file(let file): try copy(file, to: path(UpdateRequest.bundle))
    }
    do { try StoredFile.write(JSON.text(request), to: path(UpdateRequest.file), mode: 0o640) } catch {
      throw VerbFailure(.cannotCreate, "\(error)")
    }
    note("asked for an update" + (request.url.map { " from \($0.prefix { $0 != "?" })" } ?? ""))
    try start(.update, waits: false)
    try follow(request.number, isJSON: isJSON, output: output, pause: pause)
  }

  /// How far the latest update is.
  private var progress: UpdateProgress? {
    contents(UpdateProgress.file).flatMap { try? JSONDecoder().decode(UpdateProgress.self, from: Data($0)) }
  }

  private func follow(_ number: Int, isJSON: Bool, output: Verbs.Output, pause: () -> Void) throws(VerbFailure) {
    var last: UpdateProgress?
    while true {
      // In this order: what runs no more has said all that it will.
      let isActive = try isActive(.update)
      if let now = progress, now.number == number, now != last {
        last = now
        let line = isJSON ? (try? JSON.text(now)) ?? [] : Array(now.text.utf8)
        guard output(line + [10]) else { return }
        if now.state == .failed {
          throw VerbFailure(now.exit.flatMap(ExitCode.init) ?? .unavailable, "not installed; the box goes on as before")
        }
        if now.isOver { return }
      } else if !isActive {
        throw VerbFailure(.unavailable, "the update ended without saying how; logs has more")
      }
      pause()
    }
  }

  private func copy(_ file: String, to path: String) throws(VerbFailure) {
    let input = file == "-" ? dup(0) : open(file, O_RDONLY | O_CLOEXEC)
    guard input >= 0 else { throw VerbFailure(.badData, "\(file): \(unsafe String(cString: strerror(errno)))") }
    defer { close(input) }
    let draft = path + ".new"
    let output = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o640)
    guard output >= 0 else { throw VerbFailure(.cannotCreate, "\(draft): \(unsafe String(cString: strerror(errno)))") }
    defer { close(output) }
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(input, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw VerbFailure(.badData, "\(file): \(unsafe String(cString: strerror(errno)))") }
      if count == 0 { break }
      guard BundleFile.write(buffer[..<count], to: output) else {
        unlink(draft)
        throw VerbFailure(.cannotCreate, "\(draft): \(unsafe String(cString: strerror(errno)))")
      }
    }
    guard rename(draft, path) == 0 else { throw VerbFailure(.cannotCreate, "\(path): \(unsafe String(cString: strerror(errno)))") }
  }

  // MARK: Other things that units do

  /// `parlor factory-reset`: forgets everything with the next start, which comes at once.
  public func factoryReset() throws(VerbFailure) {
    note("resets the box")
    // The restart ends the unit's own job.
    try start(.factoryReset, waits: false)
  }

  /// `parlor restart app`.
  public func restartApp() throws(VerbFailure) {
    try requireServiceManager()
    note("restarts the app")
    try restart(.app)
  }

  /// `parlor restart box` and `parlor reboot`.
  public func restartBox() throws(VerbFailure) {
    try requireServiceManager()
    note("restarts the box")
    try reboot()
  }
}

/// A bundle on its way to the disk.
enum BundleFile {
  /// Writes all bytes; false when there is no room.
  static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
