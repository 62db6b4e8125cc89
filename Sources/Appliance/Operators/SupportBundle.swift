import FoundationEssentials
import Glibc

/// What those who mend boxes need to know of one, as files: without secrets, and without pictures where screenshots are forbidden.
struct SupportBundle {
  /// The files' contents by their names.
  private(set) var files: [String: [UInt8]] = [:]
  private let host: HostSystem
  private let mask: SecretMask

  /// Gathers what there is; what cannot be had says why in its place.
  init(host: HostSystem, client: ControlClient, set: ConfigurationSet?) {
    self.host = host
    mask = SecretMask(set?.secretValues ?? [])
    let status = answer(client, "status")
    let statistics = answer(client, "stats")
    add("status.json", pretty(status))
    add("stats.json", pretty(statistics))
    if let status = try? status.get(), let statistics = try? statistics.get() {
      add("metrics.txt", Array(Metrics(status: status, statistics: statistics).text.utf8))
    }
    if let picture = try? answer(client, "screenshot").get()["png"]?.string, let png = Data(base64Encoded: picture) {
      files["screen.png"] = Array(png)
    }
    addConfiguration(set)
    addSystem()
  }

  private mutating func add(_ name: String, _ bytes: [UInt8]) { files[name] = mask.masking(bytes) }

  private func answer(_ client: ControlClient, _ verb: String) -> Result<JSON, VerbFailure> {
    do throws(VerbFailure) { return .success(try client.perform(ControlRequest(verb: verb))) } catch { return .failure(error) }
  }

  private func pretty(_ answer: Result<JSON, VerbFailure>) -> [UInt8] {
    switch answer {
    case .success(let value): (try? JSON.text(value, isPretty: true) + [10]) ?? []
    case .failure(let failure): Array("\(failure)\n".utf8)
    }
  }

  private mutating func addConfiguration(_ set: ConfigurationSet?) {
    if let set {
      // A text in which secrets cannot be told apart stays here.
      add("parlor.toml", (try? set.withoutSecrets().text) ?? Array("left out: it is no TOML\n".utf8))
      add("files.txt", Array((set.files.map { "\($0.value.count)\t\($0.key)\n" }.sorted().joined()).utf8))
    }
    if let outcome = host.provisioningOutcome { add("provisioning.json", (try? JSON.text(outcome, isPretty: true)) ?? []) }
  }

  private mutating func addSystem() {
    let programs: [(String, String, [String])] = [
      ("journal.txt", "/usr/bin/journalctl", ["--boot", "--no-pager", "--output=short-iso-precise", "--lines=50000"]),
      ("boots.txt", "/usr/bin/journalctl", ["--list-boots", "--no-pager"]),
      ("units.txt", "/usr/bin/systemctl", ["--no-pager", "--all", "list-units"]),
      ("boot-time.txt", "/usr/bin/systemd-analyze", ["--no-pager", "blame"]),
      ("slots.json", "/usr/bin/rauc", ["status", "--output-format=json-pretty"]),
      ("network.txt", "/usr/bin/nmcli", ["device", "show"]),
      ("clock.txt", "/usr/bin/timedatectl", ["show"]),
      ("disks.txt", "/usr/bin/df", ["-h"]),
    ]
    for (name, program, arguments) in programs {
      do throws(VerbFailure) {
        let result = try ChildProcess.run(host.path(program), arguments)
        add(name, result.output + (result.code == 0 ? [] : Array("it ended with \(result.code)\n".utf8)))
      } catch { add(name, Array("\(error)\n".utf8)) }
    }
    for (name, path) in [
      ("system.txt", "/etc/os-release"), ("kernel.txt", "/proc/version"), ("kernel-options.txt", "/proc/cmdline"),
      ("memory.txt", "/proc/meminfo"),
      ("processors.txt", "/proc/cpuinfo"), ("sound-cards.txt", "/proc/asound/cards"), ("resolver.txt", "/etc/resolv.conf"),
    ] { if let bytes = host.contents(path) { add(name, bytes) } }
    // Debian's list of packages, of which names and versions are of interest.
    let packages = String(decoding: host.contents("/usr/lib/parlor/packages") ?? [], as: UTF8.self)
    let lines = packages.split(separator: "\n").filter { $0.hasPrefix("Package: ") || $0.hasPrefix("Version: ") }
    if !lines.isEmpty { add("packages.txt", Array((lines.joined(separator: "\n") + "\n").utf8)) }
  }
}

extension HostSystem {
  /// `parlor support-bundle FILE`: a gzipped tar archive of what is needed to see what a box suffers from. `configuration` is the file that the box runs with; nil: as it was set up.
  public func supportBundle(runtime: String, configuration: String?, file: String, output: Verbs.Output) throws(VerbFailure) {
    let set = if let configuration { try filesInUse(configuration) } else { try setInUse() }
    let bundle = SupportBundle(host: self, client: ControlClient(folder: runtime, asker: asker), set: set)
    var template = Array("/tmp/parlor-support-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw VerbFailure(.cannotCreate, "/tmp: \(unsafe String(cString: strerror(errno)))") }
    let work = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { try? FileManager.default.removeItem(atPath: work) }
    do throws(StoredFile.Failure) {
      try StoredFile.makeFolder("\(work)/parlor-support", mode: 0o700)
      for (name, bytes) in bundle.files { try StoredFile.write(bytes, to: "\(work)/parlor-support/\(name)", mode: 0o644) }
    } catch { throw VerbFailure(.cannotCreate, "\(error)") }
    let archive = "\(work)/parlor-support.tar.gz"
    let result = try ChildProcess.run(
      "/usr/bin/tar",
      [
        "--create", "--gzip", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--file=\(archive)", "--directory=\(work)",
        "parlor-support",
      ])
    guard result.code == 0, let bytes = FileManager.default.contents(atPath: archive) else {
      throw VerbFailure(.cannotCreate, "tar: \(result.lastLine)")
    }
    note("took a support bundle")
    try Verbs.write(Array(bytes), to: file, output: output)
  }
}
