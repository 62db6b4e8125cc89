import DTLS
import ICE
import RTP
import SDP

extension Negotiation {
  /// An answer to the pending remote offer (RFC 8829 section 5.3).
  mutating func makeAnswer(transport: LocalTransport) throws(PeerConnectionError) -> SessionDescription {
    guard let offer = pendingRemote?.description, pendingRemote?.type == .offer else {
      throw PeerConnectionError(.invalidState, "there is no remote offer to answer")
    }
    var description = emptyDescription()
    description.extmapAllowMixed = offer.extmapAllowMixed
    let bundled = offer.bundledMids
    var accepted: [String] = []
    for (index, theirs) in offer.media.enumerated() {
      let mid = sections[index].mid
      // Without a bundle there is one section at most: all share one transport here.
      let hasTransport = bundled.isEmpty ? accepted.isEmpty : bundled.contains(mid)
      var answer: MediaDescription?
      if hasTransport, !theirs.isRejected {
        let setup = answerSetup(offered: theirs.setup ?? offer.setup, transport: transport)
        if !isAcceptable(theirs, at: index) {
          answer = nil
        } else if theirs.kind == .application {
          answer = dataSection(mid: mid, transport: transport, setup: setup)
          answer?.protocolName = theirs.protocolName
        } else if let transceiver = sections[index].transceiver.flatMap({ self[$0] }) {
          answer = answered(transceiver, to: theirs, transport: transport, setup: setup)
        }
      }
      if answer != nil { accepted.append(mid) }
      var media = answer ?? rejected(kind: theirs.kind, mid: mid)
      if answer == nil {
        media.protocolName = theirs.protocolName
        media.formats = theirs.formats
      }
      if theirs.mid == nil { media.mid = nil }
      description.media.append(media)
    }
    // In the offer's order: the first one is where both sides look for the transport (RFC 8843 section 7.3).
    if !bundled.isEmpty { description.groups = [Group(semantics: "BUNDLE", mids: bundled.filter { accepted.contains($0) })] }
    return description
  }

  /// The DTLS role an answer takes: the one in force, else the opposite of what was offered, and `active` when it is free to choose.
  private func answerSetup(offered: Setup?, transport: LocalTransport) -> Setup {
    switch offered {
    case .active: .passive
    case .passive: .active
    default: transport.role == .server ? .passive : .active
    }
  }

  private mutating func answered(
    _ transceiver: Transceiver, to theirs: MediaDescription, transport: LocalTransport, setup: Setup
  ) -> MediaDescription {
    let common = commonCodecs(transceiver, in: theirs)
    var media = MediaDescription(kind: theirs.kind, protocolName: theirs.protocolName)
    media.mid = transceiver.mid
    media.isRTCPMux = true
    media.isRTCPReducedSize = theirs.isRTCPReducedSize
    addTransport(transport, setup: setup, to: &media)
    let offered = Direction(theirs.direction).reversed
    let direction = Direction(
      sends: transceiver.direction.sends && offered.sends, receives: transceiver.direction.receives && offered.receives)
    media.direction = direction.description
    for codec in common {
      let ours = codecs.first { $0.matches(codec.capability) } ?? codec.capability
      media.add(
        codec.capability, payloadType: codec.payloadType, parameters: answeredParameters(offered: codec.capability, ours: ours),
        feedback: codec.capability.feedback)
      if let resend = codec.retransmissionPayloadType { media.addRetransmission(payloadType: resend, associated: codec.payloadType) }
    }
    for mapping in theirs.headerExtensions {
      guard let kind = HeaderExtension(uri: mapping.uri), extensions[transceiver.kind]?.contains(kind) == true else { continue }
      // Identifiers above 255 are alternatives, to be chosen from below (RFC 8285 section 6): this side needs none.
      guard mapping.identifier <= 255, !media.headerExtensions.contains(where: { $0.uri == mapping.uri }) else { continue }
      media.headerExtensions.append(
        ExtensionMapping(
          identifier: mapping.identifier, direction: mapping.direction.map { Direction($0).reversed.description }, uri: mapping.uri))
    }
    let isSimulcast = direction.sends && addSimulcast(of: transceiver, answering: theirs, to: &media)
    addSource(of: transceiver, sends: direction.sends, isSimulcast: isSimulcast, to: &media)
    return media
  }

  /// For H.264 the answer repeats the profile with a level both sides bear (RFC 6184 section 8.2.2); other codecs say what this side wants.
  private func answeredParameters(offered: CodecCapability, ours: CodecCapability) -> String {
    guard offered.name.lowercased() == "h264" else { return ours.parameters }
    return H264Profile.answer(to: FormatParameters(offered.parameters), local: FormatParameters(ours.parameters))?.description
      ?? offered.parameters
  }

  /// The codecs both sides know, with the peer's payload types: in the order of this side's preferences where it has any, else in the peer's.
  func commonCodecs(_ transceiver: Transceiver, in theirs: MediaDescription) -> [NegotiatedCodec] {
    let wanted = wantedCodecs(transceiver)
    var result: [NegotiatedCodec] = []
    for map in theirs.payloadMaps {
      let parameters = theirs.parameterText(map.payloadType)
      guard
        let ours = wanted.first(where: {
          $0.matches(name: map.encodingName, clockRate: map.clockRate, channelCount: map.channels, parameters: parameters)
        })
      else { continue }
      var capability = ours
      capability.parameters = parameters
      let offered = Set(
        theirs.feedback.filter { $0.payloadType == map.payloadType || $0.payloadType == nil }.map(\.value))
      capability.feedback = ours.feedback.filter { offered.contains($0) }
      let resend =
        theirs.kind != .video
        ? nil
        : theirs.payloadMaps.first {
          $0.encodingName.lowercased() == "rtx"
            && CodecCapability.parameter("apt", in: theirs.parameterText($0.payloadType)) == "\(map.payloadType)"
        }
      result.append(
        NegotiatedCodec(payloadType: map.payloadType, capability: capability, retransmissionPayloadType: resend?.payloadType))
    }
    guard !transceiver.codecPreferences.isEmpty else { return result }
    func rank(_ codec: NegotiatedCodec) -> Int { wanted.firstIndex { $0.matches(codec.capability) } ?? wanted.count }
    return result.enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(\.element)
  }
}

extension CodecCapability {
  func matches(_ other: CodecCapability) -> Bool {
    matches(name: other.name, clockRate: other.clockRate, channelCount: other.channelCount, parameters: other.parameters)
  }
}

extension SessionDescription {
  /// The mids of the first bundle; empty when nothing is bundled.
  var bundledMids: [String] { bundle?.mids ?? [] }
}

extension MediaDescription {
  /// The payload types of the `m=` line that mean something, the static ones of RFC 3551 included, in order of preference.
  var payloadMaps: [RTPMap] {
    formats.compactMap { format in
      guard let number = UInt8(format), number < 128 else { return nil }
      if let map = rtpMaps.first(where: { $0.payloadType == number }) { return map }
      switch number {
      case 0: return RTPMap(payloadType: 0, encodingName: "PCMU", clockRate: 8_000)
      case 8: return RTPMap(payloadType: 8, encodingName: "PCMA", clockRate: 8_000)
      default: return nil
      }
    }
  }

  func parameterText(_ payloadType: UInt8) -> String { formatParameters[payloadType]?.description ?? "" }
}
