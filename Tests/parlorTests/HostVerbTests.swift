import Base
import Foundation
import Net
import Synchronization
import Testing

@testable import Appliance

@Suite(.serialized) struct HostVerbTests {
  @Test func systemdIsAskedForWhatNeedsRights() async throws {
    let fake = try await FakeHost()
    let host = fake.host
    let none = await failure { () throws(VerbFailure) in
      try host.restartApp()
      try host.restartBox()
      try host.factoryReset()
    }
    #expect(none == nil)
    #expect(
      fake.calls == [
        "systemctl --no-ask-password restart parlor.service",
        "systemctl --no-ask-password start --no-block --job-mode=replace-irreversibly reboot.target",
        "systemctl --no-ask-password start --no-block parlor-factory-reset.service",
      ])
    try await fake.program("systemctl", "echo 'Failed to restart parlor.service: Access denied' >&2; exit 4")
    #expect(
      await failure { () throws(VerbFailure) in try host.restartApp() }
        == VerbFailure(.notPermitted, "parlor.service: Failed to restart parlor.service: Access denied"))
    try await fake.program("systemctl", "echo 'Job for parlor.service failed.' >&2; exit 1")
    #expect(
      await failure { () throws(VerbFailure) in try host.restartApp() }
        == VerbFailure(.unavailable, "parlor.service: Job for parlor.service failed."))
  }

  /// Each unit that a verb starts is there, and polkit's rule lets operators start it and nothing else.
  @Test func rightsAreThoseOfTheVerbs() async throws {
    let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL.path
    let rules = try String(contentsOfFile: project + "/Config/polkit/50-parlor.rules", encoding: .utf8)
    let pattern = try Regex(#""([a-z.-]+\.(service|target))": \["([a-z]+)"\]"#)
    let allowed = rules.matches(of: pattern).reduce(into: [:]) { $0[String($1[1].substring ?? "")] = String($1[3].substring ?? "") }
    #expect(Set(allowed.keys) == Set(HostSystem.Unit.allCases.map(\.rawValue)))
    #expect(allowed["parlor.service"] == "restart" && allowed.values.filter { $0 == "start" }.count == allowed.count - 1)
    for unit in HostSystem.Unit.allCases where unit.rawValue.hasSuffix(".service") {
      #expect(FileManager.default.fileExists(atPath: "\(project)/Config/systemd/\(unit.rawValue)"))
    }
  }

  @Test func logsComeAsTheyAreAndFailuresAreTold() async throws {
    let fake = try await FakeHost()
    try await fake.program("journalctl", "echo one; echo two")
    let sink = Sink()
    try fake.host.logs(LogQuery(), output: sink.take)
    #expect(sink.text == "one\ntwo\n")
    // Who reads no more ends it.
    try await fake.program("journalctl", "while :; do echo line; done")
    let lines = Mutex(0)
    try fake.host.logs(LogQuery()) { _ in
      lines.withLock {
        $0 += 1
        return $0 < 3
      }
    }
    #expect(lines.withLock { $0 } == 3)
    try await fake.program("journalctl", "echo 'Failed to parse timestamp: yesterdy' >&2; exit 1")
    var query = LogQuery()
    query.since = "yesterdy"
    #expect(throws: VerbFailure(.usage, "journalctl: Failed to parse timestamp: yesterdy")) { try fake.host.logs(query, output: sink.take) }
    try FileManager.default.removeItem(atPath: fake.root + "/usr/bin/journalctl")
    #expect(throws: VerbFailure(.unavailable, "\(fake.root)/usr/bin/journalctl is not there")) {
      try fake.host.logs(LogQuery(), output: sink.take)
    }
  }

  // MARK: Updates

  /// A box on version 1.2.0 and a RAUC that takes what begins with "good".
  private func updatable(version: String) async throws -> FakeHost {
    let fake = try await FakeHost()
    try fake.write("IMAGE_VERSION=1.2.0\n", to: "/etc/os-release")
    try await fake.program(
      "rauc",
      """
      case $1 in
        info) grep -q ^good "$3" || { echo "signature verification failed: no signer" >&2; exit 1; }
          echo "rauc-Message: Reading bundle" >&2; echo '{"compatible":"parlor","version":"\(version)"}' ;;
        install) [ -e \(fake.root)/broken ] && { echo " 20% Copying"; echo "LastError: slot is too small"; echo "Installing failed"; exit 1; }
          echo "installing"; echo "  0% Installing"; echo " 60% Copying image"; echo "100% Installing done." ;;
      esac
      """)
    return fake
  }

  private func run(_ fake: FakeHost) async -> ExitCode { await UpdateInstaller(host: fake.host, pause: { _ in }).run() }

  /// Both halves: the operator's verb, during whose first look root's part does its work.
  private func update(_ fake: FakeHost, _ source: HostSystem.UpdateSource, downgrade: Bool = false) async throws -> (
    lines: [String], failure: VerbFailure?
  ) {
    let sink = Sink()
    let host = fake.host
    try await fake.program(
      "systemctl",
      "case \"$*\" in *is-active*) cat \(fake.root)/active 2>/dev/null || echo inactive ;; *start*parlor-update*) echo active > \(fake.root)/active ;; esac"
    )
    async let end = failure { () throws(VerbFailure) in
      try host.update(source, allowsDowngrade: downgrade, isJSON: false, output: sink.take, pause: { usleep(100_000) })
    }
    for _ in 0..<6_000 where !FileManager.default.fileExists(atPath: fake.root + "/active") { try await Task.sleep(for: .milliseconds(10)) }
    _ = await run(fake)
    try? FileManager.default.removeItem(atPath: fake.root + "/active")
    let failure = await end
    return (sink.text.split(separator: "\n").map(String.init), failure)
  }

  @Test func updateIsInstalledAndTheBoxRestarts() async throws {
    let fake = try await updatable(version: "1.10.0")
    try fake.write("good bundle", to: "/bundle")
    let (lines, failure) = try await update(fake, .file(fake.root + "/bundle"))
    #expect(failure == nil, "\(lines)")
    #expect(
      lines.last?.hasPrefix("installed version 1.10.0") == true || lines.last?.hasPrefix("restarting version 1.10.0") == true, "\(lines)")
    #expect(
      fake.calls.last == "systemctl --no-ask-password start --no-block --job-mode=replace-irreversibly reboot.target"
        || fake.calls.contains { $0.contains("reboot.target") })
    #expect(try FileManager.default.contentsOfDirectory(atPath: fake.root + UpdateRequest.folder) == [])
  }

  @Test(arguments: [("1.1.9", false, ExitCode.badData), ("1.1.9", true, .ok), ("1.2.0", false, .ok)])
  func olderVersionIsInstalledOnlyWhenItIsMeant(version: String, isMeant: Bool, code: ExitCode) async throws {
    let fake = try await updatable(version: version)
    try fake.write("good bundle", to: "/bundle")
    let (lines, failure) = try await update(fake, .file(fake.root + "/bundle"), downgrade: isMeant)
    #expect((failure?.exitCode ?? .ok) == code, "\(lines)")
    #expect(fake.calls.contains { $0.hasPrefix("rauc install") } == (code == .ok))
    if code != .ok { #expect(lines.last?.contains("version 1.1.9 is older than 1.2.0") == true, "\(lines)") }
  }

  @Test func badBundlesAreToldAndNothingRestarts() async throws {
    let forged = try await updatable(version: "2")
    try forged.write("forged", to: "/bundle")
    let first = try await update(forged, .file(forged.root + "/bundle"))
    #expect(first.failure?.exitCode == .badData && first.lines.last?.contains("signature verification failed") == true, "\(first)")
    let broken = try await updatable(version: "2")
    try broken.write("good", to: "/bundle")
    try broken.write("", to: "/broken")
    let second = try await update(broken, .file(broken.root + "/bundle"))
    #expect(second.failure?.exitCode == .unavailable && second.lines.last?.contains("slot is too small") == true, "\(second)")
    #expect(!(forged.calls + broken.calls).contains { $0.contains("reboot.target") })
  }

  @Test func updateComesFromAWebServer() async throws {
    let fake = try await updatable(version: "2")
    let body = Array("good ".utf8) + [UInt8](repeating: 7, count: 300_000)
    let server = try HTTPServer { request in
      request.url.path == "/b.raucb" ? HTTPResponse(200, body: body) : HTTPResponse(302, headers: ["Location": "/b.raucb"], body: [1])
    }
    let (lines, failure) = try await update(fake, .url(server.origin + "/latest"))
    #expect(failure == nil, "\(lines)")
    #expect(fake.calls.contains { $0.hasPrefix("rauc install") })
    let missing = try await updatable(version: "2")
    let empty = try HTTPServer { _ in HTTPResponse(404, body: Array("good page".utf8)) }
    let second = try await update(missing, .url(empty.origin + "/x"))
    #expect(second.failure?.exitCode == .unavailable && second.lines.last?.contains("the server answers 404") == true, "\(second)")
    #expect(!missing.calls.contains { $0.hasPrefix("rauc") })
    server.stop()
    empty.stop()
  }

  @Test func newerVersionIsFoundWhereTheConfigurationSays() async throws {
    let fetched = Mutex(0)
    let server = try HTTPServer { request in
      if request.method == "GET" { fetched.withLock { $0 += 1 } }
      return HTTPResponse(200, headers: ["ETag": "\"1\""], body: Array("good bundle".utf8))
    }
    for (version, isNewer) in [("1.3.0", true), ("1.2.0", false), ("1.1.0", false)] {
      let fake = try await updatable(version: version)
      try await fake.setUp([
        "parlor.toml": "[call]\nwhip = \"http://127.0.0.1:9/whip\"\n[update]\nurl = \"\(server.origin)/latest.raucb\"\n"
      ])
      fetched.withLock { $0 = 0 }
      _ = await run(fake)
      #expect(
        fake.calls.contains { $0.hasPrefix("rauc install") } == isNewer && fake.calls.contains { $0.contains("reboot.target") } == isNewer)
      // The same bundle is not fetched each hour.
      _ = await run(fake)
      #expect(fetched.withLock { $0 } == 1, "\(version)")
    }
    let manual = try await updatable(version: "2")
    try await manual.setUp([
      "parlor.toml": "[call]\nwhip = \"http://127.0.0.1:9/whip\"\n[update]\nautomatic = false\nurl = \"\(server.origin)/latest.raucb\"\n"
    ])
    #expect(await run(manual) == .ok && !manual.calls.contains { $0.hasPrefix("rauc") })
    server.stop()
  }

  @Test func nobodysCallIsCutOff() async throws {
    let fake = try await updatable(version: "2")
    try fake.write("good", to: UpdateRequest.bundle)
    try fake.write("{\"number\":1,\"allowsDowngrade\":false}", to: UpdateRequest.file)
    let socket = try ControlSocket(folder: fake.root + "/run/parlor")
    let looks = Mutex(0)
    socket.register("status") { _ throws(VerbFailure) in
      .value(
        [
          "state": looks.withLock {
            $0 += 1
            return $0 < 4
          } ? "in-call" : "ready"
        ] as JSON)
    }
    socket.start()
    let restarted = Mutex<[Bool]>([])
    let code = await UpdateInstaller(host: fake.host) { _ in
      restarted.withLock { $0.append(fake.calls.contains { $0.contains("reboot.target") }) }
    }.run()
    #expect(code == .ok && restarted.withLock { $0 } == [false, false, false])
    #expect(fake.calls.last?.contains("reboot.target") == true)
    socket.stop()
  }

  @Test func secondUpdateIsRefusedWhileOneIsUnderWay() async throws {
    let fake = try await updatable(version: "2")
    try fake.write("active\n", to: "/active")
    do throws(VerbFailure) {
      try fake.host.update(.url("https://a/"), allowsDowngrade: false, isJSON: false, output: { _ in true })
      Issue.record("accepted")
    } catch { #expect(error.exitCode == .unavailable && error.description.contains("under way")) }
  }

  // MARK: Support bundles

  @Test func supportBundleHoldsNoSecret() async throws {
    let secrets = ["bearer/token+\"42\"", "wifi pass$word", "MIIEvQIBADANBgkqhkiG9w0BAQ"]
    let fake = try await FakeHost()
    try await fake.setUp([
      "parlor.toml": """
      [call]
      whip = "https://sfu.example.org/whip"
      token = 'bearer/token+"42"'
      [network]
      country = "DE"
      [[network.wifi]]
      ssid = "Guests"
      password = "wifi pass$word"
      [tls]
      client_certificate = "box.pem"
      client_key = "box.key"
      """, "box.pem": "public\n", "box.key": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END PRIVATE KEY-----\n",
    ])
    // A log in which each of them stands, in each form.
    var log = ""
    for secret in secrets {
      let data = Data(secret.utf8)
      log += "plain \(secret)\nbase64 \(data.base64EncodedString()) \(Data(("user:" + secret).utf8).base64EncodedString())\n"
      log += "url \(secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")\n"
      log +=
        "json \(String(decoding: try JSONEncoder().encode([secret]), as: UTF8.self))\nhex \(data.map { String(format: "%02x", $0) }.joined())\n"
    }
    log += "proxy http://fleet:hunter22hunter@proxy.example.org:3128\n"
    try fake.write(log, to: "/log")
    try await fake.program("journalctl", "cat \(fake.root)/log")
    let archive = fake.root + "/support.tar.gz"
    try fake.host.supportBundle(runtime: fake.root + "/run/parlor", configuration: nil, file: archive, output: { _ in true })
    try FileManager.default.createDirectory(atPath: fake.root + "/unpacked", withIntermediateDirectories: true)
    #expect(try await Program.run("/usr/bin/tar", ["-xzf", archive, "-C", fake.root + "/unpacked"]).code == 0)
    let folder = fake.root + "/unpacked/parlor-support"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(names.contains("journal.txt") && names.contains("parlor.toml") && names.contains("status.json"))
    for name in names {
      let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")), as: UTF8.self)
      #expect(!text.contains("hunter22"))
      for secret in secrets {
        let data = Data(secret.utf8)
        let forms = [
          secret, data.base64EncodedString(), data.map { String(format: "%02x", $0) }.joined(),
          secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? secret,
        ]
        for form in forms { #expect(!text.contains(form), "\(name): \(form)") }
        // Nor the tail of one that is encoded with something in front.
        let tail = Data(("user:" + secret).utf8).base64EncodedString().dropFirst(8).dropLast(4)
        #expect(!text.contains(tail), "\(name): \(tail)")
      }
    }
    // It is the log all the same, and the configuration.
    let log2 = try String(contentsOfFile: folder + "/journal.txt", encoding: .utf8)
    #expect(log2.split(separator: "\n").count == log.split(separator: "\n").count && log2.contains("plain (removed)"))
    #expect(try String(contentsOfFile: folder + "/parlor.toml", encoding: .utf8).contains("ssid = \"Guests\""))
  }
}
