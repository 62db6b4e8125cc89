import BridgeMessages
import CWebKitExtension

/// The `native` object of a document, as BRIDGE.md describes it.
///
/// Its functions know their document by number, not by reference: what a page keeps of a document that is closed does nothing.
enum NativeObject {
  private typealias Function = @convention(c) (UnsafeMutablePointer<GPtrArray>?, gpointer?) -> OpaquePointer?

  /// Makes the object in the document's context.
  static func make(for document: Document) -> JSValue {
    let context = document.context
    let object = JSValue.object(in: context)
    func add(_ name: String, _ function: Function) {
      let number = UnsafeMutableRawPointer(bitPattern: UInt(document.number))
      let value = jsc_value_new_function_variadic(
        context, name, unsafeBitCast(function, to: GCallback.self), number, nil, jsc_value_get_type())
      object.setProperty(name, to: JSValue(owning: value!))
    }
    add("send") { arguments, data in
      NativeObject.withDocument(arguments, data) { document, arguments in
        guard let kind = arguments.integer(at: 0).flatMap({ BridgeFrame.Kind(rawValue: UInt8(clamping: $0)) }), kind.rawValue <= 4,
          let target = arguments.integer(at: 1), let payload = Payload(arguments.value(at: 2))
        else { return document.raise("send(kind, target, payload): not such arguments") }
        let isSent = payload.withBytes {
          unsafe Extension.shared.connection?.send(kind, document: document.number, target: target, payload: $0) ?? false
        }
        // A connection that is gone takes no more; the host loads the page again.
        if !isSent, Extension.shared.connection?.isOpen == true { return document.raise("the bridge's backlog is full") }
        return nil
      }
    }
    add("call") { arguments, data in
      NativeObject.withDocument(arguments, data) { document, arguments in
        guard let payload = Payload(arguments.value(at: 0)) else { return document.raise("call(text): no text") }
        let answer = payload.withBytes { unsafe Extension.shared.call($0, of: document) }
        return answer.map { JSValue(buffer: $0, in: document.context) } ?? .null(in: document.context)
      }
    }
    add("receive") { arguments, data in
      NativeObject.withDocument(arguments, data) { document, arguments in
        guard let function = arguments.value(at: 0), jsc_value_is_function(function) != 0 else {
          return document.raise("receive(function): no function")
        }
        document.receiver = JSValue(sharing: function)
        if !document.early.isEmpty { Extension.shared.deliverEarly(of: document.number) }
        return nil
      }
    }
    add("place") { arguments, data in
      NativeObject.withDocument(arguments, data) { document, arguments in
        guard let text = arguments.value(at: 0), jsc_value_is_string(text) != 0 else { return document.raise("place(text): no text") }
        let characters = jsc_value_to_string(text)
        defer { g_free(characters) }
        send_to_view(document.page, "place", document.number, document.isMainFrame ? 1 : 0, characters)
        Extension.shared.showsVideos(arguments.isTrue(at: 1), in: document)
        return nil
      }
    }
    add("painted") { arguments, data in
      NativeObject.withDocument(arguments, data) { document, arguments in
        guard let serial = arguments.integer(at: 0) else { return document.raise("painted(serial): no number") }
        send_to_view(document.page, "painted", document.number, document.isMainFrame ? 1 : 0, String(serial))
        return nil
      }
    }
    add("childDocument") { arguments, data in
      NativeObject.withDocument(arguments, data) { document, arguments in
        guard let window = arguments.value(at: 0) else { return document.raise("childDocument(window): no window") }
        let value = JSValue(sharing: window)
        return JSValue(Double(Extension.shared.document(in: value, seenFrom: document)?.number ?? 0), in: document.context)
      }
    }
    object.setProperty("document", to: JSValue(Double(document.number), in: context))
    object.setProperty("isMainFrame", to: JSValue(document.isMainFrame, in: context))
    let policy = JSValue.object(in: context)
    policy.setProperty("camera", to: JSValue(document.policy.camera, in: context))
    policy.setProperty("microphone", to: JSValue(document.policy.microphone, in: context))
    policy.setProperty("displayCapture", to: JSValue(document.policy.displayCapture, in: context))
    policy.setProperty("fullscreen", to: JSValue(document.policy.fullscreen, in: context))
    object.setProperty("policy", to: policy)
    return object
  }

  /// Runs `body` for the document that a function belongs to; a closed document's functions return undefined.
  private static func withDocument(
    _ arguments: UnsafeMutablePointer<GPtrArray>?, _ data: gpointer?, _ body: (Document, Arguments) -> JSValue?
  ) -> OpaquePointer? {
    guard let document = Extension.shared.documents[UInt32(truncatingIfNeeded: UInt(bitPattern: data))],
      let value = body(document, Arguments(array: arguments))
    else { return nil }
    // The caller takes over a reference.
    return value.passRetained()
  }
}

/// What a native function was called with.
private struct Arguments {
  let array: UnsafeMutablePointer<GPtrArray>?

  func value(at index: Int) -> OpaquePointer? {
    guard let array, index < Int(unsafe array.pointee.len), let item = unsafe array.pointee.pdata[index] else { return nil }
    return OpaquePointer(item)
  }

  func isTrue(at index: Int) -> Bool {
    guard let value = value(at: index) else { return false }
    return jsc_value_to_boolean(value) != 0
  }

  /// A number from 0 to 2³² − 1.
  func integer(at index: Int) -> UInt32? {
    guard let value = value(at: index), jsc_value_is_number(value) != 0 else { return nil }
    return UInt32(exactly: jsc_value_to_double(value))
  }
}

/// The bytes of a string, an `ArrayBuffer` or a view on one.
private enum Payload {
  case text(OpaquePointer)
  case buffer(UnsafeRawBufferPointer)

  init?(_ value: OpaquePointer?) {
    guard let value else { return nil }
    if jsc_value_is_string(value) != 0 {
      guard let bytes = jsc_value_to_string_as_bytes(value) else { return nil }
      self = .text(bytes)
    } else if jsc_value_is_array_buffer(value) != 0 {
      var size: gsize = 0
      let data = jsc_value_array_buffer_get_data(value, &size)
      self = unsafe .buffer(UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : Int(size)))
    } else if jsc_value_is_typed_array(value) != 0 {
      let data = jsc_value_typed_array_get_data(value, nil)
      self = unsafe .buffer(UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : Int(jsc_value_typed_array_get_size(value))))
    } else {
      return nil
    }
  }

  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    switch self {
    case .text(let bytes):
      defer { g_bytes_unref(bytes) }
      var size: gsize = 0
      let data = g_bytes_get_data(bytes, &size)
      return unsafe body(UnsafeRawBufferPointer(start: data, count: Int(size)))
    case .buffer(let bytes): return unsafe body(bytes)
    }
  }
}

extension Document {
  /// Makes the native function that is running throw in the page script.
  fileprivate func raise(_ message: String) -> JSValue? {
    jsc_context_throw(context, message)
    return nil
  }
}
