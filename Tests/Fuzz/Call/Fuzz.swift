import Base
import Call

/// The first byte chooses: `Link` fields, ICE fragments.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
  guard size > 0 else { return 0 }
  let text = String(decoding: UnsafeBufferPointer(start: data + 1, count: size - 1), as: UTF8.self)
  if data[0] & 1 == 0 {
    for link in LinkHeader.parse(text) {
      guard let server = ICEServer(link) else { continue }
      precondition(
        LinkHeader.parse(server.linkHeader.description).compactMap(ICEServer.init) == [server], "a link changed by being written")
    }
  } else if let fragment = try? SDPFragment(parsing: text) {
    let again = try? SDPFragment(parsing: fragment.description)
    precondition(again != nil, "a fragment that was written cannot be read")
    for part in fragment.media { _ = fragment.credentials(of: part) }
  }
  return 0
}
