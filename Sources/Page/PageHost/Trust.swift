import Base
import BridgeMessages
import CWebKit
import FoundationEssentials

/// Whom the page's connections trust, beyond the system's authorities. WebKit's network process gets it as a GIO module and its environment, so this has
/// to be made before that process starts.
final class Trust {
  /// Where Debian keeps the system's authorities.
  static let systemFile = "/etc/ssl/certs/ca-certificates.crt"
  /// TLS 1.2 and 1.3.
  static let priority = "NORMAL:%COMPAT:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

  /// Where the module and its authorities lie, for as long as this object lives; nil when the system's authorities are all.
  let folder: String?
  /// What this side shows to a server that asks for a certificate.
  let certificate: OpaquePointer?

  /// Why the configured files cannot be used.
  struct Unusable: Error, CustomStringConvertible { let description: String }

  init(_ page: PageSettings, module: String) throws(Unusable) {
    setenv("G_TLS_GNUTLS_PRIORITY", Self.priority, 1)
    certificate = try Self.readCertificate(page)
    guard !page.certificateFiles.isEmpty || !page.pins.isEmpty else {
      folder = nil
      return
    }
    var anchors = Data()
    for file in [Self.systemFile] + page.certificateFiles {
      guard let data = FileManager.default.contents(atPath: file) else { throw Unusable(description: "\(file) cannot be read") }
      if file != Self.systemFile, !data.contains("-----BEGIN CERTIFICATE-----") {
        throw Unusable(description: "\(file) holds no certificate")
      }
      anchors.append(data)
      anchors.append(0x0A)
    }
    let folder = "\(FileManager.default.temporaryDirectory.path)/parlor-page-\(UUID().uuidString)"
    do {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/modules", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try anchors.write(to: URL(fileURLWithPath: "\(folder)/anchors.pem"))
      try FileManager.default.createSymbolicLink(atPath: "\(folder)/modules/libparlor-page-trust.so", withDestinationPath: module)
    } catch {
      throw Unusable(description: "\(folder): \(systemReason(error))")
    }
    self.folder = folder
    // This process has its backend already.
    _ = g_tls_backend_get_default()
    setenv("GIO_EXTRA_MODULES", "\(folder)/modules", 1)
    setenv("GIO_USE_TLS", "parlor", 1)
    setenv("PARLOR_PAGE_ANCHORS", "\(folder)/anchors.pem", 1)
    if !page.pins.isEmpty, let host = URLComponents(string: page.url)?.host {
      setenv("PARLOR_PAGE_PINS", ([host] + page.pins).joined(separator: " "), 1)
    }
  }

  deinit {
    if let folder { try? FileManager.default.removeItem(atPath: folder) }
    if let certificate { g_object_unref(UnsafeMutableRawPointer(certificate)) }
  }

  private static func readCertificate(_ page: PageSettings) throws(Unusable) -> OpaquePointer? {
    guard let file = page.clientCertificate else { return nil }
    var error: UnsafeMutablePointer<GError>?
    guard let certificate = g_tls_certificate_new_from_files(file, page.clientKey ?? file, &error) else {
      defer { g_clear_error(&error) }
      throw Unusable(description: unsafe "\(file): \(error.map { String(cString: $0.pointee.message) } ?? "no certificate")")
    }
    return own_certificate(certificate)
  }
}

extension Data {
  fileprivate func contains(_ text: String) -> Bool { String(decoding: self, as: UTF8.self).contains(text) }
}
