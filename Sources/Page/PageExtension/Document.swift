import BridgeMessages
import CWebKitExtension

/// One admitted document, from the making of its window object until its frame shows another one or goes.
final class Document {
  /// What stands for it on the bridge: chosen at random, the same for as long as the document lives.
  let number: UInt32
  let page: OpaquePointer
  let frame: UInt64
  let isMainFrame: Bool
  let inspection: Inspection
  let policy: PermissionsPolicy
  /// The document's window.
  let window: JSValue
  /// What takes the frames that arrive, once the page script has named it.
  var receiver: JSValue?
  /// Frames that arrived before.
  var early: [BridgeFrame] = []
  /// Whether it shows videos: its parent makes way for them.
  var hasVideos = false
  /// Answers of calls that were given up, still to come.
  var abandonedCalls = 0

  init(
    number: UInt32, page: OpaquePointer, frame: UInt64, isMainFrame: Bool, inspection: Inspection, policy: PermissionsPolicy,
    window: JSValue
  ) {
    self.number = number
    self.page = page
    self.frame = frame
    self.isMainFrame = isMainFrame
    self.inspection = inspection
    self.policy = policy
    self.window = window
  }

  var context: OpaquePointer { window.context }

  /// The text of `document.open`.
  var openMessage: String {
    var grants = JSONText()
    grants.add("camera", policy.camera)
    grants.add("microphone", policy.microphone)
    var message = JSONText()
    message.add("type", "document.open")
    message.add("document", number)
    message.add("origin", inspection.origin)
    message.add("topOrigin", inspection.ancestors.last ?? inspection.origin)
    message.add("ancestors", inspection.ancestors)
    message.add("url", inspection.url)
    message.add("isSecure", inspection.isSecure)
    message.add("isMainFrame", isMainFrame)
    message.add("policy", grants)
    return message.text
  }

  /// Hands a frame to the page script.
  func deliver(_ frame: BridgeFrame) {
    guard let receiver else {
      early.append(frame)
      return
    }
    let context = context
    let isText = frame.kind == .control || frame.kind == .dataChannelText
    let payload = isText ? JSValue(utf8: frame.payload, in: context) : JSValue(buffer: frame.payload, in: context)
    receiver([JSValue(Double(frame.kind.rawValue), in: context), JSValue(Double(frame.target), in: context), payload])
  }
}
