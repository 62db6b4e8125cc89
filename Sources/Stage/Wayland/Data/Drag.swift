extension Wayland {
  /// Something that is being dragged, with the pointer or with a finger.
  final class Drag {
    private unowned let seat: Seat
    /// Whose drag it is.
    let client: Client
    private(set) weak var source: DataSource?
    /// Without a source only the client itself takes part.
    private let isPrivate: Bool
    /// What hangs on the pointer.
    private(set) weak var icon: Surface?
    /// The finger that drags; nil: the pointer.
    let finger: Int32?
    private(set) var x = 0.0
    private(set) var y = 0.0
    private weak var focus: Surface?
    private var offers: [DataOffer] = []

    private init(_ seat: Seat, client: Client, source: DataSource?, icon: Surface?, finger: Int32?) {
      (self.seat, self.client, self.source, self.icon, self.finger) = (seat, client, source, icon, finger)
      isPrivate = source == nil
      (x, y) = (seat.pointerX, seat.pointerY)
    }

    /// Begins a drag. The pointer leaves its surface, and the touch is no touch any more.
    static func start(_ seat: Seat, client: Client, source: DataSource?, icon: Surface?, finger: Int32?) {
      let drag = Drag(seat, client: client, source: source, icon: icon, finger: finger)
      seat.drag = drag
      if finger == nil { seat.letGoOfPointer() } else { for touch in client.touches { touch.cancel() } }
      seat.compositor.arrangementChanged()
    }

    /// The pointer or finger is here now.
    func move(x: Double, y: Double) {
      (self.x, self.y) = (x, y)
      if icon != nil { seat.compositor.arrangementChanged() }
      let placed = seat.compositor.surface(atX: x, y: y)
      if placed?.surface !== focus {
        enter(placed)
      } else if let placed {
        for device in placed.surface.client.dataDevices { device.motion(x: x - Double(placed.x), y: y - Double(placed.y)) }
      }
    }

    /// Surfaces have moved under the pointer.
    func arrangementChanged() {
      let placed = seat.compositor.surface(atX: x, y: y)
      if placed?.surface !== focus { enter(placed) }
    }

    private func enter(_ placed: Compositor.Placed?) {
      leave()
      guard let placed, !isPrivate || placed.surface.client === client else { return }
      focus = placed.surface
      for device in placed.surface.client.dataDevices {
        let offer = source.flatMap(device.makeOffer)
        if let offer {
          offer.state = .over
          offers.append(offer)
        }
        device.enter(placed.surface, x: x - Double(placed.x), y: y - Double(placed.y), offer: offer)
        offer?.describeDrag()
      }
    }

    private func leave() {
      for device in focus?.client.dataDevices ?? [] { device.leave() }
      if !offers.isEmpty { source?.target(nil) }
      for offer in offers where offer.state == .over { offer.state = .finished }
      (offers, focus) = ([], nil)
    }

    /// The button or finger is lifted.
    func drop() {
      let accepted = offers.filter { $0.isAccepted && !$0.isDestroyed }
      if isPrivate || !accepted.isEmpty {
        for offer in accepted { offer.state = .dropped }
        for device in focus?.client.dataDevices ?? [] { device.drop() }
        source?.dropPerformed()
        for device in focus?.client.dataDevices ?? [] { device.leave() }
        (offers, focus) = ([], nil)
      } else {
        leave()
        source?.cancel()
      }
      end()
    }

    /// The drag comes to nothing.
    func cancel() {
      leave()
      end()
    }

    private func end() {
      seat.drag = nil
      seat.compositor.arrangementChanged()
    }

    func surfaceWasRemoved(_ surface: Surface) {
      if focus === surface { leave() }
    }
  }
}
