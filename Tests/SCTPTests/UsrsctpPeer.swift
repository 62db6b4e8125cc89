import Base
import CUsrsctp
import Glibc
import Synchronization

/// An end of an association in usrsctp, without its threads: `run` drives its timers in virtual time. usrsctp is one per process, so suites that
/// use it run one test at a time.
final class UsrsctpPeer {
  struct Message: Equatable {
    var stream: UInt16
    var payloadProtocol: UInt32
    var bytes: [UInt8]
    var isUnordered = false
  }

  /// Packets that usrsctp wants to send, by the address that it was given for the peer.
  private static let packets = Mutex<[UInt: [[UInt8]]]>([:])
  private static let initialized: Void = {
    usrsctp_init_nothreads(
      0,
      { address, buffer, length, _, _ in
        let bytes = Array(UnsafeRawBufferPointer(start: buffer, count: length))
        UsrsctpPeer.packets.withLock { $0[UInt(bitPattern: address), default: []].append(bytes) }
        return 0
      }, nil)
    usrsctp_sysctl_set_sctp_ecn_enable(0)
    usrsctp_sysctl_set_sctp_asconf_enable(0)
    usrsctp_sysctl_set_sctp_auth_enable(0)
    usrsctp_sysctl_set_sctp_nrsack_enable(0)
    // Its timers follow our time, but it looks at the machine's clock to see whether a chunk is old enough to be sent again. Short timeouts and
    // many of them keep that from mattering.
    usrsctp_sysctl_set_sctp_rto_initial_default(20)
    usrsctp_sysctl_set_sctp_rto_min_default(5)
    usrsctp_sysctl_set_sctp_rto_max_default(20)
    usrsctp_sysctl_set_sctp_assoc_rtx_max_default(100_000)
    usrsctp_sysctl_set_sctp_path_rtx_max_default(100_000)
    usrsctp_sysctl_set_sctp_init_rtx_max_default(100_000)
  }()
  private static let nextAddress = Mutex<UInt>(0x1000)

  private let socket: OpaquePointer
  private let address: UInt
  private(set) var messages: [Message] = []
  /// Messages of which a part arrived: parts of different streams may mix.
  private var partial: [UInt32: [UInt8]] = [:]
  /// Streams that the other end reset.
  private(set) var resetStreams: [UInt16] = []
  private(set) var isUp = false
  private(set) var isGone = false
  /// What usrsctp's association change events said, in order.
  private(set) var restarts = 0

  init(interleaves: Bool = false) {
    Self.initialized
    address = Self.nextAddress.withLock {
      $0 += 16
      return $0
    }
    usrsctp_register_address(UnsafeMutableRawPointer(bitPattern: address))
    socket = usrsctp_socket(AF_CONN, Int32(SOCK_STREAM.rawValue), Int32(IPPROTO_SCTP), nil, nil, 0, nil)
    usrsctp_set_non_blocking(socket, 1)
    set(SOL_SOCKET, SO_SNDBUF, Int32(4 << 20))
    set(SOL_SOCKET, SO_RCVBUF, Int32(4 << 20))
    set(Int32(IPPROTO_SCTP), SCTP_NODELAY, Int32(1))
    set(Int32(IPPROTO_SCTP), SCTP_RECVRCVINFO, Int32(1))
    set(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
    set(
      Int32(IPPROTO_SCTP), SCTP_ENABLE_STREAM_RESET,
      sctp_assoc_value(assoc_id: 0, assoc_value: UInt32(SCTP_ENABLE_RESET_STREAM_REQ | SCTP_ENABLE_CHANGE_ASSOC_REQ)))
    var initial = sctp_initmsg()
    (initial.sinit_num_ostreams, initial.sinit_max_instreams) = (1_024, 1_024)
    set(Int32(IPPROTO_SCTP), SCTP_INITMSG, initial)
    if interleaves {
      set(Int32(IPPROTO_SCTP), SCTP_FRAGMENT_INTERLEAVE, Int32(2))
      // SCTP_INTERLEAVING_SUPPORTED, which this version's header does not name.
      set(Int32(IPPROTO_SCTP), 0x1206, sctp_assoc_value(assoc_id: 0, assoc_value: 1))
    }
    for type in [SCTP_ASSOC_CHANGE, SCTP_STREAM_RESET_EVENT] {
      var event = sctp_event()
      (event.se_type, event.se_on) = (UInt16(type), 1)
      set(Int32(IPPROTO_SCTP), SCTP_EVENT, event)
    }
    withAddress { usrsctp_bind(socket, $0, $1) }
  }

  deinit {
    usrsctp_close(socket)
    usrsctp_deregister_address(UnsafeMutableRawPointer(bitPattern: address))
    let address = address
    Self.packets.withLock { $0[address] = nil }
  }

  private func set<Value: BitwiseCopyable>(_ level: Int32, _ option: Int32, _ value: Value) {
    var value = value
    let result = usrsctp_setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Value>.size))
    precondition(result == 0, "usrsctp refused option \(option): \(errno)")
  }

  private func withAddress(_ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32) {
    var own = sockaddr_conn()
    own.sconn_family = UInt16(AF_CONN)
    own.sconn_port = UInt16(5_000).bigEndian
    own.sconn_addr = UnsafeMutableRawPointer(bitPattern: address)
    _ = withUnsafeMutablePointer(to: &own) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_conn>.size)) }
    }
  }

  /// Sends INIT.
  func connect() { withAddress { usrsctp_connect(socket, $0, $1) } }

  /// Sends a message. False when usrsctp's buffer is full.
  func send(
    _ bytes: [UInt8], stream: UInt16, payloadProtocol: UInt32, isUnordered: Bool = false, maxRetransmits: UInt32? = nil
  ) -> Bool {
    var parameters = sctp_sendv_spa()
    parameters.sendv_flags = UInt32(SCTP_SEND_SNDINFO_VALID)
    parameters.sendv_sndinfo.snd_sid = stream
    parameters.sendv_sndinfo.snd_ppid = payloadProtocol.bigEndian
    parameters.sendv_sndinfo.snd_flags = UInt16(SCTP_EOR) | (isUnordered ? UInt16(SCTP_UNORDERED) : 0)
    if let maxRetransmits {
      parameters.sendv_flags |= UInt32(SCTP_SEND_PRINFO_VALID)
      parameters.sendv_prinfo.pr_policy = UInt16(SCTP_PR_SCTP_RTX)
      parameters.sendv_prinfo.pr_value = maxRetransmits
    }
    let sent = usrsctp_sendv(
      socket, bytes, bytes.count, nil, 0, &parameters, socklen_t(MemoryLayout<sctp_sendv_spa>.size), UInt32(SCTP_SENDV_SPA), 0)
    return sent == bytes.count
  }

  /// Resets its outgoing side of `stream`.
  func reset(_ stream: UInt16) -> Bool {
    var bytes = [UInt8](repeating: 0, count: MemoryLayout<sctp_reset_streams>.size + 2)
    bytes.withUnsafeMutableBytes {
      $0.storeBytes(of: UInt16(SCTP_STREAM_RESET_OUTGOING), toByteOffset: 4, as: UInt16.self)
      $0.storeBytes(of: 1, toByteOffset: 6, as: UInt16.self)
      $0.storeBytes(of: stream, toByteOffset: 8, as: UInt16.self)
    }
    return usrsctp_setsockopt(socket, Int32(IPPROTO_SCTP), SCTP_RESET_STREAMS, bytes, socklen_t(bytes.count)) == 0
  }

  /// Begins the orderly end.
  func shutdown() { _ = usrsctp_shutdown(socket, Int32(SHUT_WR)) }

  /// Takes a packet from the other end.
  func receive(_ packet: [UInt8]) {
    usrsctp_conninput(UnsafeMutableRawPointer(bitPattern: address), packet, packet.count, 0)
    read()
  }

  /// Lets time pass.
  func advance(milliseconds: UInt32) {
    usrsctp_handle_timers(milliseconds)
    read()
  }

  /// The packets for the other end.
  func takePackets() -> [[UInt8]] {
    let address = address
    return Self.packets.withLock { $0.removeValue(forKey: address) ?? [] }
  }

  private func read() {
    var buffer = [UInt8](repeating: 0, count: 300_000)
    while true {
      var information = sctp_rcvinfo()
      var size = socklen_t(MemoryLayout<sctp_rcvinfo>.size)
      var (type, flags) = (UInt32(0), Int32(0))
      let count = usrsctp_recvv(socket, &buffer, buffer.count, nil, nil, &information, &size, &type, &flags)
      guard count > 0 else { return }
      if flags & Int32(MSG_NOTIFICATION) != 0 {
        notice(Array(buffer[..<count]))
        continue
      }
      let key = UInt32(information.rcv_sid) | UInt32(information.rcv_flags & UInt16(SCTP_UNORDERED)) << 16
      partial[key, default: []] += buffer[..<count]
      guard flags & Int32(MSG_EOR) != 0 else { continue }
      messages.append(
        Message(
          stream: information.rcv_sid, payloadProtocol: UInt32(bigEndian: information.rcv_ppid),
          bytes: partial.removeValue(forKey: key) ?? [],
          isUnordered: information.rcv_flags & UInt16(SCTP_UNORDERED) != 0))
    }
  }

  private func notice(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { raw in
      switch Int32(raw.load(as: UInt16.self)) {
      case SCTP_ASSOC_CHANGE:
        switch Int32(raw.load(fromByteOffset: 8, as: UInt16.self)) {
        case SCTP_COMM_UP: isUp = true
        case SCTP_RESTART: restarts += 1
        case SCTP_COMM_LOST, SCTP_SHUTDOWN_COMP, SCTP_CANT_STR_ASSOC: isGone = true
        default: break
        }
      case SCTP_STREAM_RESET_EVENT:
        let flags = raw.load(as: sctp_stream_reset_event.self).strreset_flags
        guard Int32(flags) & SCTP_STREAM_RESET_INCOMING_SSN != 0 else { return }
        for offset in stride(from: 12, to: bytes.count - 1, by: 2) {
          resetStreams.append(raw.load(fromByteOffset: offset, as: UInt16.self))
        }
      default: break
      }
    }
  }
}
