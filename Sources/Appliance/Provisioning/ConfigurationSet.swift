import FoundationEssentials
import Glibc

/// The files that a site sets a box up with: `parlor.toml` and what lies beside it, such as certificates and a logo.
struct ConfigurationSet: Sendable, Equatable {
  /// Why a folder's files cannot be taken.
  struct Failure: Error, Equatable, CustomStringConvertible {
    /// One sentence for a person.
    let description: String
  }

  /// The file that holds the configuration.
  static let mainFile = "parlor.toml"
  /// Public keys of operators, one a line.
  static let keysFile = "authorized_keys"
  /// A Wi-Fi connection as NetworkManager keeps it, for what `parlor.toml` cannot say.
  static let wifiFile = "wifi.nmconnection"
  /// What Parlor itself writes beside them.
  static let reportFile = "parlor-report.txt"

  private static let largestSum = 32 << 20
  private static let mostFiles = 200
  private static let deepestFolder = 3

  /// The files' contents by their paths as seen from `parlor.toml`.
  var files: [String: [UInt8]]

  /// These files.
  init(files: [String: [UInt8]]) { self.files = files }

  /// The configuration's text as it lies in the file.
  var text: [UInt8] { files[ConfigurationSet.mainFile] ?? [] }

  /// The files of `folder`; nil when it holds no `parlor.toml`. What systems leave behind, names that begin with a dot, and what Parlor writes itself are
  /// left out. Capital letters in the names that Parlor knows do not matter: FAT may show them so.
  static func read(_ folder: String) throws(Failure) -> ConfigurationSet? {
    var (files, sum) = ([String: [UInt8]](), 0)
    func take(_ path: String, depth: Int) throws(Failure) {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: path.isEmpty ? folder : "\(folder)/\(path)")) ?? []
      for name in names.sorted() where !name.hasPrefix(".") && !name.hasPrefix("~") && !name.hasSuffix(StoredFile.draftEnding) {
        let inner = path.isEmpty ? name : "\(path)/\(name)"
        var status = stat()
        guard unsafe lstat("\(folder)/\(inner)", &status) == 0 else { continue }
        if status.st_mode & S_IFMT == S_IFDIR {
          if depth < deepestFolder, !["System Volume Information", "EFI"].contains(name) { try take(inner, depth: depth + 1) }
          continue
        }
        guard status.st_mode & S_IFMT == S_IFREG, depth > 0 || !isOwn(name) else { continue }
        sum += Int(status.st_size)
        guard sum <= largestSum, files.count < mostFiles else {
          throw Failure(description: "there are more files than a box is set up with: \(mostFiles) and \(largestSum >> 20) MB at most")
        }
        guard let data = FileManager.default.contents(atPath: "\(folder)/\(inner)") else {
          throw Failure(description: "the file \(inner) cannot be read")
        }
        files[depth == 0 ? known(name) : inner] = Array(data)
      }
    }
    try take("", depth: 0)
    if files[mainFile] != nil { return ConfigurationSet(files: files) }
    if let name = files.keys.first(where: { $0.lowercased().hasPrefix(mainFile + ".") }) {
      throw Failure(description: "there is \(name) and no \(mainFile): some systems hide the end of a name; rename the file")
    }
    return nil
  }

  private static func isOwn(_ name: String) -> Bool {
    let name = name.lowercased()
    return name.hasPrefix("parlor-report") || name.hasPrefix("readme") || name == mainFile + ".before" || isSalvaged(name)
  }

  /// Whether a file is what fsck.fat made of blocks that belonged to none any more, as a power cut leaves them: a part of a former file, perhaps with its secrets.
  static func isSalvaged(_ name: String) -> Bool {
    let name = name.lowercased()
    return name.hasPrefix("fsck") && name.hasSuffix(".rec") && name.utf8.count == 12
  }

  /// The name as Parlor writes it.
  private static func known(_ name: String) -> String {
    [mainFile, keysFile, wifiFile, ProvisioningKey.file].first { $0 == name.lowercased() } ?? name
  }

  /// The files as they would be if `new` ones had been written over `former` ones to the end, and not until the power went: what is missing, empty or the former file is the new one.
  func completing(_ new: ConfigurationSet, over former: ConfigurationSet?) -> ConfigurationSet {
    var set = self
    for (name, bytes) in new.files {
      if let there = files[name], !there.isEmpty, there != former?.files[name] { continue }
      set.files[name] = bytes
    }
    return set
  }

  /// Writes all files into the new folder `folder`, to be read by `group` as well, and waits until the disk has them.
  func write(to folder: String, group: gid_t?) throws(Failure) {
    do {
      try StoredFile.makeFolder(folder, mode: 0o750, group: group)
      for (name, bytes) in files {
        let parts = name.split(separator: "/").dropLast()
        for count in parts.indices {
          try StoredFile.makeFolder("\(folder)/" + parts[...count].joined(separator: "/"), mode: 0o750, group: group)
        }
        try StoredFile.write(bytes, to: "\(folder)/\(name)", mode: 0o640, group: group)
      }
    } catch {
      throw Failure(description: "\(error)")
    }
  }
}
