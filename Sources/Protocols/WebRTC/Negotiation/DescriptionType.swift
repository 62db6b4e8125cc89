/// What a session description is in the exchange: W3C `RTCSdpType`.
public enum DescriptionType: String, Sendable {
  case offer, pranswer, answer, rollback
}

/// How far the exchange of descriptions is: W3C `RTCSignalingState`.
public enum SignalingState: String, Sendable {
  case stable
  case haveLocalOffer = "have-local-offer"
  case haveRemoteOffer = "have-remote-offer"
  case haveLocalProvisionalAnswer = "have-local-pranswer"
  case haveRemoteProvisionalAnswer = "have-remote-pranswer"
  case closed

  /// The state after a description of `type` is set (RFC 8829 section 3.2); nil when it may not be set now.
  func next(_ type: DescriptionType, isLocal: Bool) -> SignalingState? {
    switch (self, type, isLocal) {
    case (.stable, .offer, true), (.haveLocalOffer, .offer, true): .haveLocalOffer
    case (.stable, .offer, false), (.haveRemoteOffer, .offer, false): .haveRemoteOffer
    case (.haveLocalOffer, .answer, false), (.haveRemoteProvisionalAnswer, .answer, false): .stable
    case (.haveRemoteOffer, .answer, true), (.haveLocalProvisionalAnswer, .answer, true): .stable
    case (.haveLocalOffer, .pranswer, false), (.haveRemoteProvisionalAnswer, .pranswer, false): .haveRemoteProvisionalAnswer
    case (.haveRemoteOffer, .pranswer, true), (.haveLocalProvisionalAnswer, .pranswer, true): .haveLocalProvisionalAnswer
    case (.haveLocalOffer, .rollback, true), (.haveRemoteOffer, .rollback, false): .stable
    default: nil
    }
  }
}
