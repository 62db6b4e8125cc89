import Base
import Net

/// Why a direct call could not be signalled. Each has a stable code for `parlor status`, and a text for whoever looks after the box.
public enum SignallingError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What a refusing status says.
  public enum Refusal: String, Sendable {
    case badRequest = "bad-request"
    case unauthorized, forbidden
    case notFound = "not-found"
    case notAllowed = "not-allowed"
    case notAcceptable = "not-acceptable"
    case conflict, gone
    case preconditionFailed = "precondition-failed"
    case tooLarge = "too-large"
    case unsupportedMediaType = "unsupported-media-type"
    case unprocessable
    case preconditionRequired = "precondition-required"
    case serverError = "server-error"
    case unexpected
  }

  /// The URL or the token is not usable.
  case url(String)
  /// There was no answer.
  case transport(HTTPError)
  /// The server redirected in a way that is not followed.
  case redirect(String)
  /// The server refused. `detail` is what its answer says, shortened.
  case refused(Refusal, status: Int, detail: String)
  /// The server has no room now (429 or 503), and may have said when to come back.
  case busy(status: Int, retryAfter: Interval?)
  /// A WHEP server wants to offer itself: answer it with `WHIPClient.answer`.
  case counterOffer(WHIPClient.Answer)
  /// The server agreed, but its answer cannot be used.
  case invalidAnswer(String)
  /// There is no session: it was not begun, or has ended.
  case noSession

  /// The stable code, such as `call.unauthorized`.
  public var code: String {
    switch self {
    case .url: "call.url"
    case .transport(.tls): "call.tls"
    case .transport(let error): "call." + error.code.drop { $0 != "." }.dropFirst()
    case .redirect: "call.redirect"
    case .refused(let refusal, _, _): "call.\(refusal.rawValue)"
    case .busy: "call.busy"
    case .counterOffer: "call.counter-offer"
    case .invalidAnswer: "call.invalid-answer"
    case .noSession: "call.no-session"
    }
  }

  public var description: String {
    switch self {
    case .url(let reason): "the call's address cannot be used: \(reason)"
    case .transport(let error): error.description
    case .redirect(let reason): "the redirection was not followed: \(reason)"
    case .refused(let refusal, let status, let detail):
      // Some servers begin their text with the status.
      SignallingError.text(refusal) + " ("
        + (detail.isEmpty ? "\(status)" : detail.hasPrefix("\(status)") ? detail : "\(status): \(detail)") + ")"
    case .busy(let status, let retryAfter):
      "the server has no room for this call now (\(status))" + (retryAfter.map { "; it asks to wait \(Int($0.seconds)) s" } ?? "")
    case .counterOffer: "the server wants to make the offer itself"
    case .invalidAnswer(let reason): "the server's answer cannot be used: \(reason)"
    case .noSession: "there is no session with the server"
    }
  }

  /// Whether the same request may well succeed later, with nobody changing anything here.
  public var isTransient: Bool {
    switch self {
    case .transport(.url), .url, .redirect, .counterOffer: false
    case .transport, .busy, .noSession, .invalidAnswer: true
    case .refused(let refusal, _, _): [.notFound, .conflict, .gone, .preconditionFailed, .serverError].contains(refusal)
    }
  }

  /// When the server asked to be left alone until, if it did.
  public var retryAfter: Interval? { if case .busy(_, let interval) = self { interval } else { nil } }

  private static func text(_ refusal: Refusal) -> String {
    switch refusal {
    case .badRequest: "the server does not understand the request"
    case .unauthorized: "the server does not accept the token"
    case .forbidden: "the token does not permit this call"
    case .notFound: "the server knows no such call"
    case .notAllowed: "the server does not permit this method: is the URL that of a WHIP or WHEP endpoint?"
    case .notAcceptable: "the server offers nothing that this box takes"
    case .conflict: "the call's state does not permit this now: nobody may be sending, or somebody is already"
    case .gone: "the session has ended"
    case .preconditionFailed: "the session has changed meanwhile"
    case .tooLarge: "the server finds the request too long"
    case .unsupportedMediaType: "the server does not take this type of content"
    case .unprocessable: "the server cannot work with the offer"
    case .preconditionRequired: "the server demands a condition for the change"
    case .serverError: "the server failed"
    case .unexpected: "the server answers in a way that WHIP does not know"
    }
  }

  /// The error that a response other than the expected one stands for.
  init(_ response: HTTPResponse) {
    if response.status == 429 || response.status == 503 {
      let seconds = response.headers["Retry-After"].flatMap { Int64($0) }.map { min(max($0, 0), 86_400) }
      self = .busy(status: response.status, retryAfter: seconds.map { .seconds($0) })
      return
    }
    let refusal: Refusal =
      switch response.status {
      case 400: .badRequest
      case 401: .unauthorized
      case 403: .forbidden
      case 404: .notFound
      case 405, 501: .notAllowed
      case 406: .notAcceptable
      case 409: .conflict
      case 410: .gone
      case 412: .preconditionFailed
      case 413: .tooLarge
      case 415: .unsupportedMediaType
      case 422: .unprocessable
      case 428: .preconditionRequired
      case 500...599: .serverError
      default: .unexpected
      }
    self = .refused(refusal, status: response.status, detail: SignallingError.detail(response))
  }

  /// The beginning of an answer meant for people; nothing of web pages, no control characters.
  private static func detail(_ response: HTTPResponse) -> String {
    guard let type = response.headers.mediaType, type == "text/plain" || type.hasSuffix("json") else { return "" }
    let text = String(decoding: response.body.prefix(200), as: UTF8.self)
    return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? " " : $0 }))
  }
}
