import Glibc

/// Files that are either the old one or the new one, whenever the power goes.
enum StoredFile {
  /// Why a file could not be written.
  struct Failure: Error, Equatable, CustomStringConvertible {
    /// The path and the system's reason.
    let description: String

    init(_ path: String) { description = unsafe "\(path): \(String(cString: strerror(errno)))" }
  }

  /// What is behind the name of a file that is being written.
  static let draftEnding = ".parlor-new"

  /// Replaces the file at `path` and waits until the disk has it. `group` may do with it what `mode` says.
  static func write(_ bytes: [UInt8], to path: String, mode: mode_t, group: gid_t? = nil) throws(Failure) {
    let draft = path + draftEnding
    let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else { throw Failure(draft) }
    defer { close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Failure(draft) }
      rest = rest.dropFirst(count)
    }
    // FAT has neither groups nor modes, and needs none.
    if let group { _ = fchown(descriptor, uid_t.max, group) }
    _ = fchmod(descriptor, mode)
    guard fsync(descriptor) == 0 else { throw Failure(draft) }
    // FAT writes in any order that the name leads elsewhere and that the former file's blocks are free. Those of an open file are not.
    let former = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    defer { if former >= 0 { close(former) } }
    guard unsafe rename(draft, path) == 0 else { throw Failure(path) }
    // And where a file begins, it writes with the file.
    guard fsync(descriptor) == 0 else { throw Failure(path) }
    try syncFolder(of: path)
  }

  /// Makes the symbolic link at `path` lead to `target`; it led elsewhere, or was not there.
  static func link(_ path: String, to target: String) throws(Failure) {
    let draft = path + draftEnding
    unlink(draft)
    guard unsafe symlink(target, draft) == 0 else { throw Failure(draft) }
    guard unsafe rename(draft, path) == 0 else { throw Failure(path) }
    try syncFolder(of: path)
  }

  /// Makes the folder at `path` with all above it, unless it is there. One that is there keeps its mode, unless a `group` is to have it.
  static func makeFolder(_ path: String, mode: mode_t, group: gid_t? = nil) throws(Failure) {
    var isNew = unsafe mkdir(path, mode) == 0
    if !isNew, errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
      try makeFolder(String(path[..<slash]), mode: 0o755)
      isNew = unsafe mkdir(path, mode) == 0
    }
    guard isNew || errno == EEXIST else { throw Failure(path) }
    if let group { _ = unsafe chown(path, uid_t.max, group) }
    if isNew || group != nil { _ = unsafe chmod(path, mode) }
  }

  /// Removes the file at `path`, if it is there, and waits until the disk knows.
  static func remove(_ path: String) throws(Failure) {
    guard unlink(path) == 0 else {
      if errno == ENOENT { return }
      throw Failure(path)
    }
    try syncFolder(of: path)
  }

  /// A new name, or none, in the folder of `path` is on the disk.
  static func syncFolder(of path: String) throws(Failure) {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure(folder) }
    defer { close(descriptor) }
    // Some file systems cannot, and write names at once.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw Failure(folder) }
  }
}
