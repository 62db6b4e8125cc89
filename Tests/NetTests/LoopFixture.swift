import Base
import Glibc
import Net

/// A running event loop that ends with the test, and an actor's executor at once.
struct LoopFixture: ~Copyable {
  let loop = EventLoop(name: "test")
  init() { loop.start() }
  deinit { loop.stop() }
}

/// Values that arrive one by one.
struct Arrivals<Value: Sendable>: Sendable {
  private let stream: AsyncStream<Value>
  private let continuation: AsyncStream<Value>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }
  func add(_ value: Value) { continuation.yield(value) }
  func end() { continuation.finish() }
  /// The next value; waits for it.
  func next() async -> Value? {
    var iterator = stream.makeAsyncIterator()
    return await iterator.next()
  }
}

/// Something that only the loop touches, kept by a test.
final class Kept<Value>: @unchecked Sendable {
  // Unchecked because the tests use what is inside on the loop only.
  var value: Value?
}

/// Does what blocks on a thread of its own: the tests' tasks have as many threads as there are processors, and wait for one another.
func blocking<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
  return await withCheckedContinuation { continuation in
    let box = Work { continuation.resume(returning: body()) }
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { @Sendable box in
        Unmanaged<Work>.fromOpaque(box!).takeRetainedValue().body()
        return nil
      }, Unmanaged.passRetained(box).toOpaque())
    precondition(result == 0, "a thread can be started")
    pthread_detach(thread)
  }
}

private final class Work: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
