import Base
import Net

/// URLs, relative references and header fields. The first line is a base; each further line is resolved against it, and read as a field's value.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
  let lines = UnsafeBufferPointer(start: data, count: size).split(separator: 10, omittingEmptySubsequences: false).map {
    String(decoding: $0, as: UTF8.self)
  }
  let base = (try? HTTPURL(lines[0])) ?? (try! HTTPURL("https://example.org/a/b?c"))
  var headers = HTTPHeaders()
  for line in lines {
    headers.add("Content-Type", line)
    headers["X-\(line)"] = line
    _ = headers.mediaType
    precondition(!headers.fields.contains { $0.name.utf8.contains(10) || $0.value.utf8.contains(13) }, "a field holds a line end")
    guard let url = try? base.resolving(line) else { continue }
    precondition(url.scheme == "http" || url.scheme == "https", "another scheme came through")
    guard let again = try? HTTPURL(url.description) else { fatalError("a URL that was written cannot be read") }
    precondition(again.origin == url.origin, "a URL changed its origin by being written")
    var request = HTTPRequest("POST", base, headers: ["Authorization": "Bearer x"])
    request.body = [1]
    if let next = try? HTTPClient.redirected(request, HTTPResponse(307, headers: ["Location": line])), next.headers["Authorization"] != nil
    {
      precondition(next.url.origin == base.origin, "a token left its origin")
    }
  }
  return 0
}
