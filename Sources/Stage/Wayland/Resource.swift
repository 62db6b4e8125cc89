extension Wayland {
  /// An object that a client knows by a number.
  class Resource {
    /// Whose object it is. (The circle that this closes is broken when the client goes.)
    let client: Client
    /// The object's number, the client's choice below 0xFF000000, the server's from there on.
    let id: UInt32
    /// The version of the interface that the client asked for.
    let version: UInt32
    /// Whether the client has let go of it, or has gone.
    private(set) var isDestroyed = false

    init(_ client: Client, id: UInt32, version: UInt32) { (self.client, self.id, self.version) = (client, id, version) }

    /// The interface's name in the protocol.
    var interface: String { preconditionFailure("every kind of object names its interface") }

    /// The state that all clients share.
    final var compositor: Compositor { client.compositor }

    /// Does what request number `opcode` asks for. Most kinds of objects have a `destroy`, which is left to `destroy()`.
    func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) { throw unknown(opcode) }

    /// Undoes what the object did. Called once, when the client destroys it or goes away; others may be gone already.
    func wasRemoved() {}

    /// Sends an event, unless the client has let go of the object.
    final func post(_ opcode: UInt16, _ arguments: Argument...) {
      guard !isDestroyed else { return }
      client.post(object: id, opcode: opcode, arguments)
    }

    /// Takes the object from the client.
    final func destroy() { client.remove(self) }

    /// Called by the client's table alone.
    final func markRemoved() {
      isDestroyed = true
      wasRemoved()
    }

    /// An error of this object's interface.
    final func failure(_ code: some RawRepresentable<UInt32>, _ reason: String) -> ProtocolFailure {
      ProtocolFailure(object: id, code: code.rawValue, reason: reason)
    }

    /// The error for a request that the interface does not have.
    final func unknown(_ opcode: UInt16) -> ProtocolFailure {
      ProtocolFailure(.invalidMethod, object: id, "\(interface) version \(version) has no request \(opcode)")
    }

    /// Refuses a request that is newer than the version asked for.
    final func require(version needed: UInt32, _ opcode: UInt16) throws(ProtocolFailure) {
      guard version >= needed else { throw unknown(opcode) }
    }
  }

  /// An object whose only request is `destroy`, in place 0.
  class PlainResource: Resource {
    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      guard opcode == 0 else { throw unknown(opcode) }
      destroy()
    }
  }

  /// `wl_callback`: tells once that something has happened, and is gone then.
  final class Callback: Resource {
    override var interface: String { "wl_callback" }

    /// Tells the client.
    func fire(_ data: UInt32) {
      post(0, .uint(data))
      destroy()
    }
  }
}
