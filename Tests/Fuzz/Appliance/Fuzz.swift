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
      for value in request.arguments.values { pass(value) }
    }
  case UInt8(ascii: "a"):
    if let response = try? ControlResponse(line: input) {
      guard let again = try? ControlResponse(line: response.line.dropLast()), again == response else {
        fatalError("\(response) is written wrong")
      }
    }
  case UInt8(ascii: "l"): load(String(decoding: input, as: UTF8.self))
  default: configure(input)
  }
  return 0
}

/// A value survives being written in both layouts, and its parts are what they are asked for as.
private func pass(_ value: JSON) {
  for isPretty in [false, true] {
    guard let text = try? JSON.text(["": value], isPretty: isPretty), JSON(text: text)?[""] == value else {
      fatalError("\(value) is written wrong")
    }
  }
  precondition((try? JSON(["": value]))?[""] == value, "a value is its own JSON form")
  let kinds = [value.string != nil, value.boolean != nil, value.number != nil]
  precondition(kinds.count { $0 } <= 1, "a value is of one kind")
}

/// A file that is refused says where and why, and its folder does not decide whether it is.
private func configure(_ text: [UInt8]) {
  do throws(ConfigurationError) {
    let configuration = try Configuration(text, file: "parlor.toml")
    precondition(configuration.warnings.allSatisfy { $0.severity == .warning }, "a configuration with errors is none")
    precondition((try? Configuration(text, file: "/etc/parlor.toml"))?.warnings.count == configuration.warnings.count)
    takeSecrets(text, configuration)
  } catch {
    precondition(error.problems.contains { $0.severity == .error && $0.line >= 1 && $0.column >= 1 }, "an error stands somewhere")
    precondition(!error.description.isEmpty, "an error says what is wrong")
  }
}

/// Secrets that are taken out of a configuration leave a text that can be read, and are the same when they are back.
private func takeSecrets(_ bytes: [UInt8], _ configuration: Configuration) {
  guard let text = try? ConfigurationText(bytes, file: "parlor.toml"),
    let shown = try? ConfigurationText(text.withoutSecrets(), file: "parlor.toml"), let filled = try? shown.fillingIn(from: text)
  else {
    // A mark of its own has no secret behind it.
    if String(decoding: bytes, as: UTF8.self).contains(ConfigurationText.mark) { return }
    fatalError("a configuration's secrets are not found again")
  }
  precondition(shown.secrets.isEmpty && shown.files == text.files, "nothing but secrets goes")
  guard let again = try? Configuration(filled.bytes, file: "parlor.toml") else { fatalError("a secret is written wrong") }
  // Columns may be others.
  var (one, other) = (configuration, again)
  (one.warnings, other.warnings) = ([], [])
  precondition(one == other, "secrets are the same when they are back")
}

/// A path may name anything; what is no file says so. Only these paths are tried: a fuzzer has no business in all the others.
private func load(_ name: String) {
  let paths = ["missing": "/nowhere/parlor.toml", "folder": "/", "endless": "/dev/zero", "empty": "/dev/null"]
  guard let path = paths[name] else { return }
  do throws(ConfigurationError) {
    _ = try Configuration.load(path: path)
    precondition(name == "empty", "nothing else is a configuration")
  } catch { precondition(error.problems.count == 1 && name != "empty", "one thing is wrong") }
}
