import Base
import CLinux
import Glibc
import Synchronization

/// A thread that waits for descriptors, timers and work from other threads (epoll). The network thread of a process is one of these; every
/// socket of the calls lives on it. It is a serial executor too, so an actor can live on it.
///
/// Only `start`, `stop`, `run`, `perform`, `isCurrent` and the executor's own calls may come from any thread. All else, and every handler, belongs to the loop's thread.
public final class EventLoop: SerialExecutor, @unchecked Sendable {
  // Unchecked because the compiler cannot see the rule above: `inbox` has a lock, the constants never change, and every method that touches
  // the rest checks that it runs on the loop's thread.

  /// What a descriptor is ready for, or is to be watched for.
  public struct Readiness: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// There is something to read, or the other end closed.
    public static let readable = Readiness(rawValue: UInt32(linux_readable))
    /// There is room to write.
    public static let writable = Readiness(rawValue: UInt32(linux_writable))
    /// An error is pending. Always watched.
    public static let error = Readiness(rawValue: UInt32(linux_error))
    /// Both directions are closed. Always watched.
    public static let hangUp = Readiness(rawValue: UInt32(linux_hangup))
  }

  /// Names one watched descriptor.
  public struct Registration: Sendable, Hashable {
    let slot: UInt32
    let generation: UInt32
  }

  private struct Watch {
    var descriptor: Int32 = -1
    var generation: UInt32 = 0
    var handler: ((Readiness) -> Void)?
  }

  private enum Item {
    case work(@Sendable () -> Void)
    case job(UnownedJob)
  }

  private struct Inbox {
    var items: [Item] = []
    var isSignalled = false
    var isStopping = false
    var thread: pthread_t?
  }

  /// The thread's name, at most 15 bytes of which the kernel keeps.
  public let name: String
  /// Called on the loop before each wait: the place to flush what the last handlers produced and to move deadlines.
  public var beforeWait: (() -> Void)? {
    get { checked { _beforeWait } }
    set { checked { _beforeWait = newValue } }
  }

  private let realtimePriority: Int32?
  private let epoll: Int32
  private let wakeDescriptor: Int32
  private let inbox = Mutex(Inbox())
  private var _beforeWait: (() -> Void)?
  private var timers = TimerQueue()
  private var watches: [Watch] = []
  private var freeWatches: [Int] = []
  private var spareItems: [Item] = []
  /// Memory for receiving, which all sockets of the loop share: one at a time has it.
  var datagrams = DatagramBatch()
  /// Memory for reading streams, shared alike: as they come, and decrypted.
  let streamBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 64)
  let plainBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 64)

  /// A loop that is not yet running. With `realtimePriority` (1 to 99) its thread asks for SCHED_FIFO, and stays with the normal scheduler where that is not permitted.
  public init(name: String, realtimePriority: Int32? = nil) {
    self.name = name
    self.realtimePriority = realtimePriority
    epoll = linux_epoll_create()
    wakeDescriptor = linux_eventfd()
    precondition(epoll >= 0 && wakeDescriptor >= 0, "an event loop needs two descriptors: \(SystemError("epoll").description)")
    precondition(linux_epoll_set(epoll, wakeDescriptor, UInt32(linux_readable), .max, true) == 0, "an eventfd can always be watched")
  }

  deinit {
    streamBuffer.deallocate()
    plainBuffer.deallocate()
    close(epoll)
    close(wakeDescriptor)
  }

  // MARK: From any thread

  /// Starts the thread. A loop is started once.
  public func start() {
    inbox.withLock { inbox in
      precondition(inbox.thread == nil && !inbox.isStopping, "an event loop is started once")
      var thread = pthread_t()
      let context = Unmanaged.passRetained(self).toOpaque()
      let result = pthread_create(
        &thread, nil,
        { @Sendable context in
          Unmanaged<EventLoop>.fromOpaque(context!).takeRetainedValue().main()
          return nil
        }, context)
      precondition(result == 0, "the network thread could not be started: \(SystemError("pthread_create", code: result))")
      inbox.thread = thread
    }
  }

  /// Lets the work handed in so far finish, ends the thread and waits for that. What is still registered then is forgotten.
  public func stop() {
    precondition(!isCurrent, "a loop cannot wait for its own end")
    let thread = inbox.withLock { inbox -> pthread_t? in
      defer { inbox.thread = nil }
      inbox.isStopping = true
      return inbox.thread
    }
    guard let thread else { return }
    signal()
    pthread_join(thread, nil)
  }

  /// Has `work` done on the loop, in the order of the calls. After `stop` it is dropped.
  public func run(_ work: @escaping @Sendable () -> Void) { put(.work(work)) }

  /// Has `body` done on the loop and gives back its result.
  public func perform<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
    if isCurrent { return body() }
    return await withCheckedContinuation { continuation in run { continuation.resume(returning: body()) } }
  }

  /// Whether the caller is on the loop's thread.
  public var isCurrent: Bool { linux_thread_owner() == UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()) }

  public func enqueue(_ job: consuming ExecutorJob) { put(.job(UnownedJob(job))) }
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
  public func checkIsolated() { precondition(isCurrent, "not on the event loop \(name)") }

  private func put(_ item: Item) {
    let wakes = inbox.withLock { inbox in
      inbox.items.append(item)
      defer { inbox.isSignalled = true }
      return !inbox.isSignalled
    }
    if wakes && !isCurrent { signal() }
  }

  private func signal() {
    var one: UInt64 = 1
    _ = write(wakeDescriptor, &one, 8)
  }

  // MARK: On the loop: descriptors

  /// Watches `descriptor` and calls `handler` with what it is ready for, as long as it is (level-triggered). The caller unregisters before it closes the descriptor.
  public func register(
    _ descriptor: Int32, for interest: Readiness, _ handler: @escaping (Readiness) -> Void
  ) throws(SystemError) -> Registration {
    checkIsolated()
    let index = freeWatches.popLast() ?? watches.count
    if index == watches.count { watches.append(Watch()) }
    let registration = Registration(slot: UInt32(index), generation: watches[index].generation)
    guard linux_epoll_set(epoll, descriptor, interest.rawValue, registration.token, true) == 0 else {
      freeWatches.append(index)
      throw SystemError("watch descriptor \(descriptor)")
    }
    watches[index].descriptor = descriptor
    watches[index].handler = handler
    return registration
  }

  /// Watches for `interest` from now on.
  public func update(_ registration: Registration, for interest: Readiness) {
    guard let index = index(of: registration) else { return }
    let result = linux_epoll_set(epoll, watches[index].descriptor, interest.rawValue, registration.token, false)
    precondition(result == 0, "a watched descriptor must stay open until it is unregistered")
  }

  /// Ends the watch. No call of its handler follows, not even for what is already known to be ready.
  public func unregister(_ registration: Registration) {
    guard let index = index(of: registration) else { return }
    linux_epoll_remove(epoll, watches[index].descriptor)
    watches[index].generation &+= 1
    watches[index].handler = nil
    freeWatches.append(index)
  }

  /// How many descriptors are watched now.
  package var watchCount: Int { checked { watches.count - freeWatches.count } }

  private func index(of registration: Registration) -> Int? {
    checkIsolated()
    let index = Int(registration.slot)
    guard watches.indices.contains(index), watches[index].generation == registration.generation, watches[index].handler != nil else {
      return nil
    }
    return index
  }

  // MARK: On the loop: timers

  /// Calls `work` once, at `deadline` or as soon as possible after it.
  @discardableResult
  public func schedule(at deadline: Instant, _ work: @escaping () -> Void) -> TimerToken {
    checked {
      let token = timers.add(repeats: false, work)
      timers.set(token, to: deadline)
      return token
    }
  }

  /// A timer to be set again and again with `set(_:to:)`, which allocates nothing. It is idle until then, and stays until it is cancelled.
  public func makeTimer(_ work: @escaping () -> Void) -> TimerToken { checked { timers.add(repeats: true, work) } }

  /// Sets or moves a timer; nil makes it idle.
  public func set(_ timer: TimerToken, to deadline: Instant?) { checked { timers.set(timer, to: deadline) } }

  /// Removes a timer. It does not fire any more.
  public func cancel(_ timer: TimerToken) { checked { timers.remove(timer) } }

  private func checked<T>(_ body: () -> T) -> T {
    checkIsolated()
    return body()
  }

  // MARK: The thread

  private func main() {
    linux_set_thread_owner(Unmanaged.passUnretained(self).toOpaque())
    linux_set_thread_name(String(name.prefix(15)))
    blockSignals()
    raisePriority()
    var events = [linux_event](repeating: linux_event(), count: 64)
    while true {
      runItems()
      runTimers()
      _beforeWait?()
      if inbox.withLock({ $0.isStopping && $0.items.isEmpty }) { break }
      let count = linux_epoll_wait(epoll, &events, 64, timeToWait())
      guard count >= 0 else {
        precondition(errno == EINTR, "waiting on an open epoll descriptor can only be interrupted")
        continue
      }
      for index in 0..<Int(count) { dispatch(events[index]) }
    }
    // Handlers may hold the loop: let go of them, or neither is ever freed.
    _beforeWait = nil
    watches = []
    timers = TimerQueue()
    linux_set_thread_owner(nil)
  }

  private func runItems() {
    inbox.withLock { inbox in
      swap(&inbox.items, &spareItems)
      inbox.isSignalled = false
    }
    for item in spareItems {
      switch item {
      case .work(let work): work()
      case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
      }
    }
    spareItems.removeAll(keepingCapacity: true)
  }

  private func runTimers() {
    // Those due now, each once: a timer that sets itself into the past must not starve the sockets.
    let now = MonotonicClock.now()
    var rest = timers.count
    while rest > 0, let work = timers.takeDue(now) {
      work()
      rest -= 1
    }
  }

  private func timeToWait() -> Int64 {
    // Work put in by the loop itself does not signal.
    if inbox.withLock({ !$0.items.isEmpty }) { return 0 }
    guard let next = timers.next else { return -1 }
    return max(0, (next - MonotonicClock.now()).nanoseconds)
  }

  private func dispatch(_ event: linux_event) {
    if event.token == .max {
      var count: UInt64 = 0
      _ = read(wakeDescriptor, &count, 8)
      return
    }
    let index = Int(UInt32(truncatingIfNeeded: event.token))
    guard watches[index].generation == UInt32(truncatingIfNeeded: event.token >> 32) else { return }
    watches[index].handler?(Readiness(rawValue: event.events))
  }

  private func blockSignals() {
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
  }

  private func raisePriority() {
    guard let realtimePriority else { return }
    var parameters = sched_param()
    parameters.sched_priority = realtimePriority
    let result = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters)
    if result != 0 { Log.info("thread \(name) runs without real-time priority: \(SystemError("pthread_setschedparam", code: result))") }
  }
}

extension EventLoop.Registration {
  var token: UInt64 { UInt64(generation) << 32 | UInt64(slot) }
}
