import COpenSSL
import Glibc

/// The BIO through which OpenSSL reads and writes a `Session`'s datagrams. OpenSSL's own memory BIO would join them.
enum DatagramBIO {
  /// Made once, changed never.
  nonisolated(unsafe) static let method: OpaquePointer = {
    guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagrams") else {
      preconditionFailure("no memory for a BIO method")
    }
    BIO_meth_set_write(method) { bio, bytes, count in
      guard let bytes, count > 0 else { return 0 }
      session(bio).write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
      return count
    }
    BIO_meth_set_read(method) { bio, bytes, count in
      BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
      if let bytes, count > 0, let read = session(bio).nextRecord(UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))) {
        return Int32(read)
      }
      BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
      return -1
    }
    BIO_meth_set_ctrl(method) { bio, command, _, argument in
      switch command {
      case BIO_CTRL_FLUSH: return 1
      case BIO_CTRL_DGRAM_SET_NEXT_TIMEOUT:
        if let argument { session(bio).timerChanged(argument.assumingMemoryBound(to: timeval.self)) }
        return 1
      default: return 0
      }
    }
    return method
  }()

  private static func session(_ bio: OpaquePointer?) -> Session {
    guard let data = BIO_get_data(bio) else { preconditionFailure("Session.init stores itself in its BIO") }
    return Unmanaged<Session>.fromOpaque(data).takeUnretainedValue()
  }
}
