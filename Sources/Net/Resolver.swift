import Base
import Glibc
import Synchronization

/// Why a name has no address.
public enum ResolverError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The name does not exist, or has no address.
  case notFound(String)
  /// No name server answered.
  case unreachable(String)
  /// No answer came before the deadline.
  case timedOut(String)
  /// The system failed in another way.
  case failed(String, reason: String)

  public var description: String {
    switch self {
    case .notFound(let name): "\(name) is not known"
    case .unreachable(let name): "\(name) could not be looked up: no name server answers"
    case .timedOut(let name): "\(name) could not be looked up in time"
    case .failed(let name, let reason): "\(name) could not be looked up: \(reason)"
    }
  }
}

/// Looks up names without holding the event loop up: through the system on threads of its own, `.local` names through multicast DNS. It keeps nothing.
public final class Resolver: @unchecked Sendable {
  // Unchecked because `multicast` belongs to the loop; it is used there only. All else is constant.

  private let loop: EventLoop
  private let multicast: MDNSSocket?

  /// A resolver for work on `loop`. Without `multicast`, `.local` names go to the system as all others.
  public init(loop: EventLoop, multicast: MDNSSocket? = nil) { (self.loop, self.multicast) = (loop, multicast) }

  /// Looks `name` up and calls `completion` on the loop, once, at the latest when `timeout` has passed. An IP address is its own answer, given at once.
  /// Only on the loop. The order of the addresses is the system's preference (RFC 6724).
  public func resolve(
    _ name: String, timeout: Interval = .seconds(5), completion: @escaping (Result<[IPAddress], ResolverError>) -> Void
  ) {
    loop.checkIsolated()
    if let address = IPAddress(name) { return completion(.success([address])) }
    if let multicast, name.lowercased().hasSuffix(".local") {
      return multicast.resolve(name, timeout: timeout) { addresses in
        completion(addresses.isEmpty ? .failure(.timedOut(name)) : .success(addresses))
      }
    }
    let answer = PendingAnswer(completion)
    answer.timer = loop.schedule(at: MonotonicClock.now() + timeout) { answer.give(.failure(.timedOut(name))) }
    LookupThreads.run(name: name) { [loop] result in
      loop.run {
        if let timer = answer.timer { loop.cancel(timer) }
        answer.give(result)
      }
    }
  }

  /// Looks `name` up, from any task.
  public func addresses(of name: String, timeout: Interval = .seconds(5)) async throws(ResolverError) -> [IPAddress] {
    let result = await withCheckedContinuation { continuation in
      loop.run { self.resolve(name, timeout: timeout) { continuation.resume(returning: $0) } }
    }
    return try result.get()
  }
}

/// An answer that is given once, by whoever comes first.
private final class PendingAnswer: @unchecked Sendable {
  // Unchecked because only the loop's thread touches what is inside.
  var timer: TimerToken?
  private var completion: ((Result<[IPAddress], ResolverError>) -> Void)?

  init(_ completion: @escaping (Result<[IPAddress], ResolverError>) -> Void) { self.completion = completion }

  func give(_ result: Result<[IPAddress], ResolverError>) {
    let completion = completion
    self.completion = nil
    completion?(result)
  }
}

/// Threads for the system's blocking look-up: a few, started when there is something to do and gone when there is not.
private enum LookupThreads {
  private struct Job: Sendable {
    let name: String
    let completion: @Sendable (Result<[IPAddress], ResolverError>) -> Void
  }

  private static let state = Mutex((jobs: [Job](), threads: 0))
  private static let maximumThreads = 8
  /// `EAI_NODATA`, which Glibc's module does not show: the name exists, but has no address.
  private static let noData: Int32 = -5

  static func run(name: String, completion: @escaping @Sendable (Result<[IPAddress], ResolverError>) -> Void) {
    let startsThread = state.withLock { state in
      state.jobs.append(Job(name: name, completion: completion))
      guard state.threads < maximumThreads else { return false }
      state.threads += 1
      return true
    }
    if startsThread && !startThread() {
      // The running threads do it. If there is none, this one must.
      if state.withLock({ state in
        state.threads -= 1
        return state.threads == 0
      }) {
        work(isCounted: false)
      }
    }
  }

  private static func startThread() -> Bool {
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { @Sendable _ in
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
        LookupThreads.work(isCounted: true)
        return nil
      }, nil)
    if result == 0 { pthread_detach(thread) }
    return result == 0
  }

  private static func work(isCounted: Bool) {
    while let job = state.withLock({ state -> Job? in
      if state.jobs.isEmpty {
        if isCounted { state.threads -= 1 }
        return nil
      }
      return state.jobs.removeFirst()
    }) {
      job.completion(lookUp(job.name))
    }
  }

  private static func lookUp(_ name: String) -> Result<[IPAddress], ResolverError> {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(name, nil, &hints, &list)
    defer { if list != nil { freeaddrinfo(list) } }
    switch code {
    case 0: break
    case EAI_NONAME, noData: return .failure(.notFound(name))
    case EAI_AGAIN: return .failure(.unreachable(name))
    case EAI_SYSTEM: return .failure(.failed(name, reason: SystemError("getaddrinfo").reason))
    default: return .failure(.failed(name, reason: String(cString: gai_strerror(code))))
    }
    var addresses: [IPAddress] = []
    var next = list
    while let item = next {
      if let ip = SocketAddress(UnsafeRawPointer(item.pointee.ai_addr))?.ip, !addresses.contains(ip) { addresses.append(ip) }
      next = item.pointee.ai_next
    }
    return addresses.isEmpty ? .failure(.notFound(name)) : .success(addresses)
  }
}
