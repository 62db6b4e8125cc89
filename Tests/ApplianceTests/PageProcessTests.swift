import Base
import CLinux
import Call
import Foundation
import Synchronization
import Testing

@testable import Appliance

/// Programs are shell scripts here: what matters is how they start and end.
@Suite(.serialized) struct PageProcessTests {
  /// What a process told, waited for with a limit that only ends a hang.
  private final class Events: Sendable {
    private let all = Mutex<[PageProcess.Event]>([])

    func add(_ event: PageProcess.Event) { all.withLock { $0.append(event) } }

    func first(where isWanted: (PageProcess.Event) -> Bool) async throws -> PageProcess.Event {
      for _ in 0..<6_000 {
        if let event = all.withLock({ $0.first(where: isWanted) }) { return event }
        try await Task.sleep(for: .milliseconds(10))
      }
      throw CocoaError(.coderValueNotFound)
    }

    var starts: Int { all.withLock { $0.count { if case .started = $0 { true } else { false } } } }

    var ends: [String] {
      all.withLock { $0.compactMap { if case .ended(let reason, _) = $0 { reason } else { nil } } }
    }

    func waitForStarts(_ count: Int) async throws {
      for _ in 0..<6_000 where starts < count { try await Task.sleep(for: .milliseconds(10)) }
      #expect(starts >= count)
    }
  }

  private let events = Events()

  private func process(_ script: String, grace: Interval = .milliseconds(50)) -> PageProcess {
    var settings = PageProcess.Settings(
      path: { "/bin/sh" }, arguments: ["-c", script],
      backoff: Backoff(seed: 1, shortest: .milliseconds(10), longest: .milliseconds(20)))
    settings.grace = grace
    return PageProcess(settings) { [events] in events.add($0) }
  }

  private func isRunning(_ process: Int32) -> Bool { kill(process, 0) == 0 }

  @Test func programThatEndsIsStartedAgainAndItsEndIsTold() async throws {
    let process = process("exit 3")
    process.start()
    try await events.waitForStarts(3)
    process.stop()
    #expect(events.ends.contains("it ended with status 3"))
    #expect(process.process == nil)
    let starts = events.starts
    try await Task.sleep(for: .milliseconds(100))
    #expect(events.starts == starts)
  }

  @Test func programThatIsKilledIsStartedAgain() async throws {
    let process = process("exec sleep 1000")
    process.start()
    guard case .started(let number) = try await events.first(where: { _ in true }) else { return }
    #expect(process.process == number)
    kill(number, SIGSEGV)
    try await events.waitForStarts(2)
    #expect(events.ends == ["it was ended by signal 11"])
    process.stop()
  }

  @Test func programThatIgnoresThatItShouldEndIsKilledWithWhatItStarted() async throws {
    let folder = TemporaryFolder()
    let process = process("trap '' TERM INT; sleep 1000 & echo $! > \(folder.path)/child; wait; sleep 1000")
    process.start()
    for _ in 0..<6_000 where folder.read("child").last != 10 { try await Task.sleep(for: .milliseconds(10)) }
    let child = try #require(Int32(String(decoding: folder.read("child"), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(isRunning(child))
    process.stop()
    #expect(events.ends == ["it was ended by signal 9"])
    for _ in 0..<6_000 where isRunning(child) && !isZombie(child) { try await Task.sleep(for: .milliseconds(10)) }
    #expect(!isRunning(child) || isZombie(child))
  }

  /// Whether nobody has taken notice of a process's end yet: its parent is gone, and the machine's first process may be slow.
  private func isZombie(_ process: Int32) -> Bool {
    let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ") Z"
    return text.split(separator: ")").last?.hasPrefix(" Z") == true
  }

  @Test func restartThatWasAskedForNeedsNoPause() async throws {
    let settings = PageProcess.Settings(
      path: { "/bin/sh" }, arguments: ["-c", "exec sleep 1000"], grace: .milliseconds(10),
      backoff: Backoff(seed: 1, shortest: .seconds(1_000), longest: .seconds(2_000)))
    let process = PageProcess(settings) { [events] in events.add($0) }
    process.start()
    try await events.waitForStarts(1)
    process.restart()
    try await events.waitForStarts(2)
    process.stop()
    #expect(events.starts == 2)
  }

  @Test func programThatIsNowhereIsSaidToBeAndLookedForAgain() async throws {
    let path = Mutex<String?>(nil)
    var settings = PageProcess.Settings(
      path: { path.withLock { $0 } }, arguments: ["-c", "exec sleep 1000"],
      backoff: Backoff(seed: 1, shortest: .milliseconds(10), longest: .milliseconds(20)))
    settings.grace = .milliseconds(10)
    let process = PageProcess(settings) { [events] in events.add($0) }
    process.start()
    _ = try await events.first { if case .ended(PageProgram.absence, _?) = $0 { true } else { false } }
    path.withLock { $0 = "/nonexistent/parlor-page" }
    _ = try await events.first { if case .ended("/nonexistent/parlor-page: No such file or directory", _?) = $0 { true } else { false } }
    path.withLock { $0 = "/bin/sh" }
    try await events.waitForStarts(1)
    process.stop()
  }

  @Test func whatTheProgramWritesGoesToTheLogLineByLine() async throws {
    let lines = Mutex<[String]>([])
    Log.install(level: .notice) { level, text in lines.withLock { $0.append(level == .warning ? "! \(text)" : text) } }
    let long = String(repeating: "x", count: 5_000)
    let process = process(
      "echo one; echo '<4>bad' >&2; echo '<7>chatter'; echo '<9>two'; printf '\\033[31mred\\n\\n'; echo \(long); printf last; exec sleep 1000",
      grace: .milliseconds(10))
    process.start()
    for _ in 0..<6_000 where lines.withLock({ $0.count { $0.hasPrefix("parlor-page: ") } < 5 }) {
      try await Task.sleep(for: .milliseconds(10))
    }
    process.stop()
    Log.install(level: .error) { _, _ in }
    #expect(lines.withLock { $0 }.contains("! parlor-page: bad"))
    let told = lines.withLock { $0 }.filter { $0.hasPrefix("parlor-page: ") }
    #expect(told.prefix(3) == ["parlor-page: one", "parlor-page: <9>two", "parlor-page: [31mred"])
    #expect(told.dropFirst(3).dropLast().map { $0.count - 13 } == [4_096, 904] && told.last == "parlor-page: last")
  }

  @Test func programDiesWithTheThreadThatStartedIt() async throws {
    final class Box: Sendable {
      let number = Mutex<Int32>(0)
    }
    let box = Box()
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { @Sendable argument in
        let box = Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue()
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("1000"), nil]
        var output: Int32 = -1
        let number = linux_spawn("/bin/sleep", &arguments, &output)
        close(output)
        box.number.withLock { $0 = number }
        return nil
      }, Unmanaged.passRetained(box).toOpaque())
    pthread_join(thread, nil)
    let number = box.number.withLock { $0 }
    #expect(number > 0 && linux_reap(number) == 256 + SIGKILL)
  }

  @Test func programIsLookedForWhereItMayBe() throws {
    let folder = TemporaryFolder()
    let path = folder.write("#!/bin/sh\n", to: "parlor-page")
    #expect(PageProgram.path(environment: ["PATH": folder.path], executable: "/nowhere/parlor") == nil)
    chmod(path, 0o755)
    #expect(PageProgram.path(environment: ["PATH": "/nonexistent:\(folder.path)"], executable: "/nowhere/parlor") == path)
    #expect(PageProgram.path(environment: ["PATH": "/nonexistent"], executable: "\(folder.path)/parlor") == path)
    #expect(PageProgram.path(environment: ["PARLOR_PAGE": path], executable: nil) == path)
    // Named and not there, nothing else is taken in its place.
    #expect(
      PageProgram.path(environment: ["PARLOR_PAGE": "/nonexistent/x", "PATH": folder.path], executable: "\(folder.path)/parlor") == nil)
  }

  @Test func serviceManagerIsRecognised() {
    #expect(PageProgram.isManagedElsewhere(environment: ["SYSTEMD_EXEC_PID": "\(getpid())"]))
    #expect(!PageProgram.isManagedElsewhere(environment: ["SYSTEMD_EXEC_PID": "1", "INVOCATION_ID": "x"]))
    #expect(!PageProgram.isManagedElsewhere(environment: [:]))
  }
}
