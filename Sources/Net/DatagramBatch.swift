import Base
import CLinux
import Glibc

/// Memory for a batch of datagrams, so that one system call moves many and none allocates. Owned by one thread.
struct DatagramBatch: ~Copyable {
  /// How many datagrams a batch holds.
  static let capacity = 64
  /// The largest datagram: more than any path that a call takes lets through.
  static let datagramSize = 2048

  private let memory: UnsafeMutableRawPointer
  private let datagrams: UnsafeMutablePointer<linux_datagram>
  /// How many datagrams wait to be sent.
  private(set) var count = 0

  init() {
    memory = .allocate(byteCount: Self.capacity * Self.datagramSize, alignment: 64)
    datagrams = .allocate(capacity: Self.capacity)
    datagrams.initialize(repeating: linux_datagram(), count: Self.capacity)
    for index in 0..<Self.capacity {
      datagrams[index].piece_count = 1
      datagrams[index].pieces.0.iov_base = memory + index * Self.datagramSize
      datagrams[index].pieces.0.iov_len = Self.datagramSize
    }
  }

  deinit {
    datagrams.deallocate()
    memory.deallocate()
  }

  /// Receives what is there, at most a batch. Returns how many came, or -1 with `errno`.
  mutating func receive(_ descriptor: Int32) -> Int { Int(linux_receive_batch(descriptor, datagrams, Int32(Self.capacity))) }

  /// The bytes of the received datagram `index`, empty when it did not fit; where it came from; how long ago.
  func received(_ index: Int) -> (bytes: UnsafeMutableRawBufferPointer, from: SocketAddress?, age: Interval) {
    let datagram = datagrams + index
    return (
      UnsafeMutableRawBufferPointer(start: memory + index * Self.datagramSize, count: Int(datagram.pointee.length)),
      SocketAddress(UnsafeRawPointer(datagram)), .nanoseconds(datagram.pointee.age)
    )
  }

  /// The memory of the next datagram to be sent; nil when the batch is full.
  func nextSlot() -> UnsafeMutableRawBufferPointer? {
    guard count < Self.capacity else { return nil }
    return UnsafeMutableRawBufferPointer(start: memory + count * Self.datagramSize, count: Self.datagramSize)
  }

  /// Adds what was written into the next slot to the batch.
  mutating func append(count length: Int, to destination: SocketAddress) {
    datagrams[count].pieces.0.iov_base = memory + count * Self.datagramSize
    datagrams[count].pieces.0.iov_len = length
    datagrams[count].address_length = destination.write(to: &datagrams[count].address)
    count += 1
  }

  /// What came of sending a batch: datagrams handed to the kernel, those refused by error code, and whether the kernel's buffer is full with datagrams left.
  mutating func send(_ descriptor: Int32, failed: (Int32) -> Void) -> (sent: Int, isBlocked: Bool) {
    var (start, sent) = (0, 0)
    while start < count {
      let taken = Int(linux_send_batch(descriptor, datagrams + start, Int32(count - start)))
      if taken > 0 {
        start += taken
        sent += taken
        continue
      }
      let code = errno
      if code == EINTR { continue }
      if code == EAGAIN || code == EWOULDBLOCK || code == ENOBUFS {
        keep(from: start)
        return (sent, true)
      }
      failed(code)  // the error is that of the first datagram: pass over it
      start += 1
    }
    count = 0
    return (sent, false)
  }

  /// Moves the datagrams from `start` on to the front, with their memory.
  private mutating func keep(from start: Int) {
    for index in start..<count where start > 0 {
      let (target, source) = (index - start, datagrams[index])
      datagrams[target] = source
      datagrams[target].pieces.0.iov_base = memory + target * Self.datagramSize
      (memory + target * Self.datagramSize).copyMemory(from: source.pieces.0.iov_base, byteCount: source.pieces.0.iov_len)
    }
    count -= start
  }
}
