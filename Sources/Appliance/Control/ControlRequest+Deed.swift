extension ControlRequest {
  /// What was done when this request was fulfilled, for the log: what changes something or shows what people in front of the box do. nil: it only asked how the box is.
  ///
  /// Text that was typed, and what stands behind an address, are nobody's business.
  var deed: String? {
    func text(_ name: String) -> String { arguments[name]?.string ?? "" }
    switch verb {
    case "screenshot": return "took a screenshot"
    case "call": return text("action") == "start" ? "started the call" : "ended the call"
    case "open": return "opened " + text("url").prefix { $0 != "?" && $0 != "#" }
    case "reload": return "had the page loaded anew"
    case "restart": return "restarted the \(text("part"))"
    case "tap": return "touched the screen"
    case "type": return "typed \(text("text").count) characters"
    case "key": return "pressed a key"
    case "blank": return "set blanking to \(text("wish"))"
    case "gamma": return "set gamma to " + (arguments["value"]?.number.map { "\($0)" } ?? "auto")
    case "volume": return arguments["change"]?.string.map { "changed the volume: \($0)" }
    case "identify": return "had the box identify itself"
    case "overlay": return "switched the overlay \(arguments["on"]?.boolean == true ? "on" : "off")"
    case "check": return "had the devices tested"
    default: return nil
    }
  }
}
