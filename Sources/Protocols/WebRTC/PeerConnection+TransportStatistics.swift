import Base
import DTLS
import ICE
import SRTP

// Statistics of the transport, its candidates and its certificates.
extension PeerConnection {
  func addTransport(to builder: inout StatisticsReportBuilder) {
    let pairs = transport.ice.pairs
    let selected = pairs.first { $0.isSelected }
    let remote = transport.remoteCertificates.first
    addCertificate("CL", configuration.certificate.der, issuer: nil, to: &builder)
    let chain = transport.remoteCertificates
    for (index, der) in chain.enumerated() {
      let issuer = index + 1 < chain.count ? certificateIdentifier(index + 1) : nil
      addCertificate(certificateIdentifier(index), der, issuer: issuer, to: &builder)
    }
    builder.add(
      "T", "transport",
      [
        "bytesSent": .integer(pairs.reduce(0) { $0 + $1.bytesSent }), "bytesReceived": .integer(pairs.reduce(0) { $0 + $1.bytesReceived }),
        "packetsSent": .integer(pairs.reduce(0) { $0 + $1.packetsSent }),
        "packetsReceived": .integer(pairs.reduce(0) { $0 + $1.packetsReceived }),
        "iceRole": .text(transport.ice.isControlling ? "controlling" : "controlled"),
        "iceState": .text(iceConnectionState.rawValue), "dtlsState": .text(transport.state.rawValue),
        "dtlsRole": .text(transport.role.map { $0 == .client ? "client" : "server" } ?? "unknown"),
        "localCertificateId": "CL", "remoteCertificateId": remote == nil ? nil : .text(certificateIdentifier(0)),
        "selectedCandidatePairChanges": .integer(selectedPairChanges), "ccfbMessagesSent": .integer(0), "ccfbMessagesReceived": .integer(0),
        "iceLocalUsernameFragment": .text(transport.ice.localParameters.usernameFragment),
        "selectedCandidatePairId": selected.map { .text("CP\($0.id)") },
        "srtpCipher": transport.profile.map { .text($0.name) }, "tlsVersion": transport.versionText.map { .text($0) },
        "dtlsCipher": transport.cipher.map { .text($0) },
      ])
    for pair in pairs {
      builder.add(
        "CP\(pair.id)", "candidate-pair",
        [
          "transportId": "T", "localCandidateId": .text(candidateIdentifier(pair.local, "L")),
          "remoteCandidateId": .text(candidateIdentifier(pair.remote, "R")), "state": .text(pair.state.rawValue),
          "nominated": .flag(pair.nominated), "packetsSent": .integer(pair.packetsSent), "bytesSent": .integer(pair.bytesSent),
          "packetsReceived": .integer(pair.packetsReceived), "bytesReceived": .integer(pair.bytesReceived),
          "requestsSent": .integer(pair.requestsSent), "requestsReceived": .integer(pair.requestsReceived),
          "responsesSent": .integer(pair.responsesSent), "responsesReceived": .integer(pair.responsesReceived),
          "consentRequestsSent": .integer(pair.consentRequestsSent), "totalRoundTripTime": .number(pair.totalRoundTripTime.seconds),
          "currentRoundTripTime": pair.currentRoundTripTime.map { .number($0.seconds) },
          "lastPacketSentTimestamp": pair.lastPacketSent.map { .number(milliseconds($0)) },
          "lastPacketReceivedTimestamp": pair.lastPacketReceived.map { .number(milliseconds($0)) },
          "packetsDiscardedOnSend": .integer(0), "bytesDiscardedOnSend": .integer(0),
          "availableOutgoingBitrate": pair.isSelected ? .integer(media.targetBitrate) : nil,
        ])
    }
    for candidate in transport.ice.localCandidates { addCandidate(candidate, "L", "local-candidate", isTold: true, to: &builder) }
    let remoteCandidates = transport.ice.remoteCandidates
    var told: Set<SocketAddress> = []
    if remoteCandidates.contains(where: { $0.kind == .peerReflexive }) {
      for text in (negotiation.remoteDescription?.description.media ?? []).flatMap(\.candidates) {
        if let candidate = try? ICE.Candidate(parsing: text) { told.insert(candidate.address) }
      }
    }
    for candidate in remoteCandidates {
      // What only the peer's checks showed is not for pages to see (W3C statistics section 6.3).
      addCandidate(
        candidate, "R", "remote-candidate", isTold: candidate.kind != .peerReflexive || told.contains(candidate.address), to: &builder)
    }
  }

  private func certificateIdentifier(_ index: Int) -> String { "CR\(index)" }

  private func addCertificate(_ identifier: String, _ der: [UInt8], issuer: String?, to builder: inout StatisticsReportBuilder) {
    let text = Fingerprint(algorithm: HashFunction.sha256.rawValue, bytes: HashFunction.sha256.digest(der)).description
    let parts = text.split(separator: " ")
    builder.add(
      identifier, "certificate",
      [
        "fingerprintAlgorithm": .text(String(parts[0])), "fingerprint": .text(String(parts[1])), "base64Certificate": .text(base64(der)),
        "issuerCertificateId": issuer.map { .text($0) },
      ])
  }

  private func candidateIdentifier(_ candidate: ICE.Candidate, _ side: String) -> String {
    "I\(side)\(candidate.hostName ?? "\(candidate.address)")\(candidate.kind == .host ? "" : "-\(candidate.kind)")\(candidate.transport == .tcp ? "-tcp" : "")"
  }

  private func addCandidate(
    _ candidate: ICE.Candidate, _ side: String, _ type: String, isTold: Bool, to builder: inout StatisticsReportBuilder
  ) {
    let fragment =
      candidate.usernameFragment
      ?? (side == "L" ? transport.ice.localParameters.usernameFragment : transport.ice.remoteParameters?.usernameFragment)
    let kind =
      switch candidate.kind {
      case .host: "host"
      case .serverReflexive: "srflx"
      case .peerReflexive: "prflx"
      case .relayed: "relay"
      }
    builder.add(
      candidateIdentifier(candidate, side), type,
      [
        "transportId": "T", "address": isTold ? .text(candidate.hostName ?? "\(candidate.address.ip)") : .null,
        "port": .integer(Int(candidate.address.port)),
        "protocol": .text(candidate.transport == .udp ? "udp" : "tcp"), "candidateType": .text(kind),
        "priority": .integer(Int(candidate.priority)), "foundation": .text(candidate.foundation),
        "url": candidate.url.map { .text($0) }, "relayProtocol": candidate.relayProtocol.map { .text($0.rawValue) },
        "relatedAddress": candidate.relatedAddress.map { .text("\($0.ip)") },
        "relatedPort": candidate.relatedAddress.map { .integer(Int($0.port)) },
        "usernameFragment": isTold ? fragment.map { .text($0) } : nil,
        "tcpType": candidate.tcpType.map { .text($0.rawValue) },
      ])
  }
}

/// RFC 4648 section 4.
func base64(_ bytes: [UInt8]) -> String {
  let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  var text: [UInt8] = []
  text.reserveCapacity((bytes.count + 2) / 3 * 4)
  for start in stride(from: 0, to: bytes.count, by: 3) {
    var group = UInt32(0)
    for place in start..<start + 3 { group = group << 8 | (place < bytes.count ? UInt32(bytes[place]) : 0) }
    for place in 0..<4 {
      text.append(start + place <= bytes.count ? digits[Int(group >> UInt32(18 - 6 * place) & 63)] : UInt8(ascii: "="))
    }
  }
  return String(decoding: text, as: UTF8.self)
}
