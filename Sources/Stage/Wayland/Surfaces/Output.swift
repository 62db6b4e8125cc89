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
    /// Who made the monitor.
    package var make = "Parlor"
    /// Which of the maker's monitors it is.
    package var model = "Stage"
    /// Width and height of what is seen in millimetres, as a viewer sees it; nil where nobody knows.
    package var millimetres: PhysicalSize?

    /// A size in millimetres.
    package struct PhysicalSize: Sendable, Equatable {
      package var width: Int
      package var height: Int

      package init(width: Int, height: Int) { (self.width, self.height) = (width, height) }
    }

    package init(width: Int, height: Int, refreshRate: Double) {
      (self.width, self.height, self.refreshRate) = (width, height, refreshRate)
    }

    var bounds: Rectangle { Rectangle(x: 0, y: 0, width: width, height: height) }
    /// The size that clients are told: where it is not known, that of a screen of 96 pixels an inch, which is what the pixel of CSS stands for.
    var toldMillimetres: PhysicalSize { millimetres ?? PhysicalSize(width: width * 254 / 960, height: height * 254 / 960) }
  }

  /// `wl_output`: the one screen.
  final class Output: Resource, BoundResource {
    enum Event: UInt16 { case geometry, mode, done, scale, name, description }

    override var interface: String { "wl_output" }

    /// What the screen is called. It stays so, whichever monitor there is: an output's name cannot change.
    static let name = "STAGE-1"

    func wasBound() {
      client.outputs.append(self)
      describe(isFirst: true)
      for surface in client.surfaces { surface.enter(self) }
    }

    /// Says all that there is to say about the screen.
    func describe(isFirst: Bool) {
      let mode = compositor.output
      let (unknownSubpixels, normalTransform): (Argument, Argument) = (.int(0), .int(0))
      post(
        Event.geometry.rawValue, .int(0), .int(0), .int(mode.toldMillimetres.width), .int(mode.toldMillimetres.height), unknownSubpixels,
        .string(mode.make), .string(mode.model), normalTransform)
      let currentAndPreferred: Argument = .uint(3)
      post(
        Event.mode.rawValue, currentAndPreferred, .int(mode.width), .int(mode.height), .int(Int((mode.refreshRate * 1_000).rounded())))
      if version >= 4 {
        if isFirst { post(Event.name.rawValue, .string(Output.name)) }
        post(Event.description.rawValue, .string("\(mode.make) \(mode.model)"))
      }
      if version >= 2 { post(Event.scale.rawValue, .int(1)) }
      finish()
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
        try client.add(LogicalOutput(client, id: id, version: version)).describe(isFirst: true)
        if version >= 3 { output.finish() }
      case nil: throw unknown(opcode)
      }
    }
  }

  /// `zxdg_output_v1`: where the screen lies among others.
  final class LogicalOutput: PlainResource {
    enum Event: UInt16 { case position, size, done, name, description }

    override var interface: String { "zxdg_output_v1" }

    /// Says all that there is to say. From version 3 on, it counts with the output's own `done`.
    func describe(isFirst: Bool) {
      let mode = compositor.output
      post(Event.position.rawValue, .int(0), .int(0))
      post(Event.size.rawValue, .int(mode.width), .int(mode.height))
      if version >= 2, isFirst || version >= 3 {
        if isFirst { post(Event.name.rawValue, .string(Output.name)) }
        post(Event.description.rawValue, .string("\(mode.make) \(mode.model)"))
      }
      if version < 3 { post(Event.done.rawValue) }
    }
  }
}
