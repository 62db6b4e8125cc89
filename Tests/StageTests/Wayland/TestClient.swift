import Base
import CLinux
import Glibc

@testable import Stage

/// A client in the test's own process: its requests go in as bytes, its events come out as bytes.
final class TestClient {
  let compositor: Wayland.Compositor
  let client: Wayland.Client
  private var nextObject: UInt32 = 2
  private var events = Wayland.IncomingMessages()
  private(set) var log: [Wayland.Message] = []
  private(set) var globals: [String: (name: UInt32, version: UInt32)] = [:]
  private let registry: UInt32

  static let start = Instant(nanoseconds: 1_000_000_000)

  static func compositor(width: Int = 200, height: Int = 100) -> Wayland.Compositor {
    Wayland.Compositor(output: Wayland.OutputMode(width: width, height: height, refreshRate: 60))
  }

  init(_ compositor: Wayland.Compositor) {
    self.compositor = compositor
    client = compositor.connect(Wayland.Peer(process: 42, user: 1_000))
    registry = nextObject
    nextObject += 1
    request(1, 1, .newID(registry))
    for event in take(registry) {
      var reader = EventReader(event.body)
      let name = reader.uint()
      globals[reader.string() ?? ""] = (name, reader.uint())
    }
  }

  func newID() -> UInt32 {
    defer { nextObject += 1 }
    return nextObject
  }

  /// Sends a request.
  func request(_ object: UInt32, _ opcode: UInt16, _ arguments: Wayland.Argument...) {
    var encoded = Wayland.OutgoingMessages()
    encoded.append(object: object, opcode: opcode, arguments)
    let chunk = encoded.chunk()
    send(encoded.bytes, descriptors: chunk.descriptors)
  }

  /// Sends a request that makes an object, whose number is its first argument.
  func make(_ object: UInt32, _ opcode: UInt16, _ arguments: Wayland.Argument...) -> UInt32 {
    let id = newID()
    var encoded = Wayland.OutgoingMessages()
    encoded.append(object: object, opcode: opcode, [.newID(id)] + arguments)
    send(encoded.bytes, descriptors: encoded.chunk().descriptors)
    return id
  }

  func send(_ bytes: [UInt8], descriptors: [Wayland.Descriptor] = []) {
    compositor.receive(bytes, descriptors: descriptors, from: client, now: TestClient.start)
    while compositor.dispatch(client, now: TestClient.start) {}
  }

  func bind(_ interface: String, version: UInt32? = nil) -> UInt32 {
    let id = newID()
    let global = globals[interface] ?? (0, 0)
    request(registry, 0, .uint(global.name), .string(interface), .uint(version ?? global.version), .newID(id))
    return id
  }

  private func read() {
    let bytes = client.outgoing.bytes
    client.outgoing.remove(byteCount: bytes.count, descriptorCount: client.outgoing.chunk().descriptors.count)
    do {
      try events.append(bytes)
      while let message = try events.next() { log.append(message) }
    } catch {
      preconditionFailure("the server sends what is well-formed: \(error)")
    }
  }

  /// Takes the events of an object that came since they were taken last.
  func take(_ object: UInt32, _ opcode: UInt16? = nil) -> [Wayland.Message] {
    read()
    let isWanted = { (message: Wayland.Message) in message.object == object && (opcode == nil || message.opcode == opcode) }
    defer { log.removeAll(where: isWanted) }
    return log.filter(isWanted)
  }

  /// The error that ended the connection: object, code.
  var error: [UInt32]? {
    take(1, 0).first.map { message in
      var reader = EventReader(message.body)
      return [reader.uint(), reader.uint()]
    }
  }

  // MARK: Things that many tests need

  private(set) lazy var wlCompositor = bind("wl_compositor")
  private(set) lazy var shm = bind("wl_shm")
  private(set) lazy var shell = bind("xdg_wm_base")
  private(set) lazy var seat = bind("wl_seat")

  func surface() -> UInt32 { make(wlCompositor, 0) }

  /// A buffer of one colour, 0xAARRGGBB premultiplied.
  func buffer(_ width: Int, _ height: Int, _ color: UInt32, format: UInt32 = 0) -> UInt32 {
    let memory = TestMemory([UInt32](repeating: color, count: width * height))
    return buffer(width, height, memory, format: format)
  }

  func buffer(_ width: Int, _ height: Int, _ memory: TestMemory, format: UInt32 = 0) -> UInt32 {
    let pool = make(shm, 0, .descriptor(memory.descriptor), .int(width * height * 4))
    let buffer = make(pool, 0, .int(0), .int(width), .int(height), .int(width * 4), .uint(format))
    request(pool, 1)
    return buffer
  }

  func attach(_ buffer: UInt32, to surface: UInt32, damage: Rectangle? = Rectangle(x: 0, y: 0, width: 10_000, height: 10_000)) {
    request(surface, 1, .uint(buffer), .int(0), .int(0))
    if let damage { request(surface, 2, .int(damage.x), .int(damage.y), .int(damage.width), .int(damage.height)) }
  }

  func commit(_ surface: UInt32) { request(surface, 6) }

  struct Window {
    var surface: UInt32
    var shellSurface: UInt32
    var toplevel: UInt32
  }

  /// Acknowledges the newest configuration.
  func acknowledge(_ shellSurface: UInt32) {
    guard let last = take(shellSurface, 0).last else { return }
    var reader = EventReader(last.body)
    request(shellSurface, 4, .uint(reader.uint()))
  }

  /// A window that is configured and shows nothing yet.
  func window() -> Window {
    let surface = surface()
    let shellSurface = make(shell, 2, .uint(surface))
    let toplevel = make(shellSurface, 1)
    commit(surface)
    acknowledge(shellSurface)
    return Window(surface: surface, shellSurface: shellSurface, toplevel: toplevel)
  }

  /// A window of one colour.
  func window(_ width: Int, _ height: Int, _ color: UInt32) -> Window {
    let window = window()
    attach(buffer(width, height, color), to: window.surface)
    commit(window.surface)
    return window
  }

  /// A popup of one colour, mapped unless `color` is nil.
  func popup(
    on parent: UInt32, size: (Int, Int), anchor: Rectangle, edge: UInt32 = 6, gravity: UInt32 = 8, adjustments: UInt32 = 0,
    grab: Bool = false, color: UInt32?
  ) -> Window {
    let positioner = make(shell, 1)
    request(positioner, 1, .int(size.0), .int(size.1))
    request(positioner, 2, .int(anchor.x), .int(anchor.y), .int(anchor.width), .int(anchor.height))
    request(positioner, 3, .uint(edge))
    request(positioner, 4, .uint(gravity))
    request(positioner, 5, .uint(adjustments))
    let surface = surface()
    let shellSurface = make(shell, 2, .uint(surface))
    let popup = make(shellSurface, 2, .uint(parent), .uint(positioner))
    request(positioner, 0)
    if grab { request(popup, 1, .uint(seat), .uint(compositor.serial)) }
    commit(surface)
    if let color {
      acknowledge(shellSurface)
      attach(buffer(size.0, size.1, color), to: surface)
      commit(surface)
    }
    return Window(surface: surface, shellSurface: shellSurface, toplevel: popup)
  }
}

/// Reads an event's arguments.
struct EventReader {
  private var body: [UInt8]
  init(_ body: [UInt8]) { self.body = body }

  mutating func uint() -> UInt32 {
    defer { body.removeFirst(4) }
    return Wayland.word(body, at: 0)
  }
  mutating func int() -> Int { Int(Int32(bitPattern: uint())) }
  mutating func fixed() -> Double { Double(int()) / 256 }
  mutating func array() -> [UInt8] {
    let length = Int(uint())
    defer { body.removeFirst((length + 3) & ~3) }
    return Array(body[..<length])
  }
  mutating func string() -> String? {
    let bytes = array()
    return bytes.isEmpty ? nil : String(decoding: bytes.dropLast(), as: UTF8.self)
  }
  mutating func words() -> [UInt32] {
    let bytes = array()
    return stride(from: 0, to: bytes.count, by: 4).map { Wayland.word(bytes, at: $0) }
  }
}

extension Wayland.Message {
  /// All arguments, where all are words.
  var words: [UInt32] { stride(from: 0, to: body.count, by: 4).map { Wayland.word(body, at: $0) } }
  /// All arguments as signed numbers.
  var ints: [Int] { words.map { Int(Int32(bitPattern: $0)) } }
}

/// Memory to share with the server.
final class TestMemory {
  let descriptor: Wayland.Descriptor

  init(_ words: [UInt32]) {
    descriptor = Wayland.Descriptor(owning: linux_memory_create("test"))
    write(words, at: 0)
  }

  func write(_ words: [UInt32], at offset: Int) {
    _ = words.withUnsafeBytes { pwrite(descriptor.number, $0.baseAddress, $0.count, off_t(offset)) }
  }
  func truncate(to size: Int) { _ = ftruncate(descriptor.number, off_t(size)) }
}

extension SurfaceLayer {
  /// The colour of one pixel of the surface's bitmap.
  func color(_ x: Int, _ y: Int) -> UInt32 {
    guard let bitmap else { return 0 }
    let pixel = bitmap.pixels + y * bitmap.stride + x * 4
    return UInt32(pixel[0]) | UInt32(pixel[1]) << 8 | UInt32(pixel[2]) << 16 | UInt32(pixel[3]) << 24
  }
}
