extension Wayland {
  /// Something that every client may bind.
  struct Global: Sendable {
    let interface: String
    let version: UInt32
    let make: @Sendable (Client, UInt32, UInt32) -> Resource

    init(_ interface: String, _ version: UInt32, _ make: @escaping @Sendable (Client, UInt32, UInt32) -> Resource) {
      (self.interface, self.version, self.make) = (interface, version, make)
    }

    /// What the server has, in the order that it is announced; numbered from 1.
    static let all: [Global] = [
      // Debian 12's client library knows no more than version 5, and stock clients bind whatever is announced.
      Global("wl_compositor", 5) { CompositorGlobal($0, id: $1, version: $2) },
      Global("wl_subcompositor", 1) { Subcompositor($0, id: $1, version: $2) },
      Global("wl_shm", 1) { SharedMemory($0, id: $1, version: $2) },
      Global("wl_output", 4) { Output($0, id: $1, version: $2) },
      Global("wl_seat", 8) { SeatResource($0, id: $1, version: $2) },
      Global("wl_data_device_manager", 3) { DataDeviceManager($0, id: $1, version: $2) },
      Global("xdg_wm_base", 5) { ShellBase($0, id: $1, version: $2) },
      Global("wp_viewporter", 1) { Viewporter($0, id: $1, version: $2) },
      Global("wp_presentation", 1) { Presentation($0, id: $1, version: $2) },
      Global("zxdg_output_manager_v1", 3) { OutputManager($0, id: $1, version: $2) },
      Global("zxdg_decoration_manager_v1", 1) { DecorationManager($0, id: $1, version: $2) },
      Global("org_kde_kwin_server_decoration_manager", 1) { KDEDecorationManager($0, id: $1, version: $2) },
      Global("parlor_video_manager_v1", 1) { VideoManager($0, id: $1, version: $2) },
      Global("zwp_text_input_manager_v3", 1) { TextInputManager($0, id: $1, version: $2) },
    ]
  }

  /// `wl_display`, object 1 of every client.
  final class DisplayResource: Resource {
    enum Request: UInt16 { case sync, getRegistry }
    enum Event: UInt16 { case error, deleteID }

    override var interface: String { "wl_display" }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .sync: try client.add(Callback(client, id: try arguments.newID(), version: 1)).fire(compositor.serial)
      case .getRegistry: try client.add(Registry(client, id: try arguments.newID(), version: 1)).announce()
      case nil: throw unknown(opcode)
      }
    }
  }

  /// `wl_registry`: what there is to bind.
  final class Registry: Resource {
    override var interface: String { "wl_registry" }

    func announce() {
      for (index, global) in Global.all.enumerated() {
        post(0, .uint(UInt32(index + 1)), .string(global.interface), .uint(global.version))
      }
    }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      guard opcode == 0 else { throw unknown(opcode) }
      let name = try arguments.uint()
      let (wanted, version, id) = (try arguments.string(), try arguments.uint(), try arguments.newID())
      guard (1...UInt32(Global.all.count)).contains(name) else {
        throw ProtocolFailure(.invalidObject, object: self.id, "there is no global \(name)")
      }
      let global = Global.all[Int(name) - 1]
      guard global.interface == wanted, (1...global.version).contains(version) else {
        throw ProtocolFailure(
          .invalidObject, object: self.id,
          "global \(name) is \(global.interface) up to version \(global.version), not \(wanted) version \(version)")
      }
      let resource = global.make(client, id, version)
      try client.add(resource)
      (resource as? any BoundResource)?.wasBound()
    }
  }

  /// A global that has something to say as soon as it is bound.
  protocol BoundResource {
    func wasBound()
  }
}
