import FoundationEssentials
import Glibc

/// Writes the files that the rest of the system reads, and sets what no file can.
struct SystemWriter {
  /// The folder that stands for `/`; empty on the machine itself.
  let root: String

  /// Writes `files` where they differ and removes what an older configuration left. Returns who has to read anew.
  func write(_ files: SystemFiles) throws(StoredFile.Failure) -> Set<SystemFiles.Reader> {
    var changed: Set<SystemFiles.Reader> = []
    for file in files.files {
      let path = root + file.path
      if FileManager.default.contents(atPath: path).map(Array.init) == file.bytes { continue }
      let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
      try StoredFile.makeFolder(folder, mode: 0o755)
      try StoredFile.write(file.bytes, to: path, mode: file.mode)
      changed.insert(file.reader)
    }
    changed.formUnion(removeOthers(than: Set(files.files.map(\.path))))
    try StoredFile.makeFolder(root + SystemFiles.folder, mode: 0o755)
    try StoredFile.link(root + SystemFiles.folder + "/localtime", to: "/usr/share/zoneinfo/\(files.zone)")
    if root.isEmpty {
      if let name = files.hostName { _ = unsafe sethostname(name, name.utf8.count) }
      for (unit, values) in files.properties.sorted(by: { $0.key < $1.key }) {
        SystemCommand.run("/usr/bin/systemctl", ["set-property", "--runtime", unit] + values)
      }
      if let country = files.country { SystemCommand.run("/usr/sbin/iw", ["reg", "set", country]) }
    }
    return changed
  }

  /// Removes files of ours that are not among `paths`.
  private func removeOthers(than paths: Set<String>) -> Set<SystemFiles.Reader> {
    var changed: Set<SystemFiles.Reader> = []
    for place in SystemWriter.places {
      for name in (try? FileManager.default.contentsOfDirectory(atPath: root + place.folder)) ?? [] where place.isOurs(name) {
        let path = "\(place.folder)/\(name)"
        if !paths.contains(path), unlink(root + path) == 0 { changed.insert(place.reader) }
      }
    }
    return changed
  }

  private struct Place {
    var folder: String
    var reader: SystemFiles.Reader
    var isOurs: @Sendable (String) -> Bool
  }

  private static let places = [
    Place(folder: SystemFiles.connections, reader: .network) { $0.hasPrefix("parlor-") },
    Place(folder: "/run/systemd/timesyncd.conf.d", reader: .time) { $0 == "parlor.conf" },
    Place(folder: "/run/systemd/journald.conf.d", reader: .logs) { $0 == "parlor.conf" },
    Place(folder: "/run/systemd/journal-upload.conf.d", reader: .logs) { $0 == "parlor.conf" },
    Place(folder: SystemFiles.folder, reader: .network) { SystemFiles.folder + "/" + $0 == ConnectionKeeper.mark },
    Place(folder: SystemFiles.folder, reader: .logs) { $0 == "rsyslog.conf" },
    Place(folder: SystemFiles.folder, reader: .app) { $0 == "update-keyring.pem" },
  ]
}
