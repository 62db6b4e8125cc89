import Base

extension Wayland {
  /// Who is at the other end of a connection, as the kernel says.
  package struct Peer: Sendable, Hashable {
    /// The process that connected.
    package var process: Int32
    /// The user it runs as.
    package var user: UInt32

    package init(process: Int32, user: UInt32) { (self.process, self.user) = (process, user) }
  }

  /// One connection: the objects that the client made, and the messages to and fro.
  package final class Client {
    /// Which connection; never used twice.
    package let identifier: Int
    /// Who is at the other end.
    package let peer: Peer
    unowned let compositor: Compositor
    var incoming = IncomingMessages()
    /// What is to be sent.
    var outgoing = OutgoingMessages()
    /// The objects alive, by number.
    private(set) var resources: [UInt32: Resource] = [:]
    /// Why the connection is at its end; nil while it lives.
    package private(set) var endReason: String?
    /// The client's objects for the screen and for each kind of input, which events go to.
    var outputs: [Output] = []
    var pointers: [PointerResource] = []
    var keyboards: [KeyboardResource] = []
    var touches: [TouchResource] = []
    var dataDevices: [DataDevice] = []
    var textInputs: [TextInput] = []
    /// Where on the screen a button or finger went down on one of its surfaces last, and how often.
    var lastPress: Rectangle?
    var pressCount = 0
    /// Bytes of the bitmaps that the stage holds for this client.
    var bitmapBytes = 0
    private var nextServerID: UInt32 = firstServerID
    private static let firstServerID: UInt32 = 0xFF00_0000

    init(identifier: Int, peer: Peer, compositor: Compositor) {
      (self.identifier, self.peer, self.compositor) = (identifier, peer, compositor)
      resources[1] = DisplayResource(self, id: 1, version: 1)
    }

    /// Descriptors that came and that no request has taken.
    package var waitingDescriptors: Int { incoming.descriptors.count }

    /// The surfaces alive.
    var surfaces: [Surface] { resources.values.compactMap { $0 as? Surface } }

    /// Adds an object that the client chose the number of.
    @discardableResult func add<Kind: Resource>(_ resource: Kind) throws(ProtocolFailure) -> Kind {
      guard endReason == nil else { throw ProtocolFailure(.implementation, "the connection has ended") }
      guard resource.id != 0, resource.id < Client.firstServerID, resources[resource.id] == nil else {
        throw ProtocolFailure(.invalidObject, "number \(resource.id) cannot be given to a new \(resource.interface)")
      }
      guard resources.count < Limits.objects else { throw ProtocolFailure(.noMemory, "more than \(Limits.objects) objects") }
      resources[resource.id] = resource
      return resource
    }

    /// Adds an object that the server chooses the number of.
    func addOwn<Kind: Resource>(_ make: (UInt32) -> Kind) -> Kind? {
      guard endReason == nil else { return nil }
      guard resources.count < Limits.objects else {
        end("more than \(Limits.objects) objects")
        return nil
      }
      while resources[nextServerID] != nil { nextServerID = nextServerID == .max ? Client.firstServerID : nextServerID + 1 }
      let resource = make(nextServerID)
      resources[nextServerID] = resource
      nextServerID = nextServerID == .max ? Client.firstServerID : nextServerID + 1
      return resource
    }

    /// Takes an object out; the client may then use its number again.
    func remove(_ resource: Resource) {
      guard resources.removeValue(forKey: resource.id) != nil else { return }
      resource.markRemoved()
      if resource.id < Client.firstServerID { post(object: 1, opcode: DisplayResource.Event.deleteID.rawValue, [.uint(resource.id)]) }
    }

    /// Queues an event.
    func post(object: UInt32, opcode: UInt16, _ arguments: [Argument]) {
      guard endReason == nil else { return }
      outgoing.append(object: object, opcode: opcode, arguments)
      if outgoing.bytes.count > Limits.outgoing { end("it does not read what it is sent") }
    }

    /// Handles the messages that are there, at most `limit`. Returns whether more may be waiting.
    func dispatch(limit: Int) -> Bool {
      for _ in 0..<limit {
        guard endReason == nil else { return false }
        do {
          guard let message = try incoming.next() else { return false }
          try dispatch(message)
        } catch {
          fail(error)
        }
      }
      return true
    }

    private func dispatch(_ message: Message) throws(ProtocolFailure) {
      guard let resource = resources[message.object] else {
        throw ProtocolFailure(.invalidObject, "request \(message.opcode) is for object \(message.object), which is not there")
      }
      var arguments = Arguments(message, client: self)
      try resource.handle(message.opcode, &arguments)
      guard arguments.isAtEnd else {
        throw ProtocolFailure(.invalidMethod, "request \(message.opcode) of \(resource.interface) is longer than its arguments")
      }
    }

    /// Tells the client what it did wrong, and ends the connection.
    func fail(_ failure: ProtocolFailure) {
      let reason = Array(failure.reason.utf8.prefix(1_000))
      let error = DisplayResource.Event.error.rawValue
      post(object: 1, opcode: error, [.uint(failure.object), .uint(failure.code), .string(String(decoding: reason, as: UTF8.self))])
      let name = resources[failure.object].map { "\($0.interface)@\(failure.object)" } ?? "object \(failure.object)"
      end("\(failure.reason) (\(name), code \(failure.code))")
    }

    /// Ends the connection and undoes all that the client did. What was queued may still be sent.
    func end(_ reason: String) {
      guard endReason == nil else { return }
      endReason = reason
      let leaving = resources.values.sorted { $0.id > $1.id }
      resources.removeAll()
      for resource in leaving { resource.markRemoved() }
      (outputs, pointers, keyboards, touches, dataDevices, textInputs) = ([], [], [], [], [], [])
      compositor.clientEnded(self)
    }
  }
}
