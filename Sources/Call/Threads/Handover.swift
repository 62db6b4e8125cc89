/// Carries an object that is not safe to share to the one thread that uses it from then on.
package struct Handover<Object>: @unchecked Sendable {
  // Unchecked: whoever hands the object over keeps no hold of it.
  package let object: Object

  package init(_ object: Object) { self.object = object }
}
