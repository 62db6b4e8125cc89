import Base
import CLinux
import Glibc
import Stage

/// What two clients send and a person does, in any order: nothing may trap, and a client that is gone leaves nothing behind.
///
/// The input is a list of records. Each begins with a byte:
/// - 0, 1: a request of the first or second client: object, opcode and the number of words that follow, a byte each, then the words;
/// - 2: bytes of the first client as they are, their number first;
/// - 3: input: its kind, a code, and two coordinates, a byte each;
/// - 4: the layers are taken and presented;
/// - 5: the second client goes, and a new one comes;
/// - 6: the screen has another size: width and height, a byte each;
/// - 7: the on-screen keyboard is used: what it does, and a code, a byte each.
/// Objects from 0xF0 on are those that the server numbers.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
  var session = Session()
  session.run(UnsafeBufferPointer(start: data, count: size))
  return 0
}

/// Memory that every descriptor of a request is: some pixels, and an end.
nonisolated(unsafe) private let memory: Int32 = {
  let memory = linux_memory_create("fuzz")
  ftruncate(memory, 1 << 20)
  return memory
}()

private struct Session {
  private let compositor = Wayland.Compositor(output: Wayland.OutputMode(width: 200, height: 100, refreshRate: 60))
  private var clients: [Wayland.Client] = []
  private var now = Instant.zero

  mutating func run(_ bytes: UnsafeBufferPointer<UInt8>) {
    clients = [0, 1].map { compositor.connect(Wayland.Peer(process: $0, user: 0)) }
    var index = 0
    func byte() -> UInt8 {
      defer { index += 1 }
      return index < bytes.count ? bytes[index] : 0
    }
    while index < bytes.count {
      now += .milliseconds(1)
      switch byte() {
      case 0: request(client: 0, byte)
      case 1: request(client: 1, byte)
      case 2: send((0..<byte()).map { _ in byte() }, from: 0)
      case 3: input(byte(), byte(), Double(byte()) - 4, Double(byte()) - 4)
      case 4:
        check(compositor.takeLayers())
        compositor.presented(at: now, refresh: .milliseconds(16), sequence: index)
      case 5:
        compositor.disconnect(clients[1], reason: "goes", now: now)
        clients[1] = compositor.connect(Wayland.Peer(process: 1, user: 0))
      case 6:
        let mode = Wayland.OutputMode(width: Int(byte()) + 1, height: Int(byte()) + 1, refreshRate: 60)
        compositor.setOutput(mode, now: now)
      case 7: type(byte(), byte())
      default: break
      }
    }
    for client in clients { compositor.disconnect(client, reason: "the end", now: now) }
    let last = compositor.takeLayers()
    precondition(last?.layers.isEmpty ?? true, "clients that are gone are not on the screen")
    compositor.presented(at: now, refresh: .milliseconds(16), sequence: 0)
    check(compositor.takeLayers())
    precondition(compositor.isIdle, "clients that are gone hold nothing")
  }

  /// A request with its length made right, so that what is changed in it stays a request.
  private func request(client: Int, _ byte: () -> UInt8) {
    let object = byte()
    let number = object < 0xF0 ? UInt32(object) : 0xFF00_0000 | UInt32(object & 0xF)
    let opcode = UInt32(byte())
    let count = Int(byte())
    var message: [UInt8] = []
    func append(_ word: UInt32) { for shift in [0, 8, 16, 24] as [UInt32] { message.append(UInt8(truncatingIfNeeded: word >> shift)) } }
    append(number)
    append(UInt32(8 + count * 4) << 16 | opcode)
    for _ in 0..<(count * 4) { message.append(byte()) }
    send(message, from: client)
  }

  private func send(_ bytes: [UInt8], from index: Int) {
    let client = clients[index]
    guard client.endReason == nil else { return }
    // There is always a descriptor for a request that wants one.
    let descriptors = client.waitingDescriptors == 0 ? [Wayland.Descriptor(owning: dup(memory))] : []
    compositor.receive(bytes, descriptors: descriptors, from: client, now: now)
    while compositor.dispatch(client, now: now) {}
  }

  private func input(_ kind: UInt8, _ code: UInt8, _ x: Double, _ y: Double) {
    let input: StageInput =
      switch kind % 8 {
      case 0: .pointerMotion(x: x, y: y)
      case 1: .pointerButton(code: 0x110 + UInt32(code & 3), isPressed: code & 4 == 0)
      case 2: .pointerAxis(horizontal: x, vertical: y)
      case 3: .touchDown(id: Int32(code & 3), x: x, y: y)
      case 4: .touchMotion(id: Int32(code & 3), x: x, y: y)
      case 5: .touchUp(id: Int32(code & 3))
      case 6: .key(code: UInt32(code), isPressed: x < 60)
      default: .text(String(Unicode.Scalar(code)))
      }
    compositor.send(input, now: now)
  }

  private func type(_ kind: UInt8, _ code: UInt8) {
    let action: KeyboardAction =
      switch kind % 3 {
      case 0: .text(String(Unicode.Scalar(code)))
      case 1: .key(UInt32(code))
      default: .pointerLeft
      }
    compositor.perform(action, now: now)
    if let field = compositor.focusedField {
      precondition(field.caret.map { $0.width >= 0 && $0.height >= 0 } ?? true, "a caret has a size")
    }
  }

  private func check(_ update: LayersUpdate?) {
    for layer in update?.layers ?? [] {
      precondition(layer.target.width > 0 && layer.target.height > 0, "what is on the screen has a size")
      if let source = layer.source {
        precondition(
          source.x >= 0 && source.y >= 0 && source.width > 0 && source.height > 0 && source.x + source.width <= (layer.bitmap?.width ?? 0)
            && source.y + source.height <= (layer.bitmap?.height ?? 0), "a crop lies within its bitmap")
      }
      for area in layer.damage {
        precondition(
          area.x >= 0 && area.y >= 0 && area.x + area.width <= compositor.output.width
            && area.y + area.height <= compositor.output.height, "damage is on the screen")
      }
    }
  }
}
