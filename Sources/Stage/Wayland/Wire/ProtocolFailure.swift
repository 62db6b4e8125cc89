extension Wayland {
  /// What a client did wrong, told to it as `wl_display.error`; the connection ends with it.
  struct ProtocolFailure: Error, Equatable {
    /// The object that the error is about.
    var object: UInt32
    /// The code, from the error enumeration of that object's interface.
    var code: UInt32
    /// The reason, for whoever reads the logs.
    var reason: String

    /// The codes of `wl_display`, which may be about any object.
    enum DisplayCode: UInt32 {
      case invalidObject, invalidMethod, noMemory, implementation
    }

    init(object: UInt32, code: UInt32, reason: String) { (self.object, self.code, self.reason) = (object, code, reason) }

    init(_ code: DisplayCode, object: UInt32 = 1, _ reason: String) { self.init(object: object, code: code.rawValue, reason: reason) }
  }
}
