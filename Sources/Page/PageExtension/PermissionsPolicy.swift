/// What a document may do of what the permissions policy governs (W3C Permissions Policy §4.10, with `self` as the default of each feature).
struct PermissionsPolicy: Equatable {
  var camera = true
  var microphone = true
  var displayCapture = true
  var fullscreen = true

  /// Everything: what a page at the top has.
  static let all = PermissionsPolicy()
  /// Nothing: what a frame has whose parent is unknown or not admitted.
  static let none = PermissionsPolicy(camera: false, microphone: false, displayCapture: false, fullscreen: false)

  /// The policy of a frame's document.
  /// - Parameters:
  ///   - allow: the frame element's `allow` attribute.
  ///   - sourceOrigin: the origin of the URL in the element's `src`; nil when it has none of its own.
  ///   - origin: the origin of the document in the frame.
  ///   - parentOrigin: the origin of the document that the element stands in.
  static func ofFrame(allow: String, allowsFullscreen: Bool, sourceOrigin: String?, origin: String, parentOrigin: String, parent: Self)
    -> Self
  {
    let directives = parse(allow)
    func isAllowed(_ feature: String, _ parentHasIt: Bool) -> Bool {
      guard parentHasIt else { return false }
      guard let list = directives[feature] else { return origin == parentOrigin }
      for item in list {
        switch item {
        case "*": return true
        case "'self'" where origin == parentOrigin: return true
        case "'src'" where origin == (sourceOrigin ?? parentOrigin): return true
        case origin: return true
        default: continue
        }
      }
      return false
    }
    return Self(
      camera: isAllowed("camera", parent.camera), microphone: isAllowed("microphone", parent.microphone),
      displayCapture: isAllowed("display-capture", parent.displayCapture),
      fullscreen: isAllowed("fullscreen", parent.fullscreen) || (allowsFullscreen && parent.fullscreen && directives["fullscreen"] == nil))
  }

  /// The allow-lists by feature. A feature named without a list means `'src'`; of one named twice, the first holds.
  private static func parse(_ allow: String) -> [String: [String]] {
    var directives: [String: [String]] = [:]
    for directive in allow.split(separator: ";") {
      let words = directive.split { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" || $0 == "\u{0C}" }.map(String.init)
      guard let feature = words.first?.lowercased(), directives[feature] == nil else { continue }
      var list: [String] = []
      for word in words.dropFirst() {
        let lower = word.lowercased()
        // An origin may be written with a slash behind it.
        list.append(lower.hasPrefix("'") ? lower : lower.hasSuffix("/") ? String(lower.dropLast()) : lower)
      }
      directives[feature] = words.count == 1 ? ["'src'"] : list
    }
    return directives
  }
}
