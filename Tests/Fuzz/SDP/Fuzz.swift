import SDP

/// Any bytes as a session description; what is read has to be written in a way that reads the same. A first byte of 0 means H.264
/// parameters instead, an offer's and ours on two lines.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
  let text = String(decoding: UnsafeBufferPointer(start: data, count: size), as: UTF8.self)
  if size > 0, data[0] == 0 {
    let lines = text.dropFirst().split(separator: "\n", omittingEmptySubsequences: false)
    let offered = FormatParameters(String(lines[0]))
    let answer = H264Profile.answer(to: offered, local: lines.count > 1 ? FormatParameters(String(lines[1])) : nil)
    precondition(answer == nil || H264Profile(answer) != nil, "an answer is understood by who made it")
    return 0
  }
  guard let session = try? SessionDescription(parsing: text) else { return 0 }
  let written = session.description
  do {
    let again = try SessionDescription(parsing: written)
    precondition(again.description == written, "a description read back is written the same")
  } catch {
    preconditionFailure("a description that was written is not read: \(error)")
  }
  return 0
}
