import Base
import Glibc
import PageExtension

/// WebKit calls this by name when it has loaded the module.
@_cdecl("webkit_web_process_extension_initialize_with_user_data")
public func initializeExtension(_ webExtension: OpaquePointer, _ userData: OpaquePointer?) {
  // The process's error stream is the host's.
  Log.install(level: .notice) { _, text in
    let line = Array("page extension: \(text)\n".utf8)
    _ = unsafe Glibc.write(2, line, line.count)
  }
  Extension.shared.start(webExtension, userData: userData)
}
