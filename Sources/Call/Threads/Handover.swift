/// Carries an object that is not safe to share to the one thread that uses it from then on.
struct Handover<Object>: @unchecked Sendable {
  // Unchecked: whoever hands the object over keeps no hold of it.
  let object: Object

  init(_ object: Object) { self.object = object }
}
