import Glibc
import Testing

@testable import Appliance

@Suite struct ServiceManagerTests {
  private let folder = TemporaryFolder()

  @Test func whoWaitsIsTold() {
    let path = "\(folder.path)/notify"
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(descriptor) }
    #expect(unsafe UnixSocket.withAddress(path) { unsafe bind(descriptor, $0, $1) } == 0)
    ServiceManager.announceReadiness(environment: ["NOTIFY_SOCKET": path])
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == "READY=1")
  }
}
