import Call
import DTLS
import FoundationEssentials
import Glibc
import Net

extension Verbs {
  /// The answer of `parlor check --json`.
  struct CheckReport: Codable, Sendable {
    var file: String
    var valid: Bool
    var problems: [ConfigurationProblem]
    /// Files and programs that the configuration names; nil: nobody looked.
    var files: [NamedFile]?
    /// What the self-test found; nil: there was none.
    var devices: [CheckItem]?
  }

  /// Whether a file that a configuration names is there.
  struct NamedFile: Codable, Sendable, Equatable {
    var key: String
    var file: String
    var present: Bool
  }

  /// `parlor check`: whether a configuration is valid and, with `includesDevices`, whether the files that it names are there and the devices work. The box
  /// that runs in `runtime` tests its own devices; where none runs they are opened here.
  public static func check(
    file: String, includesDevices: Bool, runtime: String, isJSON: Bool, output: @escaping Output
  ) async throws(VerbFailure) -> ExitCode {
    // For people the standard input has a name.
    let shown = file == "-" ? "(standard input)" : file
    var report = CheckReport(file: shown, valid: true, problems: [])
    var configuration: Configuration?
    var named: [ConfigurationText.FileName] = []
    do throws(ConfigurationError) {
      let text = try ConfigurationText(try Configuration.bytes(of: file), file: shown)
      configuration = try Configuration(text.bytes, file: shown, machine: .current)
      named = text.files
    } catch {
      (report.valid, report.problems) = (false, error.problems)
    }
    if let configuration {
      report.problems = configuration.warnings
      if includesDevices {
        let files = files(of: configuration, named: named)
        report.files = files
        // What stands for a device must be there before it can be tested.
        if files.allSatisfy(\.present) { report.devices = try await items(configuration, runtime: runtime) }
      }
    }
    if isJSON {
      do { _ = output(try JSON.text(report, isPretty: true) + [10]) } catch {
        throw VerbFailure(.internalError, "the answer cannot be written: \(error)")
      }
    } else {
      _ = output(Array((report.text + "\n").utf8))
    }
    if !report.valid { return .badConfiguration }
    let isFine = (report.files ?? []).allSatisfy(\.present) && (report.devices ?? []).allSatisfy { $0.verdict != .failed }
    return isFine ? .ok : .unavailable
  }

  /// What the self-test finds, of the running box or here.
  private static func items(_ configuration: Configuration, runtime: String) async throws(VerbFailure) -> [CheckItem] {
    do throws(VerbFailure) {
      let answer = try ControlClient(folder: runtime).perform(ControlRequest(verb: "check"))
      do { return try JSONDecoder().decode([CheckItem].self, from: Data(JSON.text(answer))) } catch {
        throw VerbFailure(.internalError, "the answer is not understood; is parlor run of another version?")
      }
    } catch {
      // Whoever may not ask the box must not open its devices either.
      guard error.exitCode == .unavailable else { throw error }
    }
    let (certificate, media): (Certificate, BoxMedia)
    do {
      certificate = try Certificate.generate()
      media = try BoxMedia(configuration, isComplete: true)
    } catch {
      throw VerbFailure(.badConfiguration, "\(error)")
    }
    let network = await NetworkThread()
    let volume = Volume(percent: configuration.sound.volume)
    media.playout.setGain(volume.gain)
    let checker = DeviceChecker(
      configuration: configuration, media: media, network: network, certificate: certificate, volume: volume,
      screen: CheckItem(connectorsIn: "/sys/class/drm"))
    let items = await checker.run()
    media.stop(on: nil)
    network.stop()
    return items
  }

  /// The files and programs that a configuration names.
  static func files(of configuration: Configuration, named files: [ConfigurationText.FileName]) -> [NamedFile] {
    func state(_ key: String, _ path: String) -> NamedFile { NamedFile(key: key, file: path, present: access(path, R_OK) == 0) }
    var states: [NamedFile] = []
    for (index, camera) in configuration.cameras.enumerated() {
      if case .file(let path) = camera.device { states.append(state("camera[\(index)].device", path)) }
    }
    if case .file(let path) = configuration.sound.capture { states.append(state("sound.capture", path)) }
    if case .file(let path) = configuration.sound.playback {
      // Playback is written: what has to be there is the folder.
      let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
      states.append(NamedFile(key: "sound.playback", file: path, present: access(folder, W_OK) == 0))
    }
    if case .page = configuration.call?.target {
      states.append(NamedFile(key: "call.url", file: PageProgram.name, present: PageProgram.path() != nil))
    }
    states += files.map { state($0.key, $0.absolutePath) }
    return states
  }
}

extension Verbs.CheckReport {
  /// The report for a person.
  var text: String {
    var lines = problems.map(\.description)
    lines += (files ?? []).map { "\($0.key): \($0.file) \($0.present ? "is there" : "is absent")" }
    lines += (devices ?? []).map(\.line)
    let errors = problems.filter { $0.severity == .error }.count
    lines.append(valid ? "\(file): valid" : "\(file): \(errors) \(errors == 1 ? "error" : "errors")")
    return lines.joined(separator: "\n")
  }
}
