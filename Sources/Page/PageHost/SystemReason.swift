import FoundationEssentials
import Glibc

/// Why the system refused something with a file, in its own words. What a file manager throws names the paths and codes of all that went on, and no reason.
func systemReason(_ error: any Error) -> String {
  guard let system = (error as? CocoaError)?.userInfo["NSUnderlyingError"] as? POSIXError else { return "\(error)" }
  return unsafe String(cString: strerror(system.code.rawValue))
}
