import Base
import CCurl
import COpenSSL
import Glibc
import Synchronization

/// The thread on which libcurl moves all requests of a client.
final class HTTPTransfers: @unchecked Sendable {
  // Unchecked because `running` and the multi handle belong to the thread; others come in by `inbox`, which has a lock, and by `curl_multi_wakeup`, which may be
  // called from anywhere while the handle lives: it is freed in `deinit`, when nobody holds this object.

  private struct Inbox {
    var new: [HTTPTransfer] = []
    var cancelled: [HTTPTransfer] = []
    var isClosed = false
  }

  private let multi: UnsafeMutableRawPointer
  private let trust: TLSContext
  private let userAgent: String
  private let proxy: HTTPProxy?
  private let inbox = Mutex(Inbox())
  private var running: [UnsafeMutableRawPointer: HTTPTransfer] = [:]

  private static let isReady: Bool = curl_global_start() == CURLE_OK

  init(trust: TrustStore, userAgent: String, proxy: HTTPProxy?) {
    guard HTTPTransfers.isReady, let multi = curl_multi_init() else { preconditionFailure("libcurl has no memory") }
    self.multi = multi
    self.trust = trust.context
    self.userAgent = userAgent
    self.proxy = proxy
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { @Sendable context in
        Unmanaged<HTTPTransfers>.fromOpaque(context!).takeRetainedValue().main()
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
    precondition(result == 0, "the HTTP thread could not be started: \(SystemError("pthread_create", code: result))")
    pthread_detach(thread)
  }

  deinit { curl_multi_cleanup(multi) }

  func perform(_ request: HTTPRequest, _ options: HTTPClient.Options) async throws(HTTPError) -> HTTPResponse {
    let transfer = HTTPTransfer(request, options)
    let result: Result<HTTPResponse, HTTPError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isTaken = inbox.withLock { inbox in
          guard !inbox.isClosed, !transfer.isCancelled else { return false }
          transfer.continuation = continuation
          inbox.new.append(transfer)
          return true
        }
        if isTaken { curl_multi_wakeup(multi) } else { continuation.resume(returning: .failure(.cancelled)) }
      }
    } onCancel: {
      // This may come before the transfer was handed over, or after its end.
      inbox.withLock { inbox in
        if transfer.continuation != nil { inbox.cancelled.append(transfer) }
        transfer.isCancelled = true
      }
      curl_multi_wakeup(multi)
    }
    return try result.get()
  }

  func close() {
    inbox.withLock { $0.isClosed = true }
    curl_multi_wakeup(multi)
  }

  private func main() {
    blockSignals()
    while true {
      let (new, cancelled, isClosed) = inbox.withLock { inbox in
        defer { (inbox.new, inbox.cancelled) = ([], []) }
        return (inbox.new, inbox.cancelled, inbox.isClosed)
      }
      new.forEach(begin)
      for transfer in cancelled + (isClosed ? Array(running.values) : []) { end(transfer, .failure(.cancelled)) }
      if isClosed { break }
      var count: Int32 = 0
      curl_multi_perform(multi, &count)
      while let message = curl_multi_info_read(multi, &count) {
        guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle, let transfer = running[easy] else { continue }
        end(transfer, transfer.outcome(easy, message.pointee.data.result))
      }
      curl_multi_poll(multi, nil, 0, 60_000, nil)
    }
  }

  /// Signals are for the main thread.
  private func blockSignals() {
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
  }

  private func begin(_ transfer: HTTPTransfer) {
    let easy = transfer.prepare(trust: trust, userAgent: userAgent, proxy: proxy)
    running[easy] = transfer
    curl_multi_add_handle(multi, easy)
  }

  private func end(_ transfer: HTTPTransfer, _ result: Result<HTTPResponse, HTTPError>) {
    if let easy = transfer.easy {
      curl_multi_remove_handle(multi, easy)
      running[easy] = nil
    }
    transfer.finish(result)
  }
}

/// One request on its way. Made by the task that asks, then the transfer thread's own.
final class HTTPTransfer: @unchecked Sendable {
  // Unchecked because it is handed over once, through a lock, and used by one thread at a time.

  /// Set when it is handed over, and whether its task was cancelled: both under the lock of `HTTPTransfers`.
  var continuation: CheckedContinuation<Result<HTTPResponse, HTTPError>, Never>?
  var isCancelled = false
  private(set) var easy: UnsafeMutableRawPointer?
  private var isOver = false
  private let request: HTTPRequest
  private let options: HTTPClient.Options
  private var response = HTTPResponse(0)
  private var headerSize = 0
  private var isTooLarge = false
  private var list: UnsafeMutablePointer<curl_slist>?
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  init(_ request: HTTPRequest, _ options: HTTPClient.Options) {
    self.request = request
    self.options = options
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit { errorText.deallocate() }

  func prepare(trust: TLSContext, userAgent: String, proxy: HTTPProxy?) -> UnsafeMutableRawPointer {
    guard let easy = curl_easy_init() else { preconditionFailure("libcurl has no memory") }
    self.easy = easy
    let context = Unmanaged.passUnretained(self).toOpaque()
    let milliseconds = max(1, Int(options.timeout.milliseconds))
    _ = curl_set_text(easy, CURLOPT_URL, request.url.description)
    _ = curl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")
    _ = curl_set_text(easy, CURLOPT_USERAGENT, userAgent)
    _ = curl_set_number(easy, CURLOPT_NOSIGNAL, 1)
    _ = curl_set_number(easy, CURLOPT_TIMEOUT_MS, milliseconds)
    _ = curl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
    if request.url.isLoopback {
      _ = curl_set_text(easy, CURLOPT_PROXY, "")
    } else if let proxy {
      _ = curl_set_text(easy, CURLOPT_PROXY, proxy.url)
      _ = curl_set_text(easy, CURLOPT_NOPROXY, proxy.exceptions.joined(separator: ","))
      if let username = proxy.username {
        _ = curl_set_number(easy, CURLOPT_PROXYAUTH, curl_password_schemes)
        _ = curl_set_text(easy, CURLOPT_PROXYUSERNAME, username)
        _ = curl_set_text(easy, CURLOPT_PROXYPASSWORD, proxy.password ?? "")
      }
    }
    // The store replaces libcurl's own: loading that takes longer than the rest of a request to a near server.
    _ = curl_set_text(easy, CURLOPT_CAINFO, nil)
    _ = curl_set_text(easy, CURLOPT_CAPATH, nil)
    _ = curl_set_number(easy, CURLOPT_CERTINFO, 1)
    _ = curl_set_pointer(easy, CURLOPT_SSL_CTX_DATA, UnsafeMutableRawPointer(trust.store))
    _ = curl_set_tls_setup(easy) { _, settings, store in
      SSL_CTX_set1_cert_store(OpaquePointer(settings), OpaquePointer(store))
      return CURLE_OK
    }
    if options.receive != nil {
      // Long content may take hours, but not stand still.
      _ = curl_set_number(easy, CURLOPT_LOW_SPEED_LIMIT, 1)
      _ = curl_set_number(easy, CURLOPT_LOW_SPEED_TIME, 60)
    }
    prepareBody(easy)
    _ = curl_set_pointer(easy, CURLOPT_WRITEDATA, context)
    _ = curl_set_writer(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
      Unmanaged<HTTPTransfer>.fromOpaque(context!).takeUnretainedValue().received(UnsafeRawBufferPointer(start: bytes, count: size * count))
    }
    _ = curl_set_pointer(easy, CURLOPT_HEADERDATA, context)
    _ = curl_set_writer(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
      Unmanaged<HTTPTransfer>.fromOpaque(context!).takeUnretainedValue().receivedHeader(
        UnsafeRawBufferPointer(start: bytes, count: size * count))
    }
    return easy
  }

  private func prepareBody(_ easy: UnsafeMutableRawPointer) {
    switch request.method {
    case "GET" where request.body.isEmpty: break
    case "HEAD": _ = curl_set_number(easy, CURLOPT_NOBODY, 1)
    default:
      _ = curl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method)
      if !request.body.isEmpty || request.method == "POST" {
        _ = curl_set_number(easy, CURLOPT_POSTFIELDSIZE, request.body.count)
        var body = request.body.isEmpty ? [0] : request.body
        _ = curl_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, &body)
      }
    }
    for field in request.headers.fields {
      list = curl_slist_append(list, field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
    }
    // Otherwise libcurl adds a type of its own, and waits for a go-ahead with long content.
    if request.headers["Content-Type"] == nil { list = curl_slist_append(list, "Content-Type:") }
    list = curl_slist_append(list, "Expect:")
    _ = curl_set_list(easy, CURLOPT_HTTPHEADER, list)
  }

  private func received(_ bytes: UnsafeRawBufferPointer) -> Int {
    var status = 0
    if let receive = options.receive, let easy, curl_get_number(easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK, status == 200 {
      return receive(Array(bytes), response.headers["Content-Length"].flatMap { Int($0) }) ? bytes.count : 0
    }
    guard response.body.count + bytes.count <= options.maximumBody else {
      isTooLarge = true
      return 0
    }
    response.body.append(contentsOf: bytes)
    return bytes.count
  }

  private func receivedHeader(_ bytes: UnsafeRawBufferPointer) -> Int {
    headerSize += bytes.count
    guard headerSize <= 256 << 10 else {
      isTooLarge = true
      return 0
    }
    if bytes.starts(with: "HTTP/".utf8) {
      response.headers = HTTPHeaders()  // of an interim answer (100) or of the proxy
    } else if let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
      let value = bytes[(colon + 1)...].filter { $0 != 13 && $0 != 10 }
      response.headers.add(String(decoding: bytes[..<colon], as: UTF8.self).trimmed, String(decoding: value, as: UTF8.self).trimmed)
    }
    return bytes.count
  }

  /// What `result` means for the one who asked.
  func outcome(_ easy: UnsafeMutableRawPointer, _ result: CURLcode) -> Result<HTTPResponse, HTTPError> {
    var status = 0
    _ = curl_get_number(easy, CURLINFO_RESPONSE_CODE, &status)
    if result == CURLE_OK {
      response.status = status
      response.url = request.url
      return .success(response)
    }
    let text = String(cString: errorText)
    let reason = text.isEmpty ? String(cString: curl_easy_strerror(result)) : text
    switch result {
    case _ where isTooLarge: return .failure(.tooLarge(limit: options.maximumBody))
    case CURLE_COULDNT_RESOLVE_HOST: return .failure(.resolution(host: request.url.host))
    case CURLE_COULDNT_CONNECT:
      var code = 0
      _ = curl_get_number(easy, CURLINFO_OS_ERRNO, &code)
      return .failure(
        code == Int(ECONNREFUSED) ? .refused(host: request.url.host, port: request.url.port) : .unreachable(reason: reason))
    case CURLE_OPERATION_TIMEDOUT: return .failure(.timedOut(host: request.url.host))
    case CURLE_PEER_FAILED_VERIFICATION: return .failure(.tls(verificationError(easy)))
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE:
      return .failure(.tls(.failed(reason: reason)))
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_BAD_CONTENT_ENCODING:
      return .failure(.invalid(reason: reason))
    default: return .failure(.unreachable(reason: reason))
    }
  }

  private func verificationError(_ easy: UnsafeMutableRawPointer) -> TLSError {
    var code = 0
    _ = curl_get_number(easy, CURLINFO_SSL_VERIFYRESULT, &code)
    // libcurl's own check of the name ends in an unspecified error, after the chain was found good.
    guard code == Int(X509_V_OK) || code == Int(X509_V_ERR_UNSPECIFIED) else { return TLSError(verificationResult: code) }
    // It has listed the certificate's fields: "X509v3 Subject Alternative Name:DNS:a, IP Address:b".
    var names: [String] = []
    var chain: UnsafeMutablePointer<curl_certinfo>?
    if curl_get_certificates(easy, &chain) == CURLE_OK, let chain, chain.pointee.num_of_certs > 0 {
      var item = chain.pointee.certinfo?[0]
      while let field = item {
        let text = String(cString: field.pointee.data)
        let mark = "X509v3 Subject Alternative Name:"
        if text.hasPrefix(mark) {
          names = text.dropFirst(mark.count).split(separator: ",").map { entry in
            String(entry).trimmed.split(separator: ":", maxSplits: 1).last.map(String.init) ?? ""
          }
        }
        item = field.pointee.next
      }
    }
    return .nameMismatch(expected: request.url.host, names: names)
  }

  func finish(_ result: Result<HTTPResponse, HTTPError>) {
    guard !isOver else { return }
    isOver = true
    if let easy { curl_easy_cleanup(easy) }
    if let list { curl_slist_free_all(list) }
    (easy, list) = (nil, nil)
    continuation?.resume(returning: result)
  }
}
