import Base
import Bytes
import CReference
import Glibc
import Net
import RTP
import SRTP

/// The way of a packet of 1,200 bytes.
enum PacketPathBenchmarks {
  static func run(_ settings: Benchmark.Settings) async throws -> [Figure] {
    let loop = EventLoop(name: "bench-net")
    loop.start()
    defer { loop.stop() }
    let runs = settings.runs ?? 21
    let result = await loop.perform {
      Result { [try forward(loop, runs), try originate(loop, runs), try receive(runs)] }.mapError {
        Benchmark.Failure(description: "\($0)")
      }
    }
    return try result.get()
  }

  /// A socket that nobody reads: the kernel drops what it has no room for, for both sides alike.
  private static func sink(_ loop: EventLoop) throws -> (descriptor: Int32, port: UInt16) {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0 }
    }
    guard descriptor >= 0, isBound else { throw Benchmark.Failure(description: "no UDP socket on the loopback") }
    return (descriptor, UInt16(bigEndian: address.sin_port))
  }

  private static func sender(_ port: UInt16, _ reference: ReferenceSRTP) throws -> OpaquePointer {
    guard let sender = reference_sender_new(port, reference.context, PacketSamples.referenceMap) else {
      throw Benchmark.Failure(description: "the reference has no socket")
    }
    return sender
  }

  /// Header and extensions read, protected, into the socket: what a relay does.
  private static func forward(_ loop: EventLoop, _ runs: Int) throws -> Figure {
    let (descriptor, port) = try sink(loop)
    defer { close(descriptor) }
    let reference = try ReferenceSRTP(.aeadAES128GCM)
    let sender = try sender(port, reference)
    defer { reference_sender_free(sender) }
    let socket = try UDPSocket(bindingTo: SocketAddress(.loopback4, 0), on: loop) { _, _, _ in }
    defer { socket.close() }
    var context = try SRTPBenchmarks.context(.aeadAES128GCM, .outbound)
    let samples = PacketSamples()
    let map = PacketSamples.map
    let destination = SocketAddress(.loopback4, port)
    var sequenceNumber: UInt16 = 0
    let comparison = Comparison(
      name: "packet-path", metric: "parse, protect (AES-128-GCM), send", operations: "packets", reference: "C, OpenSSL and sendmmsg",
      atLeast: 0.8)
    return comparison.measure(runs: runs) { rounds in
      let before = socket.packetsSent
      for _ in 0..<rounds {
        for index in 0..<samples.count {
          let source = UnsafeRawBufferPointer(samples.packet(index))
          socket.send(to: destination) { target in
            var packet = target
            packet.copy(source.bytes, at: 0)
            packet.store(uint16: sequenceNumber, at: 2)
            sequenceNumber &+= 1
            guard let header = try? Header(parsing: packet.bytes.extracting(0..<samples.length)) else { return 0 }
            let extensions = HeaderExtensions(parsing: packet.bytes, header: header, map: map)
            guard !extensions.isMalformed else { return 0 }
            return (try? context.protect(&packet, count: samples.length)) ?? 0
          }
        }
        socket.flush()
      }
      return socket.packetsSent - before
    } reference: { rounds in
      reference_sender_forward(sender, samples.reference, rounds)
    }
  }

  /// An encoded picture through a peer connection: cut into packets, kept for retransmission, paced, numbered, protected, into the socket.
  private static func originate(_ loop: EventLoop, _ runs: Int) throws -> Figure {
    let (descriptor, port) = try sink(loop)
    defer { close(descriptor) }
    let reference = try ReferenceSRTP(.aeadAES128GCM)
    let sender = try sender(port, reference)
    defer { reference_sender_free(sender) }
    let socket = try UDPSocket(bindingTo: SocketAddress(.loopback4, 0), on: loop) { _, _, _ in }
    defer { socket.close() }
    var pair = try ConnectedPair.connected(bitrate: 1_000_000_000_000)
    let destination = SocketAddress(.loopback4, port)
    let payload = [UInt8](repeating: 7, count: 1_170)
    let packetsPerPicture = 8
    let picture = PictureSamples.vp8(isKeyFrame: false, count: packetsPerPicture * (payload.count - 4))
    let comparison = Comparison(
      name: "packet-path", metric: "peer connection: packetize, protect, send", operations: "packets",
      reference: "C, OpenSSL and sendmmsg", atLeast: 0.8)
    return comparison.measure(runs: runs) { rounds in
      let before = socket.packetsSent
      for _ in 0..<rounds {
        for _ in 0..<8 {
          pair.originate(picture.span.bytes, now: MonotonicClock.now()) { packet, outgoing in
            socket.send(prefix: RawSpan(), packet, padding: outgoing.paddingCount, to: destination)
          }
        }
        socket.flush()
      }
      return socket.packetsSent - before
    } reference: { rounds in
      reference_sender_originate(sender, payload, payload.count, PacketSamples.mid, rounds * 8 * packetsPerPicture)
    }
  }

  /// A peer connection's way in, without the socket: told apart, unprotected, counted, its place in the stream found.
  private static func receive(_ runs: Int) throws -> Figure {
    var pair = try ConnectedPair.connected(bitrate: 1_000_000_000_000)
    let picture = PictureSamples.vp8(isKeyFrame: false, count: 8 * 1_166)
    let first = PictureSamples.vp8(isKeyFrame: true, count: 8 * 1_166)
    let sound: [UInt8] = [1]
    pair.send(picture: first.span.bytes, isKeyFrame: true, sound: sound.span.bytes, timestamp: 0)
    let store = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 2_048, alignment: 64)
    defer { store.deallocate() }
    func slot(_ index: Int) -> UnsafeMutableRawPointer? { store.baseAddress.map { $0 + index * 2_048 } }
    let (sealing, opening) = (try ReferenceSRTP(.aeadAES128GCM), try ReferenceSRTP(.aeadAES128GCM))
    let samples = PacketSamples()
    var sequenceNumber: UInt16 = 0
    // What arrives has to be made first; that is not measured, so the two are timed here.
    var (ours, theirs, ratios) = (Samples(), Samples(), Samples())
    for run in 0..<runs + 2 {
      var (our, their) = (0.0, 0.0)
      var (count, good) = (0, 0)
      for _ in 0..<40 {
        var lengths: [Int] = []
        for _ in 0..<8 {
          // The pacer lets a few packets leave at a time.
          pair.now += .microseconds(1)
          pair.originate(picture.span.bytes, now: pair.now) { packet, _ in
            packet.withUnsafeBytes { UnsafeMutableRawBufferPointer(start: slot(lengths.count), count: 2_048).copyMemory(from: $0) }
            lengths.append(packet.byteCount)
          }
        }
        let start = threadTime()
        for (index, length) in lengths.enumerated() {
          let bytes = UnsafeMutableRawBufferPointer(start: slot(index), count: length)
          var span = bytes.mutableBytes
          if pair.receive(&span) { good += 1 }
        }
        our += threadTime() - start
        count += lengths.count

        for index in 0..<samples.count {
          let packet = UnsafeMutableRawBufferPointer(start: slot(index), count: 2_048)
          packet.copyMemory(from: UnsafeRawBufferPointer(samples.packet(index)))
          packet.storeBytes(of: sequenceNumber.bigEndian, toByteOffset: 2, as: UInt16.self)
          sequenceNumber &+= 1
          _ = reference_srtp_protect(sealing.context, packet.baseAddress?.assumingMemoryBound(to: UInt8.self), samples.length)
        }
        let middle = threadTime()
        let isGood = reference_receive_from_memory(
          store.baseAddress?.assumingMemoryBound(to: UInt8.self), 2_048, samples.length + 16, samples.count, opening.context,
          PacketSamples.referenceMap)
        their += threadTime() - middle
        precondition(isGood == samples.count, "the reference understands its own packets")
      }
      guard good == count, count > 0 else {
        throw Benchmark.Failure(description: "\(good) of \(count) packets were received, \(pair.discards)")
      }
      if run < 2 { continue }
      let (speed, theirSpeed) = (Double(count) / our, Double(40 * samples.count) / their)
      ours.append(speed)
      theirs.append(theirSpeed)
      ratios.append(speed / theirSpeed)
    }
    return Figure(
      name: "packet-path", metric: "peer connection: unprotect, parse, sort in", value: ours.median, unit: "packets/s",
      reference: .init(name: "C, OpenSSL: unprotect and parse", value: theirs.median), ratio: ratios.median, runs: runs,
      spread: ours.spread)
  }
}
