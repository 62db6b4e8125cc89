import Base

extension Wayland {
  /// The screen as clients are told of it.
  package struct OutputMode: Sendable, Equatable {
    /// Width in pixels, as a viewer sees it.
    package var width: Int
    /// Height in pixels, as a viewer sees it.
    package var height: Int
    /// Refreshes a second.
    package var refreshRate: Double

    package init(width: Int, height: Int, refreshRate: Double) {
      (self.width, self.height, self.refreshRate) = (width, height, refreshRate)
    }

    var bounds: Rectangle { Rectangle(x: 0, y: 0, width: width, height: height) }
    /// The size in millimetres of a screen of 96 pixels an inch, which is what the pixel of CSS stands for.
    var millimetres: (width: Int, height: Int) { (width * 254 / 960, height * 254 / 960) }
  }

  /// `wl_output`: the one screen.
  final class Output: Resource, BoundResource {
    enum Event: UInt16 { case geometry, mode, done, scale, name, description }

    override var interface: String { "wl_output" }

    func wasBound() {
      client.outputs.append(self)
      let mode = compositor.output
      let (unknownSubpixels, normalTransform): (Argument, Argument) = (.int(0), .int(0))
      post(
        Event.geometry.rawValue, .int(0), .int(0), .int(mode.millimetres.width), .int(mode.millimetres.height), unknownSubpixels,
        .string("Parlor"), .string("Stage"), normalTransform)
      let currentAndPreferred: Argument = .uint(3)
      post(
        Event.mode.rawValue, currentAndPreferred, .int(mode.width), .int(mode.height), .int(Int((mode.refreshRate * 1_000).rounded())))
      if version >= 4 {
        post(Event.name.rawValue, .string("STAGE-1"))
        post(Event.description.rawValue, .string("Parlor's stage"))
      }
      if version >= 2 {
        post(Event.scale.rawValue, .int(1))
        post(Event.done.rawValue)
      }
      for surface in client.surfaces { surface.enter(self) }
    }

    /// The screen is as described now.
    func finish() { if version >= 2 { post(Event.done.rawValue) } }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      guard opcode == 0 else { throw unknown(opcode) }
      try require(version: 3, opcode)
      destroy()
    }

    override func wasRemoved() { client.outputs.removeAll { $0 === self } }
  }

  /// `zxdg_output_manager_v1`.
  final class OutputManager: Resource {
    enum Request: UInt16 { case destroy, getOutput }

    override var interface: String { "zxdg_output_manager_v1" }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .destroy: destroy()
      case .getOutput:
        let id = try arguments.newID()
        let output = try arguments.object(Output.self)
        try client.add(LogicalOutput(client, id: id, version: version)).describe(output)
      case nil: throw unknown(opcode)
      }
    }
  }

  /// `zxdg_output_v1`: where the screen lies among others.
  final class LogicalOutput: PlainResource {
    enum Event: UInt16 { case position, size, done, name, description }

    override var interface: String { "zxdg_output_v1" }

    func describe(_ output: Output) {
      post(Event.position.rawValue, .int(0), .int(0))
      post(Event.size.rawValue, .int(compositor.output.width), .int(compositor.output.height))
      if version >= 2 {
        post(Event.name.rawValue, .string("STAGE-1"))
        post(Event.description.rawValue, .string("Parlor's stage"))
      }
      if version >= 3 { output.finish() } else { post(Event.done.rawValue) }
    }
  }
}
