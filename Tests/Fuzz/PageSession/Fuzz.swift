import BridgeMessages
import Bytes
import Foundation
import PageSession

/// Feeds a control message, a call or a stream of frames to their parsers, or lines of JSON or raw bytes to a running page service; the first byte chooses.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
  guard size > 0 else { return 0 }
  let input = unsafe Array(UnsafeBufferPointer(start: data, count: size).dropFirst())
  switch unsafe data[0] {
  case UInt8(ascii: "d"): decode(DocumentMessage.self, input)
  case UInt8(ascii: "s"): decode(SenderMessage.self, input)
  case UInt8(ascii: "h"): decode(HostCommand.self, input)
  case UInt8(ascii: "c"): decode(CallMessage.self, input)
  case UInt8(ascii: "f"): cut(input)
  case UInt8(ascii: "r"): Live.shared.send(raw: input)
  default: Live.shared.send(lines: input)
  }
  return 0
}

/// What cannot be read says which member is wrong.
private func decode<Message: Decodable>(_ type: Message.Type, _ text: [UInt8]) {
  do {
    _ = try JSONDecoder().decode(type, from: Data(text))
  } catch let error as DecodingError {
    precondition(!MessageError(error).description.isEmpty, "an error says what is wrong")
  } catch {}
}

/// Frames are the same however the stream is cut, and written again they are the same bytes.
private func cut(_ bytes: [UInt8]) {
  func frames(pieces: Int) -> ([BridgeFrame], BridgeFrame.Malformed?) {
    var reader = BridgeFrameReader()
    var result: [BridgeFrame] = []
    var start = 0
    repeat {
      let end = min(start + pieces, bytes.count)
      reader.receive(bytes.span.bytes.extracting(start..<end))
      start = end
      do throws(BridgeFrame.Malformed) {
        while let frame = try reader.next() { result.append(frame) }
      } catch {
        return (result, error)
      }
    } while start < bytes.count
    return (result, nil)
  }
  let (whole, failure) = frames(pieces: max(1, bytes.count))
  let (pieces, other) = frames(pieces: 3)
  precondition(whole == pieces && failure == other, "a stream has one meaning")
  var again: [UInt8] = []
  for frame in whole { frame.append(to: &again) }
  precondition(bytes.starts(with: again), "a frame is written as it was read")
}
