import Appliance

/// Feeds a request line, an answer line, or a configuration file to its parser; the first byte chooses.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
  guard size > 0 else { return 0 }
  let input = unsafe Array(UnsafeBufferPointer(start: data, count: size).dropFirst())
  switch unsafe data[0] {
  case UInt8(ascii: "q"):
    if let request = try? ControlRequest(line: input) {
      // What was understood must be understood again.
      guard let again = try? ControlRequest(line: request.line.dropLast()), again == request else {
        fatalError("\(request) is written wrong")
      }
    }
  case UInt8(ascii: "a"): _ = try? ControlResponse(line: input)
  default: _ = try? Configuration(input, file: "parlor.toml")
  }
  return 0
}
