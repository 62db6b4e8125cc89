import Glibc
import Synchronization
import V4L2

/// A machine whose video devices come and go as a test says. Each opening makes a device by `make`, or fails.
public final class ScriptedVideoDevices: VideoDeviceSource {
  private struct State: ~Copyable {
    var nodes: [VideoNode] = []
    var failures: [String: Int32] = [:]
    var opened: [ScriptedVideoDevice] = []
    var openings = 0
  }

  private let state: Mutex<State>
  private let make: @Sendable (String) -> ScriptedVideoDevice

  /// A machine with these nodes.
  public init(_ nodes: [VideoNode] = [VideoNode(path: "/dev/video0")], make: @escaping @Sendable (String) -> ScriptedVideoDevice) {
    var start = State()
    start.nodes = nodes
    state = Mutex(start)
    self.make = make
  }

  public func nodes() -> [VideoNode] { state.withLock { $0.nodes } }

  public func open(_ path: String) throws(V4L2Error) -> any VideoDevice {
    let device = make(path)
    let code = state.withLock { state -> Int32 in
      guard state.nodes.contains(where: { $0.path == path }) else { return ENOENT }
      if let code = state.failures[path] { return code }
      state.openings += 1
      state.opened.append(device)
      return 0
    }
    guard code == 0 else { throw V4L2Error(call: "open", subject: path, code: code) }
    return device
  }

  /// Changes which nodes there are.
  public func set(_ nodes: [VideoNode]) { state.withLock { $0.nodes = nodes } }
  /// Has opening a node fail; 0: not any more.
  public func fail(_ path: String, code: Int32) { state.withLock { $0.failures[path] = code == 0 ? nil : code } }
  /// The devices that were opened so far, the newest last.
  public var opened: [ScriptedVideoDevice] { state.withLock { $0.opened } }
  /// The newest one whose capture queue runs.
  public var streaming: ScriptedVideoDevice? { opened.last { $0.isStreaming() } }
}
