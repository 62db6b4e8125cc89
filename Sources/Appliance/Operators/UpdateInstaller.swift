import Base
import FoundationEssentials
import Glibc
import Net
import Synchronization

/// `parlor install-update`, root's part of an update, asked for or found where the configuration says: fetches the bundle, lets RAUC check and install it, and restarts the machine when nobody is disturbed.
public struct UpdateInstaller: Sendable {
  private let host: HostSystem
  private let pause: @Sendable (_ seconds: Double) -> Void

  /// An installer on `host`; `pause` waits.
  public init(host: HostSystem, pause: @escaping @Sendable (_ seconds: Double) -> Void = { usleep(UInt32($0 * 1_000_000)) }) {
    (self.host, self.pause) = (host, pause)
  }

  /// Does what the operator's request says or, without one, looks for a newer version where the configuration says. Why it failed is in the log, and in the progress
  /// that the operator reads.
  public func run() async -> ExitCode {
    let store = ProvisioningStore(folder: host.path(ProvisioningStore.defaultFolder))
    let configuration = try? Configuration.load(path: store.configurationFile)
    guard let data = host.contents(UpdateRequest.file) else { return await look(configuration) }
    unlink(host.path(UpdateRequest.file))
    guard let request = try? JSONDecoder().decode(UpdateRequest.self, from: Data(data)) else {
      Log.error("the request for an update is not understood")
      return .badData
    }
    return await run(request, configuration, isAsked: true)
  }

  /// Installs what `update.url` has, if it is newer and was not looked at before.
  private func look(_ configuration: Configuration?) async -> ExitCode {
    guard let update = configuration?.update, update.isAutomatic, let url = update.url else { return .ok }
    let mark: String
    do throws(VerbFailure) { mark = try await self.mark(url, configuration) } catch {
      Log.info("update.url: \(error)")
      return error.exitCode
    }
    if host.contents(UpdateInstaller.seenFile).map({ String(decoding: $0, as: UTF8.self) }) == mark { return .ok }
    let code = await run(UpdateRequest(number: 0, url: url, allowsDowngrade: false), configuration, isAsked: false)
    // What cannot be had now is tried again; what was refused would be refused again.
    if code != .unavailable {
      do { try StoredFile.write(Array(mark.utf8), to: host.path(UpdateInstaller.seenFile), mode: 0o644) } catch { Log.warning("\(error)") }
    }
    return code
  }

  /// What tells the bundle that was looked at last from others.
  private static let seenFile = UpdateRequest.folder + "/seen"

  private func mark(_ url: String, _ configuration: Configuration?) async throws(VerbFailure) -> String {
    let client = HTTPClient(trust: try trust(configuration), proxy: configuration?.network.httpProxy)
    defer { client.close() }
    let response: HTTPResponse
    do { response = try await client.send(HTTPRequest("HEAD", HTTPURL(url)), options: HTTPClient.Options(maximumRedirects: 5)) } catch {
      throw VerbFailure(.unavailable, "\(error)")
    }
    guard response.status == 200 else { throw VerbFailure(.unavailable, "the server answers \(response.status)") }
    return ([url] + ["ETag", "Last-Modified", "Content-Length"].map { response.headers[$0] ?? "" }).joined(separator: "\n")
  }

  private func run(_ request: UpdateRequest, _ configuration: Configuration?, isAsked: Bool) async -> ExitCode {
    var progress = UpdateProgress(number: request.number, state: .checking)
    defer { unlink(host.path(UpdateRequest.bundle)) }
    do throws(VerbFailure) {
      if let url = request.url { try await download(url, configuration, &progress) }
      let version = try check(allowsDowngrade: request.allowsDowngrade || configuration?.update.allowsDowngrade == true, &progress)
      if !isAsked, !(ReleaseVersion(runningVersion) < version) { return .ok }
      try install(&progress)
      // Before the restart, which waits for nobody.
      unlink(host.path(UpdateRequest.bundle))
      Log.notice("version \(version) is installed; the box restarts into it when no call is under way")
      progress.percent = nil
      report(&progress, .installed, "the box restarts into it when no call is under way")
      waitForCalls(window: configuration?.update.window)
      report(&progress, .restarting, nil)
      Log.notice("restarting into version \(version)")
      try host.reboot()
      return .ok
    } catch {
      Log.error("the update is not installed: \(error)")
      (progress.percent, progress.exit) = (nil, error.exitCode.rawValue)
      report(&progress, .failed, error.description)
      return error.exitCode
    }
  }

  private func report(_ progress: inout UpdateProgress, _ state: UpdateProgress.State, _ message: String?) {
    (progress.state, progress.message) = (state, message)
    guard let text = try? JSON.text(progress) else { return }
    do { try StoredFile.write(text, to: host.path(UpdateProgress.file), mode: 0o644) } catch { Log.warning("\(error)") }
  }

  // MARK: The bundle

  private func trust(_ configuration: Configuration?) throws(VerbFailure) -> TrustStore {
    guard let files = configuration?.tls.certificateFiles, !files.isEmpty else { return .system }
    do { return try TrustStore(files: files) } catch { throw VerbFailure(.badConfiguration, "tls.ca_files: \(error)") }
  }

  private func download(_ url: String, _ configuration: Configuration?, _ progress: inout UpdateProgress) async throws(VerbFailure) {
    report(&progress, .downloading, nil)
    let path = host.path(UpdateRequest.bundle)
    let output = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard output >= 0 else { throw VerbFailure(.cannotCreate, "\(path): \(unsafe String(cString: strerror(errno)))") }
    defer { close(output) }
    let state = Mutex((progress: progress, count: 0))
    var options = HTTPClient.Options(timeout: .seconds(6 * 3_600), maximumRedirects: 5)
    options.receive = { piece, length in
      state.withLock { state in
        state.count += piece.count
        let percent = length.map { $0 > 0 ? state.count * 100 / $0 : 0 }
        if percent != state.progress.percent {
          state.progress.percent = percent
          report(&state.progress, .downloading, nil)
        }
      }
      return BundleFile.write(piece[...], to: output)
    }
    let client = HTTPClient(trust: try trust(configuration), proxy: configuration?.network.httpProxy)
    defer { client.close() }
    let response: HTTPResponse
    do {
      response = try await client.send(HTTPRequest("GET", HTTPURL(url)), options: options)
    } catch {
      throw VerbFailure(.unavailable, "the bundle cannot be fetched: \(error)")
    }
    guard response.status == 200 else {
      throw VerbFailure(.unavailable, "the bundle cannot be fetched: the server answers \(response.status)")
    }
    progress.percent = nil
  }

  private struct Information: Decodable { var compatible, version: String }

  /// The bundle's version, once its signature was found good and it is not older than what runs.
  private func check(allowsDowngrade: Bool, _ progress: inout UpdateProgress) throws(VerbFailure) -> ReleaseVersion {
    report(&progress, .checking, nil)
    let result = try ChildProcess.run(host.path("/usr/bin/rauc"), ["info", "--output-format=json", host.path(UpdateRequest.bundle)])
    guard result.code == 0 else { throw VerbFailure(.badData, "the bundle is not accepted: \(result.lastLine)") }
    // Notes of RAUC's stand on lines of their own.
    let line = result.text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("{") } ?? ""
    guard let bundle = try? JSONDecoder().decode(Information.self, from: Data(line.utf8)) else {
      throw VerbFailure(.badData, "the bundle does not say which version it holds")
    }
    progress.version = bundle.version
    let (new, running) = (ReleaseVersion(bundle.version), ReleaseVersion(runningVersion))
    if new < running, !allowsDowngrade {
      throw VerbFailure(.badData, "version \(new) is older than \(running), which runs; --allow-downgrade installs it all the same")
    }
    return new
  }

  /// What runs, as the image says; Parlor's own version where no image says.
  private var runningVersion: String {
    let lines = String(decoding: host.contents("/etc/os-release") ?? [], as: UTF8.self).split(separator: "\n")
    let line = lines.first { $0.hasPrefix("IMAGE_VERSION=") }
    return line.map { $0.dropFirst("IMAGE_VERSION=".count).filter { $0 != "\"" && $0 != "'" } } ?? Version.current
  }

  private func install(_ progress: inout UpdateProgress) throws(VerbFailure) {
    report(&progress, .installing, nil)
    var (pending, failure) = ([UInt8](), "")
    let code = try ChildProcess.run(host.path("/usr/bin/rauc"), ["install", host.path(UpdateRequest.bundle)]) { bytes in
      pending += bytes
      while let end = pending.firstIndex(of: 10) {
        let line = String(decoding: pending[..<end], as: UTF8.self)
        pending.removeSubrange(...end)
        if let step = UpdateInstaller.step(line) {
          progress.percent = step.percent
          report(&progress, .installing, step.what)
        } else if !line.isEmpty {
          // The reason comes under this name; the line behind it only says that there was one.
          failure = failure.hasPrefix("LastError:") ? failure : line
        }
      }
      return true
    }
    guard code == 0 else { throw VerbFailure(.unavailable, failure.isEmpty ? "RAUC ended with \(code)" : failure) }
  }

  /// A line such as ` 20% Determining slot states done.`
  static func step(_ line: String) -> (percent: Int, what: String)? {
    let words = line.split(separator: " ", maxSplits: 1)
    guard let first = words.first, first.last == "%", let percent = Int(first.dropLast()), (0...100).contains(percent) else { return nil }
    return (percent, words.count > 1 ? String(words[1]) : "")
  }

  // MARK: The restart

  private func waitForCalls(window: WeeklyPeriod?) {
    let client = ControlClient(folder: host.path(ControlClient.defaultFolder))
    while true {
      // A box that does not answer has no call to lose.
      let isInCall = (try? client.perform(ControlRequest(verb: "status")))?["state"] == .string(Status.State.inCall.rawValue)
      if !isInCall, window?.contains(.now) ?? true { return }
      pause(5)
    }
  }
}
