import Base
import Dispatch
import Net
import Synchronization

/// Gives a box's figures by HTTP at `/metrics`, to whoever asks at the configured address.
///
/// The address may not be there yet when the box starts, or go and come back with its interface: listening is tried again without end.
final class MetricsServer: Sendable {
  private let address: SocketAddress
  private let loop: EventLoop
  private let make: @Sendable () -> String
  private let server = Mutex<HTTPServer?>(nil)
  private let isStopped = Atomic(false)
  /// Gathering figures waits for others, which tasks must not.
  private let queue = DispatchQueue(label: "metrics")

  /// A server that does not listen yet; `text` makes the figures, and may wait.
  init(on address: SocketAddress, loop: EventLoop, text: @escaping @Sendable () -> String) {
    (self.address, self.loop, make) = (address, loop, text)
  }

  /// Begins to listen, now or as soon as it is possible.
  func start() { listen(isFirst: true) }

  /// Ends it.
  func stop() {
    isStopped.store(true, ordering: .relaxed)
    server.withLock { $0?.stop() }
  }

  /// Where it listens; nil: not yet.
  var listeningAddress: SocketAddress? { server.withLock { $0?.address } }

  private func listen(isFirst: Bool) {
    if isStopped.load(ordering: .relaxed) { return }
    do throws(SystemError) {
      let made = try HTTPServer(on: address, maximumBody: 0) { [weak self] in await self?.answer($0) ?? HTTPResponse(503) }
      server.withLock { $0 = made }
      Log.notice("metrics are at \(made.origin)/metrics")
    } catch {
      if isFirst { Log.warning("access.metrics: \(error); it is tried again") }
      loop.run { [weak self, loop] in
        loop.schedule(at: MonotonicClock.now() + .seconds(10)) { self?.listen(isFirst: false) }
      }
    }
  }

  private func answer(_ request: HTTPRequest) async -> HTTPResponse {
    guard request.url.path == "/metrics" else { return HTTPResponse(404) }
    guard request.method == "GET" else { return HTTPResponse(405) }
    let text = await withCheckedContinuation { (continuation: CheckedContinuation<String, Never>) in
      queue.async { [make] in continuation.resume(returning: make()) }
    }
    return HTTPResponse(200, headers: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8"], body: Array(text.utf8))
  }
}
