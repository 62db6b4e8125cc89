import Base
import BridgeMessages
import BridgeSocket
import CPageScript
import CWebKitExtension
import Glibc

/// What WebKit's web process loads: gives each admitted document the page script and its end of the bridge.
///
/// Everything here runs on the web process's main thread.
public final class Extension {
  /// The process's only one.
  nonisolated(unsafe) public static let shared = Extension()

  private(set) var connection: BridgeConnection?
  /// The open documents, by number.
  private(set) var documents: [UInt32: Document] = [:]
  private var origins: Set<String> = []
  private var tellsConsole = false
  private var random = SystemRandomNumberGenerator()

  /// How long a page waits for the answer of a call, in microseconds.
  private static let callLimit: gint64 = 500_000

  /// Begins: `webExtension` is WebKit's object, `userData` what the host handed over (a `(sasb)`: the socket's path, the admitted origins, whether the page's console is wanted in the log).
  public func start(_ webExtension: OpaquePointer, userData: OpaquePointer?) {
    var socket: UnsafeMutablePointer<CChar>?
    var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    var tellsConsole: gboolean = 0
    guard read_user_data(userData, &socket, &list, &tellsConsole) != 0, let socket, let list else {
      Log.error("the host handed over no settings")
      return
    }
    defer {
      g_free(socket)
      g_strfreev(list)
    }
    var index = 0
    while let origin = unsafe list[index] {
      origins.insert(String(cString: origin))
      index += 1
    }
    self.tellsConsole = tellsConsole != 0
    connection = BridgeConnection(path: String(cString: socket))
    guard let connection else {
      Log.error("nobody listens at \(String(cString: socket))")
      return
    }
    connection.onFrame = { [unowned self] in deliver($0) }
    connection.onClose = { [unowned self] in documents = [:] }

    let cleared: @convention(c) (OpaquePointer, OpaquePointer, OpaquePointer, gpointer?) -> Void = { world, page, frame, _ in
      Extension.shared.windowObjectCleared(world: world, page: page, frame: frame)
    }
    signal_connect(
      UnsafeMutableRawPointer(webkit_script_world_get_default()), "window-object-cleared", unsafeBitCast(cleared, to: GCallback.self), nil)
    let created: @convention(c) (OpaquePointer, OpaquePointer, gpointer?) -> Void = { _, page, _ in Extension.shared.watch(page: page) }
    signal_connect(UnsafeMutableRawPointer(webExtension), "page-created", unsafeBitCast(created, to: GCallback.self), nil)
  }

  /// Waits for the answer of a document's call.
  func call(_ text: UnsafeRawBufferPointer, of document: Document) -> [UInt8]? {
    guard let connection, unsafe connection.send(.call, document: document.number, target: 0, payload: text) else { return nil }
    let answer = connection.wait(until: g_get_monotonic_time() + Self.callLimit) { frame in
      guard frame.kind == .callAnswer, frame.document == document.number else { return false }
      guard document.abandonedCalls == 0 else {
        document.abandonedCalls -= 1
        return false
      }
      return true
    }
    if answer == nil { document.abandonedCalls += 1 }
    return answer?.payload
  }

  /// The admitted document that a window shows now.
  func document(in window: JSValue, seenFrom observer: Document) -> Document? {
    documents.values.first { observer.inspection.isSame(window, $0.window) }
  }

  /// Hands over what came before the page script was there, as a task of its own.
  func deliverEarly(of number: UInt32) {
    g_idle_add_full(
      G_PRIORITY_DEFAULT,
      { data in
        guard let document = Extension.shared.documents[UInt32(truncatingIfNeeded: UInt(bitPattern: data))] else { return 0 }
        let frames = document.early
        document.early = []
        for frame in frames { document.deliver(frame) }
        return 0
      }, UnsafeMutableRawPointer(bitPattern: UInt(number)), nil)
  }

  /// Tells a document's parent when the document begins or ceases to show videos, as a task of its own.
  func showsVideos(_ hasVideos: Bool, in document: Document) {
    guard hasVideos != document.hasVideos else { return }
    document.hasVideos = hasVideos
    let parent = documents.values.first { $0.page == document.page && document.inspection.isSame(document.inspection.parent, $0.window) }
    guard !document.isMainFrame, let parent else { return }
    var message = JSONText()
    message.add("type", "frame.videos")
    message.add("document", document.number)
    message.add("hasVideos", hasVideos)
    parent.early.append(BridgeFrame(kind: .control, document: parent.number, target: 0, payload: Array(message.text.utf8)))
    deliverEarly(of: parent.number)
  }

  private func deliver(_ frame: BridgeFrame) {
    // A frame for a document that has just been closed, or an answer that came too late, is nobody's any more.
    guard let document = documents[frame.document] else { return }
    if frame.kind == .callAnswer {
      document.abandonedCalls = max(0, document.abandonedCalls - 1)
    } else {
      document.deliver(frame)
    }
  }

  // MARK: Documents

  private func windowObjectCleared(world: OpaquePointer, page: OpaquePointer, frame: OpaquePointer) {
    guard let connection, connection.isOpen, let context = webkit_frame_get_js_context_for_script_world(frame, world) else { return }
    defer { g_object_unref(UnsafeMutableRawPointer(context)) }
    let identifier = UInt64(webkit_frame_get_id(frame))
    let previous = documents.values.first { $0.frame == identifier }
    // The window of an initial empty document serves the first document of its frame, too, when both are of one origin.
    if let previous, previous.context == context { return }
    if let previous { close(previous.number) }

    guard let inspection = Inspection(context: context), inspection.isSecure, origins.contains(inspection.origin) else { return }
    let window = JSValue(owning: jsc_context_get_global_object(context))
    let isMainFrame = webkit_frame_is_main_frame(frame) != 0
    let document = Document(
      number: newNumber(), page: page, frame: identifier, isMainFrame: isMainFrame, inspection: inspection,
      policy: isMainFrame ? .all : policy(of: inspection, in: window, page: page), window: window)
    documents[document.number] = document
    watch(frame: frame, document: document.number)
    connection.send(control: document.openMessage)
    install(document)
  }

  private func install(_ document: Document) {
    let context = document.context
    let function = jsc_context_evaluate_with_source_uri(context, page_script_pointer(), gssize(page_script_length), "parlor:page", 1)
    guard let function else { return }
    let made = JSValue(owning: function)
    if JSValue.logException(of: context) { return }
    made([NativeObject.make(for: document)])
  }

  private func policy(of child: Inspection, in window: JSValue, page: OpaquePointer) -> PermissionsPolicy {
    guard let parent = documents.values.first(where: { $0.page == page && child.isSame(child.parent, $0.window) }) else { return .none }
    let element = parent.inspection.frameElement(of: window)
    return .ofFrame(
      allow: element?.allow ?? "", allowsFullscreen: element?.allowsFullscreen ?? false, sourceOrigin: element?.sourceOrigin,
      origin: child.origin, parentOrigin: parent.inspection.origin, parent: parent.policy)
  }

  private func newNumber() -> UInt32 {
    while true {
      let number = random.next() as UInt32
      if number != 0, documents[number] == nil { return number }
    }
  }

  private func close(_ number: UInt32) {
    guard let document = documents[number] else { return }
    showsVideos(false, in: document)
    documents[number] = nil
    document.receiver = nil
    var message = JSONText()
    message.add("type", "document.close")
    message.add("document", number)
    connection?.send(control: message.text)
    if !document.isMainFrame { send_to_view(document.page, "gone", number, 0, "") }
  }

  /// Closes the document when its frame goes.
  private func watch(frame: OpaquePointer, document number: UInt32) {
    g_object_weak_ref(
      UnsafeMutablePointer<GObject>(frame),
      { data, _ in Extension.shared.close(UInt32(truncatingIfNeeded: UInt(bitPattern: data))) },
      UnsafeMutableRawPointer(bitPattern: UInt(number)))
  }

  // MARK: Pages

  private func watch(page: OpaquePointer) {
    g_object_weak_ref(
      UnsafeMutablePointer<GObject>(page),
      { _, page in
        let gone = OpaquePointer(page)
        for document in Extension.shared.documents.values where document.page == gone { Extension.shared.closeWithoutPage(document.number) }
      }, nil)
    let received: @convention(c) (OpaquePointer, OpaquePointer, gpointer?) -> gboolean = { _, message, _ in
      Extension.shared.answerPing(message)
      return 1
    }
    signal_connect(UnsafeMutableRawPointer(page), "user-message-received", unsafeBitCast(received, to: GCallback.self), nil)
    guard tellsConsole else { return }
    let told: @convention(c) (OpaquePointer, OpaquePointer, gpointer?) -> Void = { _, message, _ in
      let line = console_line(message)
      Log.notice("console: \(line.map { String(cString: $0) } ?? "")")
      g_free(line)
    }
    signal_connect(UnsafeMutableRawPointer(page), "console-message-sent", unsafeBitCast(told, to: GCallback.self), nil)
  }

  private func closeWithoutPage(_ number: UInt32) {
    guard documents.removeValue(forKey: number) != nil else { return }
    var message = JSONText()
    message.add("type", "document.close")
    message.add("document", number)
    connection?.send(control: message.text)
  }

  /// The host asks from time to time whether this process still gets to its main loop, and whether it is on the bridge.
  private func answerPing(_ message: OpaquePointer) {
    webkit_user_message_send_reply(message, webkit_user_message_new(connection?.isOpen == true ? "joined" : "apart", nil))
  }
}
