// Messages that arrive at run with frame document 0, and those of a document, each as one type to switch over.

/// A document came to be: sent by the web process extension, never by a page.
public struct DocumentOpen: ControlMessage {
  /// What the permissions policy leaves to the document.
  public struct Policy: Codable, Sendable, Equatable {
    public var camera: Bool
    public var microphone: Bool

    /// Both answers.
    public init(camera: Bool, microphone: Bool) { (self.camera, self.microphone) = (camera, microphone) }
  }

  public static let type = "document.open"
  /// The document's number among those of its sender, not 0.
  public var document: UInt32
  public var origin: String
  /// The main frame's origin.
  public var topOrigin: String
  /// Origins of the frames around it, the nearest first.
  public var ancestors: [String]?
  public var url: String
  /// W3C secure context.
  public var isSecure: Bool
  public var isMainFrame: Bool
  public var policy: Policy

  /// The message.
  public init(
    document: UInt32, origin: String, topOrigin: String? = nil, url: String, isSecure: Bool = true, isMainFrame: Bool = true,
    policy: Policy = Policy(camera: true, microphone: true)
  ) {
    (self.document, self.origin, self.topOrigin, self.url) = (document, origin, topOrigin ?? origin, url)
    (self.isSecure, self.isMainFrame, self.policy) = (isSecure, isMainFrame, policy)
  }
}

/// A document is gone.
public struct DocumentClose: ControlMessage {
  public static let type = "document.close"
  public var document: UInt32

  /// The message.
  public init(document: UInt32) { self.document = document }
}

/// What a sender says of itself.
public enum SenderMessage: Sendable, Decodable {
  case documentOpen(DocumentOpen)
  case documentClose(DocumentClose)
  case hello(HostHello)
  case loading(PageLoading)
  case committed(PageCommitted)
  case drawn(PageDrawn)
  case finished(PageFinished)
  case title(PageTitle)
  case failed(PageFailed)
  case refused(PageRefused)
  case dialogOpen(DialogOpen)
  case dialogCancel(DialogCancel)
  case log(HostLog)

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Envelope.CodingKeys.self)
    let type = try container.decode(String.self, forKey: .type)
    switch type {
    case DocumentOpen.type: self = .documentOpen(try DocumentOpen(from: decoder))
    case DocumentClose.type: self = .documentClose(try DocumentClose(from: decoder))
    case HostHello.type: self = .hello(try HostHello(from: decoder))
    case PageLoading.type: self = .loading(try PageLoading(from: decoder))
    case PageCommitted.type: self = .committed(try PageCommitted(from: decoder))
    case PageDrawn.type: self = .drawn(try PageDrawn(from: decoder))
    case PageFinished.type: self = .finished(try PageFinished(from: decoder))
    case PageTitle.type: self = .title(try PageTitle(from: decoder))
    case PageFailed.type: self = .failed(try PageFailed(from: decoder))
    case PageRefused.type: self = .refused(try PageRefused(from: decoder))
    case DialogOpen.type: self = .dialogOpen(try DialogOpen(from: decoder))
    case DialogCancel.type: self = .dialogCancel(try DialogCancel(from: decoder))
    case HostLog.type: self = .log(try HostLog(from: decoder))
    default: throw DecodingError.dataCorruptedError(forKey: .type, in: container, debugDescription: "“\(type)” is no message of a sender")
    }
  }
}

/// What the page host is told.
public enum HostCommand: Sendable, Decodable {
  case settings(PageSettings)
  case load(PageLoad)
  case reload
  case dialogAnswer(DialogAnswer)
  case exit

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Envelope.CodingKeys.self)
    let type = try container.decode(String.self, forKey: .type)
    switch type {
    case PageSettings.type: self = .settings(try PageSettings(from: decoder))
    case PageLoad.type: self = .load(try PageLoad(from: decoder))
    case PageReload.type: self = .reload
    case DialogAnswer.type: self = .dialogAnswer(try DialogAnswer(from: decoder))
    case HostExit.type: self = .exit
    default: throw DecodingError.dataCorruptedError(forKey: .type, in: container, debugDescription: "“\(type)” is no command of the host")
    }
  }
}
