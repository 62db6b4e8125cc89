import Glibc
import Synchronization
import Testing

@testable import Appliance

@Suite struct ServiceManagerTests {
  private let folder = TemporaryFolder()

  @Test func whoDoesNotWaitIsNotTold() {
    #expect(ServiceManager(environment: [:]) == nil)
    #expect(ServiceManager.patience(environment: ["WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "1"]) == nil)
    #expect(ServiceManager.patience(environment: ["WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "\(getpid())"]) == 20_000_000)
  }

  /// Somebody who answers until told not to.
  private final class Organ: Sendable {
    let isAlive = Atomic(true)
    let asked = Atomic(0)
    func ask(_ answer: @Sendable () -> Void) {
      asked.wrappingAdd(1, ordering: .relaxed)
      if isAlive.load(ordering: .relaxed) { answer() }
    }
  }

  @Test func theHeartStopsWhenAnybodyHangs() async throws {
    let (one, other, beats) = (Organ(), Organ(), Organ())
    let heartbeat = Heartbeat(
      patience: .milliseconds(20),
      organs: [.init(name: "one") { one.ask($0) }, .init(name: "other") { other.ask($0) }]
    ) { beats.ask {} }
    while beats.asked.load(ordering: .relaxed) < 3 { try await Task.sleep(for: .milliseconds(5)) }
    other.isAlive.store(false, ordering: .relaxed)
    let asked = other.asked.load(ordering: .relaxed)
    // What was on its way may still arrive.
    while other.asked.load(ordering: .relaxed) < asked + 3 { try await Task.sleep(for: .milliseconds(5)) }
    let last = beats.asked.load(ordering: .relaxed)
    while other.asked.load(ordering: .relaxed) < asked + 8 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(beats.asked.load(ordering: .relaxed) == last)
    withExtendedLifetime(heartbeat) {}
  }

  @Test func whoWaitsIsTold() throws {
    let path = "\(folder.path)/notify"
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(descriptor) }
    #expect(unsafe UnixSocket.withAddress(path) { unsafe bind(descriptor, $0, $1) } == 0)
    try #require(ServiceManager(environment: ["NOTIFY_SOCKET": path])).announceReadiness()
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == "READY=1")
  }
}
