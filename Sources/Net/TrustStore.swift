import COpenSSL
import Glibc

/// A configured file of certificates cannot be used.
public struct TrustStoreError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The file.
  public let file: String
  /// What is wrong with it.
  public let reason: String
  /// The error for `file`.
  public init(file: String, reason: String) { (self.file, self.reason) = (file, reason) }
  public var description: String { "\(file): \(reason)" }
}

/// The certificate authorities that this box believes: the system's, and those of configured files. TLS streams and HTTP use one and the same.
public struct TrustStore: Sendable {
  /// The system's certificate authorities alone.
  public static let system: TrustStore = {
    do { return try TrustStore(files: []) } catch { preconditionFailure("no file, no error: \(error)") }
  }()

  let context: TLSContext

  /// The authorities in `files` (PEM, each with one certificate or more), with the system's or without. Throws for the first file that cannot be used.
  public init(files: [String], includingSystem: Bool = true) throws(TrustStoreError) {
    context = TLSContext()
    // Directories of hashed certificates are read when they are needed: this costs nothing yet.
    if includingSystem { X509_STORE_set_default_paths(context.store) }
    for file in files {
      guard access(file, R_OK) == 0 else { throw TrustStoreError(file: file, reason: SystemError("read").reason) }
      ERR_clear_error()
      guard X509_STORE_load_file(context.store, file) == 1 else {
        ERR_clear_error()
        throw TrustStoreError(file: file, reason: "holds no certificate in PEM form")
      }
    }
  }
}

/// A store of trusted certificates, and the settings of TLS clients that use it.
final class TLSContext: @unchecked Sendable {
  // Unchecked because these are C pointers: both objects are locked and counted by OpenSSL, and are changed only before they are shared.
  let store: OpaquePointer
  let settings: OpaquePointer

  init() {
    guard let store = X509_STORE_new(), let settings = SSL_CTX_new(TLS_client_method()) else { preconditionFailure("out of memory") }
    (self.store, self.settings) = (store, settings)
    SSL_CTX_set1_cert_store(settings, store)
    SSL_CTX_ctrl(settings, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
    SSL_CTX_set_verify(settings, SSL_VERIFY_PEER, nil)
  }

  deinit {
    SSL_CTX_free(settings)
    X509_STORE_free(store)
  }
}
