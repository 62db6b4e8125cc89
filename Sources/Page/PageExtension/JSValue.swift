import Base
import CWebKitExtension

/// A JavaScript value that native code holds. It keeps the value, and with it the value's document, until it is let go.
final class JSValue {
  /// Valid while this object lives: what uses it has to keep the object.
  fileprivate let pointer: OpaquePointer

  /// Takes over the reference that a `jsc_…_new` or a call returned.
  init(owning pointer: OpaquePointer) { self.pointer = pointer }

  deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }

  /// The context of the value's document; valid while this object lives.
  var context: OpaquePointer { withExtendedLifetime(self) { jsc_value_get_context(pointer) } }

  convenience init(_ number: Double, in context: OpaquePointer) { self.init(owning: jsc_value_new_number(context, number)) }

  convenience init(_ flag: Bool, in context: OpaquePointer) { self.init(owning: jsc_value_new_boolean(context, flag ? 1 : 0)) }

  /// A string of `utf8`, which may hold any character, NUL too.
  convenience init(utf8: [UInt8], in context: OpaquePointer) {
    let bytes = g_bytes_new(utf8, gsize(utf8.count))
    defer { g_bytes_unref(bytes) }
    self.init(owning: jsc_value_new_string_from_bytes(context, bytes))
  }

  /// An `ArrayBuffer` with a copy of `bytes`, in memory of the engine: in a web process it takes no other.
  convenience init(buffer bytes: [UInt8], in context: OpaquePointer) {
    let array = JSValue(owning: jsc_value_new_typed_array(context, JSC_TYPED_ARRAY_UINT8, gsize(bytes.count)))
    if !bytes.isEmpty { jsc_value_typed_array_get_data(array.pointer, nil).copyMemory(from: bytes, byteCount: bytes.count) }
    self.init(owning: jsc_value_typed_array_get_buffer(array.pointer))
  }

  /// Another reference to a value that a native function was called with.
  convenience init(sharing pointer: OpaquePointer) { self.init(owning: OpaquePointer(g_object_ref(UnsafeMutableRawPointer(pointer)))) }

  static func null(in context: OpaquePointer) -> JSValue { JSValue(owning: jsc_value_new_null(context)) }

  static func object(in context: OpaquePointer) -> JSValue { JSValue(owning: jsc_value_new_object(context, nil, nil)) }

  /// A reference of its own, for a caller that takes it over.
  func passRetained() -> OpaquePointer {
    withExtendedLifetime(self) { OpaquePointer(g_object_ref(UnsafeMutableRawPointer(pointer))) }
  }

  /// The value as text. For an object this runs the document's code.
  var text: String {
    withExtendedLifetime(self) {
      let characters = jsc_value_to_string(pointer)
      defer { g_free(characters) }
      return characters.map { String(cString: $0) } ?? ""
    }
  }

  /// The value as a condition.
  var isTrue: Bool { withExtendedLifetime(self) { jsc_value_to_boolean(pointer) != 0 } }

  subscript(name: String) -> JSValue { withExtendedLifetime(self) { JSValue(owning: jsc_value_object_get_property(pointer, name)) } }

  func setProperty(_ name: String, to value: JSValue) {
    withExtendedLifetime((self, value)) { jsc_value_object_set_property(pointer, name, value.pointer) }
  }

  /// Calls the function that this value is; nil when it threw, which is written to the log.
  @discardableResult func callAsFunction(_ arguments: [JSValue]) -> JSValue? {
    withExtendedLifetime((self, arguments)) {
      let context = context
      var pointers: [OpaquePointer?] = arguments.map(\.pointer)
      let result = jsc_value_function_callv(pointer, guint(pointers.count), &pointers)
      if JSValue.logException(of: context) {
        if let result { g_object_unref(UnsafeMutableRawPointer(result)) }
        return nil
      }
      return result.map { JSValue(owning: $0) }
    }
  }

  /// Takes the exception that is pending in `context`, if there is one, and writes it to the log.
  static func logException(of context: OpaquePointer) -> Bool {
    guard let exception = jsc_context_get_exception(context) else { return false }
    let report = jsc_exception_report(exception)
    Log.error("page script: \(report.map { String(cString: $0) } ?? "an exception")")
    g_free(report)
    jsc_context_clear_exception(context)
    return true
  }
}
