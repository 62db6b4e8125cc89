import CWebKitExtension

/// Functions made in a document before any script of the page runs, so that the page cannot stand between: what the document says of itself, and
/// the frame elements in it.
struct Inspection {
  private static let source = """
    (function () {
      "use strict";
      const { call, bind } = Function.prototype;
      const uncurry = bind.bind(call);
      const getter = (prototype, name) => uncurry(Object.getOwnPropertyDescriptor(prototype, name).get);
      const all = uncurry(Document.prototype.querySelectorAll), count = getter(NodeList.prototype, "length");
      const windowOf = getter(HTMLIFrameElement.prototype, "contentWindow");
      const attribute = uncurry(Element.prototype.getAttribute), has = uncurry(Element.prototype.hasAttribute);
      const url = URL, originOf = getter(URL.prototype, "origin"), baseURI = getter(Node.prototype, "baseURI");
      const ancestors = location.ancestorOrigins;
      const own = document;
      return {
        origin: self.origin, isSecure: isSecureContext, url: location.href, parent,
        ancestorCount: ancestors.length, ancestors: [...ancestors].join(" "),
        isSame: (a, b) => a === b,
        frame(child) {
          const elements = all(own, "iframe");
          for (let i = 0, n = count(elements); i < n; i++) {
            const element = elements[i];
            if (windowOf(element) !== child) continue;
            let source = "";
            try { source = has(element, "srcdoc") ? "" : originOf(new url(attribute(element, "src"), baseURI(own))); } catch { }
            return { isFound: true, allow: attribute(element, "allow") ?? "", allowsFullscreen: has(element, "allowfullscreen"), source };
          }
          return { isFound: false };
        },
      };
    })()
    """

  let origin: String
  let isSecure: Bool
  let url: String
  let ancestors: [String]
  let parent: JSValue
  private let isSame: JSValue
  private let frame: JSValue

  /// Looks at the document of `context`, whose window object has just been made; nil when the engine lacks what is asked for.
  init?(context: OpaquePointer) {
    let text = Self.source
    guard let pointer = jsc_context_evaluate(context, text, gssize(text.utf8.count)) else { return nil }
    let object = JSValue(owning: pointer)
    if JSValue.logException(of: context) { return nil }
    origin = object["origin"].text
    isSecure = object["isSecure"].isTrue
    url = object["url"].text
    // Origins hold no spaces.
    ancestors = object["ancestors"].text.split(separator: " ").map(String.init)
    parent = object["parent"]
    isSame = object["isSame"]
    frame = object["frame"]
  }

  /// Whether both are the same object.
  func isSame(_ a: JSValue, _ b: JSValue) -> Bool {
    guard let result = isSame([a, b]) else { return false }
    return result.isTrue
  }

  /// The frame element in this document that holds `window`; nil when there is none (or it stands in a shadow tree).
  func frameElement(of window: JSValue) -> (allow: String, allowsFullscreen: Bool, sourceOrigin: String?)? {
    guard let found = frame([window]), found["isFound"].isTrue else { return nil }
    let source = found["source"].text
    return (
      found["allow"].text, found["allowsFullscreen"].isTrue, source.isEmpty || source == "null" ? nil : source
    )
  }
}
