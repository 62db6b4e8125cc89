import DTLS
import ICE
import RTP
import SDP

extension Negotiation {
  /// An offer of all that is wanted now (RFC 8829 section 5.2).
  mutating func makeOffer(transport: LocalTransport) -> SessionDescription {
    var description = emptyDescription()
    var unassociated = transceivers.filter { $0.mid == nil && !$0.isStopping }
    var accepted: [String] = []

    for section in sections {
      if section.kind == .application {
        if section.isRejected, !wantsData {
          description.media.append(rejected(kind: .application, mid: section.mid))
        } else {
          description.media.append(dataSection(mid: section.mid, transport: transport))
          accepted.append(section.mid)
        }
      } else if let identifier = section.transceiver, let transceiver = self[identifier], !transceiver.isStopping {
        description.media.append(offered(transceiver, mid: section.mid, transport: transport))
        accepted.append(section.mid)
      } else if section.isRejected, !unassociated.isEmpty {
        // A rejected section is used again for the next transceiver, so that descriptions do not grow for ever.
        let next = unassociated.removeFirst()
        let mid = makeMid(for: next.identifier)
        description.media.append(offered(next, mid: mid, transport: transport))
        accepted.append(mid)
      } else {
        description.media.append(rejected(kind: section.kind, mid: section.mid))
      }
    }
    for transceiver in unassociated {
      let mid = makeMid(for: transceiver.identifier)
      description.media.append(offered(transceiver, mid: mid, transport: transport))
      accepted.append(mid)
    }
    if wantsData, !sections.contains(where: { $0.kind == .application }) {
      if dataMid.map({ mid in sections.contains { $0.mid == mid } }) ?? true { dataMid = makeMid() }
      let mid = dataMid ?? ""
      description.media.append(dataSection(mid: mid, transport: transport))
      accepted.append(mid)
    }
    // Every section carries the transport, so that peers that ignore `bundle-only` do not take a section for rejected.
    if !accepted.isEmpty { description.groups = [Group(semantics: "BUNDLE", mids: accepted)] }
    return description
  }

  /// The tag of a transceiver that has no section yet: every offer gives it the same one, until another section takes it.
  private mutating func makeMid(for identifier: TransceiverIdentifier) -> String {
    if let mid = self[identifier]?.offeredMid, !sections.contains(where: { $0.mid == mid }) { return mid }
    let mid = makeMid()
    self[identifier]?.offeredMid = mid
    return mid
  }

  mutating func makeMid() -> String {
    while true {
      defer { nextMid += 1 }
      let mid = "\(nextMid)"
      if !sections.contains(where: { $0.mid == mid }),
        !transceivers.contains(where: { $0.mid == mid || $0.offeredMid == mid })
      {
        return mid
      }
    }
  }

  mutating func emptyDescription() -> SessionDescription {
    var description = SessionDescription(
      origin: Origin(username: "-", sessionIdentifier: sessionIdentifier, sessionVersion: sessionVersion, address: "127.0.0.1"))
    sessionVersion += 1
    description.extmapAllowMixed = true
    description.iceOptions = ["trickle"]
    description.msidSemantic = "WMS *"
    return description
  }

  func rejected(kind: MediaDescription.Kind, mid: String) -> MediaDescription {
    var media = MediaDescription(
      kind: kind, port: 0, protocolName: kind == .application ? "UDP/DTLS/SCTP" : "UDP/TLS/RTP/SAVPF",
      formats: kind == .application ? ["webrtc-datachannel"] : ["0"])
    media.mid = mid
    media.direction = .inactive
    return media
  }

  func addTransport(_ transport: LocalTransport, setup: Setup, to media: inout MediaDescription) {
    media.port = 9
    media.usernameFragment = transport.parameters.usernameFragment
    media.password = transport.parameters.password
    media.fingerprints = [CertificateFingerprint(algorithm: transport.fingerprint.algorithm, value: hexadecimal(transport.fingerprint))]
    media.setup = setup
  }

  private func hexadecimal(_ fingerprint: DTLS.Fingerprint) -> String {
    String(fingerprint.description.split(separator: " ").last ?? "")
  }

  func dataSection(mid: String, transport: LocalTransport, setup: Setup? = nil) -> MediaDescription {
    var media = rejected(kind: .application, mid: mid)
    media.direction = .sendrecv
    addTransport(transport, setup: setup ?? offeredSetup(transport), to: &media)
    media.sctpPort = 5_000
    media.maxMessageSize = maximumMessageSize
    return media
  }

  /// Later offers keep `actpass` even when a role is in force (RFC 8842 section 5.5), so that a new association could be agreed on.
  private func offeredSetup(_ transport: LocalTransport) -> Setup { .actpass }

  /// The codecs a transceiver offers, in the order wanted.
  func wantedCodecs(_ transceiver: Transceiver) -> [CodecCapability] {
    let known = codecs.filter { $0.kind == transceiver.kind }
    guard !transceiver.codecPreferences.isEmpty else { return known }
    return transceiver.codecPreferences.filter { known.contains($0) }
  }

  private mutating func offered(_ transceiver: Transceiver, mid: String, transport: LocalTransport) -> MediaDescription {
    var media = MediaDescription(kind: transceiver.kind == .audio ? .audio : .video, protocolName: "UDP/TLS/RTP/SAVPF")
    media.mid = mid
    media.direction = transceiver.direction.description
    media.isRTCPMux = true
    media.isRTCPReducedSize = true
    addTransport(transport, setup: offeredSetup(transport), to: &media)
    for codec in wantedCodecs(transceiver) {
      guard let number = payloadTypes.number(for: codec) else { continue }
      media.add(codec, payloadType: number, parameters: codec.parameters, feedback: codec.feedback)
      if transceiver.kind == .video, let resend = payloadTypes.retransmissionNumber(for: number) {
        media.addRetransmission(payloadType: resend, associated: number)
      }
    }
    for kind in extensions[transceiver.kind] ?? [] {
      // Below 15 identifiers fit the one-byte form.
      guard let identifier = extensionNumbers[kind] ?? (1...14).first(where: { !extensionNumbers.values.contains($0) }) else { continue }
      extensionNumbers[kind] = identifier
      media.headerExtensions.append(ExtensionMapping(identifier: UInt16(identifier), uri: kind.uri))
    }
    let isSimulcast = transceiver.direction.sends && addSimulcast(of: transceiver, to: &media)
    addSource(of: transceiver, sends: transceiver.direction.sends, isSimulcast: isSimulcast, to: &media)
    return media
  }

  /// Names the sent track and its sources (RFC 8830, RFC 5576), for peers that do not tell streams apart by their header extensions.
  /// Encodings of a simulcast are told apart by nothing else (RFC 8853 section 5.1).
  func addSource(of transceiver: Transceiver, sends: Bool, isSimulcast: Bool, to media: inout MediaDescription) {
    guard sends else { return }
    for stream in transceiver.sendStreamIdentifiers.isEmpty ? ["-"] : transceiver.sendStreamIdentifiers
    where !media.msids.contains(where: { $0.stream == stream }) {
      media.msids.append(MSID(stream: stream, track: transceiver.sendTrackIdentifier))
    }
    if isSimulcast { return }
    let source = transceiver.sendParameters.encodings.first.map { transceiver.source(of: $0) }
    var sources = [source?.media ?? transceiver.source]
    if media.rtpMaps.contains(where: { $0.encodingName.lowercased() == "rtx" }) {
      sources.append(source?.retransmission ?? transceiver.retransmissionSource)
      media.sourceGroups = [SourceGroup(semantics: "FID", ssrcs: sources)]
    }
    let stream = transceiver.sendStreamIdentifiers.first ?? "-"
    for source in sources {
      media.sources.append(SourceAttribute(ssrc: source, name: "cname", value: canonicalName))
      media.sources.append(SourceAttribute(ssrc: source, name: "msid", value: "\(stream) \(transceiver.sendTrackIdentifier)"))
    }
  }
}

extension MediaDescription {
  mutating func add(_ codec: CodecCapability, payloadType: UInt8, parameters: String, feedback: [String]) {
    formats.append("\(payloadType)")
    rtpMaps.append(
      RTPMap(payloadType: payloadType, encodingName: codec.name, clockRate: codec.clockRate, channels: codec.channelCount))
    if !parameters.isEmpty { formatParameters[payloadType] = FormatParameters(parameters) }
    self.feedback += feedback.map { RTCPFeedback(payloadType: payloadType, value: $0) }
  }

  mutating func addRetransmission(payloadType: UInt8, associated: UInt8) {
    formats.append("\(payloadType)")
    rtpMaps.append(RTPMap(payloadType: payloadType, encodingName: "rtx", clockRate: 90_000))
    formatParameters[payloadType] = FormatParameters("apt=\(associated)")
  }
}
