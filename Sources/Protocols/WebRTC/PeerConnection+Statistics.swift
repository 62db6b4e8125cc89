import Base
import ICE
import RTP
import SRTP

/// What encoders and decoders count of one transceiver, handed in for the report; members under their W3C names.
public struct CodecStatistics: Sendable {
  /// Members for the transceiver's `outbound-rtp` dictionary.
  public var outbound: [String: StatisticValue] = [:]
  /// Members for its `inbound-rtp` dictionary.
  public var inbound: [String: StatisticValue] = [:]

  /// Nothing counted.
  public init() {}
}

extension PeerConnection {
  /// W3C `getStats()`. `codecs` adds what the codecs of each transceiver counted.
  public func statistics(codecs: [TransceiverIdentifier: CodecStatistics] = [:], now: Instant) -> StatisticsReport {
    var report: StatisticsReport = [:]
    let timestamp = StatisticValue.number(Double(media.ntpTime(now).unixNanoseconds) / 1e6)
    func add(_ identifier: String, _ type: String, _ members: [String: StatisticValue?]) {
      var dictionary = members.compactMapValues { $0 }
      dictionary["id"] = .text(identifier)
      dictionary["type"] = .text(type)
      dictionary["timestamp"] = timestamp
      report[identifier] = dictionary
    }

    add(
      "P", "peer-connection",
      [
        "dataChannelsOpened": .integer(channels.openedCount),
        "dataChannelsClosed": .integer(channels.closedCount),
      ])
    addTransport(add)
    for sender in media.sending { addSending(sender, codecs[sender.identifier]?.outbound ?? [:], add) }
    for receiver in media.receiving { addReceiving(receiver, codecs[receiver.identifier]?.inbound ?? [:], add) }
    addChannels(add)
    return report
  }

  private typealias Add = (_ identifier: String, _ type: String, _ members: [String: StatisticValue?]) -> Void

  private func addTransport(_ add: Add) {
    let pairs = transport.ice.pairs
    let selected = pairs.first { $0.isSelected }
    add(
      "T", "transport",
      [
        "bytesSent": .integer(pairs.reduce(0) { $0 + $1.bytesSent }), "bytesReceived": .integer(pairs.reduce(0) { $0 + $1.bytesReceived }),
        "packetsSent": .integer(pairs.reduce(0) { $0 + $1.packetsSent }),
        "packetsReceived": .integer(pairs.reduce(0) { $0 + $1.packetsReceived }),
        "iceRole": .text(transport.ice.isControlling ? "controlling" : "controlled"),
        "iceState": .text(iceConnectionState.rawValue), "dtlsState": .text(transport.state.rawValue),
        "dtlsRole": .text(transport.role.map { $0 == .client ? "client" : "server" } ?? "unknown"),
        "iceLocalUsernameFragment": .text(transport.ice.localParameters.usernameFragment),
        "selectedCandidatePairId": selected.map { .text("CP\($0.id)") },
        "srtpCipher": transport.profile.map { .text($0.name) }, "tlsVersion": transport.versionText.map { .text($0) },
        "dtlsCipher": transport.cipher.map { .text($0) },
      ])
    for pair in pairs {
      add(
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
          "availableOutgoingBitrate": pair.isSelected ? .integer(media.targetBitrate) : nil,
        ])
    }
    for candidate in transport.ice.localCandidates { addCandidate(candidate, "L", "local-candidate", add) }
    for candidate in transport.ice.remoteCandidates { addCandidate(candidate, "R", "remote-candidate", add) }
  }

  private func candidateIdentifier(_ candidate: ICE.Candidate, _ side: String) -> String {
    "I\(side)\(candidate.hostName ?? "\(candidate.address)")\(candidate.kind == .host ? "" : "-\(candidate.kind)")\(candidate.transport == .tcp ? "-tcp" : "")"
  }

  private func addCandidate(_ candidate: ICE.Candidate, _ side: String, _ type: String, _ add: Add) {
    let kind =
      switch candidate.kind {
      case .host: "host"
      case .serverReflexive: "srflx"
      case .peerReflexive: "prflx"
      case .relayed: "relay"
      }
    add(
      candidateIdentifier(candidate, side), type,
      [
        "transportId": "T", "address": .text(candidate.hostName ?? "\(candidate.address.ip)"),
        "port": .integer(Int(candidate.address.port)),
        "protocol": .text(candidate.transport == .udp ? "udp" : "tcp"), "candidateType": .text(kind),
        "priority": .integer(Int(candidate.priority)), "foundation": .text(candidate.foundation),
      ])
  }

  private func codecIdentifier(_ codec: NegotiatedCodec, _ side: String, _ add: Add) -> String {
    let identifier = "C\(side)T_\(codec.payloadType)"
    add(
      identifier, "codec",
      [
        "payloadType": .integer(Int(codec.payloadType)), "transportId": "T", "mimeType": .text(codec.capability.mimeType),
        "clockRate": .integer(codec.capability.clockRate), "channels": codec.capability.channelCount.map { .integer($0) },
        "sdpFmtpLine": codec.capability.parameters.isEmpty ? nil : .text(codec.capability.parameters),
      ])
    return identifier
  }

  private func addSending(_ sender: MediaStreams.Sending, _ codec: [String: StatisticValue], _ add: Add) {
    let (counts, remote) = (sender.stream.statistics, sender.stream.remote)
    let source = sender.stream.configuration.ssrc
    let hasReport = remote.packetsReceived > 0 || remote.roundTripTimeMeasurements > 0
    var members: [String: StatisticValue?] = [
      "ssrc": .integer(Int(source)), "kind": .text(sender.kind.rawValue), "transportId": "T",
      "codecId": .text(codecIdentifier(sender.codec, "O", add)), "mid": sender.stream.configuration.mid.map { .text($0) },
      "active": .flag(sender.isActive), "remoteId": hasReport ? .text("RI\(source)") : nil,
      "packetsSent": .integer(Int(counts.packetsSent)),
      "bytesSent": .integer(Int(counts.bytesSent)), "headerBytesSent": .integer(Int(counts.headerBytesSent)),
      "retransmittedPacketsSent": .integer(Int(counts.retransmittedPacketsSent)),
      "retransmittedBytesSent": .integer(Int(counts.retransmittedBytesSent)), "nackCount": .integer(Int(counts.nackCount)),
      "totalPacketSendDelay": .number(counts.totalPacketSendDelay.seconds),
    ]
    if sender.kind == .video {
      members["framesSent"] = .integer(Int(counts.framesSent))
      members["pliCount"] = .integer(Int(counts.pliCount))
      members["firCount"] = .integer(Int(counts.firCount))
      members["targetBitrate"] = .integer(media.targetBitrate)
    }
    add("O\(source)", "outbound-rtp", members.merging(codec.mapValues { $0 }) { _, new in new })
    guard hasReport else { return }
    add(
      "RI\(source)", "remote-inbound-rtp",
      [
        "ssrc": .integer(Int(source)), "kind": .text(sender.kind.rawValue), "transportId": "T", "localId": .text("O\(source)"),
        "packetsReceived": .integer(Int(remote.packetsReceived)), "packetsLost": .integer(Int(remote.packetsLost)),
        "jitter": .number(remote.jitter), "fractionLost": .number(remote.fractionLost),
        "roundTripTime": remote.roundTripTime.map { .number($0.seconds) }, "totalRoundTripTime": .number(remote.totalRoundTripTime.seconds),
        "roundTripTimeMeasurements": .integer(Int(remote.roundTripTimeMeasurements)),
      ])
  }

  private func addReceiving(_ receiver: MediaStreams.Receiving, _ codec: [String: StatisticValue], _ add: Add) {
    let (counts, remote) = (receiver.stream.currentStatistics, receiver.stream.remote)
    let source = receiver.stream.configuration.ssrc
    let transceiver = negotiation[receiver.identifier]
    var members: [String: StatisticValue?] = [
      "ssrc": .integer(Int(source)), "kind": .text(receiver.kind.rawValue), "transportId": "T",
      "remoteId": remote.reportsSent > 0 ? .text("RO\(source)") : nil,
      "codecId": receiver.codec.map { .text(codecIdentifier($0, "I", add)) },
      "mid": transceiver?.mid.map { .text($0) }, "trackIdentifier": transceiver.map { .text($0.receiveTrackIdentifier) },
      "packetsReceived": .integer(Int(counts.packetsReceived)), "bytesReceived": .integer(Int(counts.bytesReceived)),
      "headerBytesReceived": .integer(Int(counts.headerBytesReceived)), "packetsLost": .integer(Int(counts.packetsLost)),
      "jitter": .number(counts.jitter), "retransmittedPacketsReceived": .integer(Int(counts.retransmittedPacketsReceived)),
      "retransmittedBytesReceived": .integer(Int(counts.retransmittedBytesReceived)), "nackCount": .integer(Int(counts.nackCount)),
      "packetsDuplicated": .integer(Int(counts.packetsDuplicated)), "packetsUnrecovered": .integer(Int(counts.packetsUnrecovered)),
    ]
    if receiver.kind == .video {
      members["pliCount"] = .integer(Int(counts.pliCount))
      members["firCount"] = .integer(Int(counts.firCount))
    }
    add("I\(source)", "inbound-rtp", members.merging(codec.mapValues { $0 }) { _, new in new })
    guard remote.reportsSent > 0 else { return }
    add(
      "RO\(source)", "remote-outbound-rtp",
      [
        "ssrc": .integer(Int(source)), "kind": .text(receiver.kind.rawValue), "transportId": "T", "localId": .text("I\(source)"),
        "packetsSent": .integer(Int(remote.packetsSent)), "bytesSent": .integer(Int(remote.bytesSent)),
        "reportsSent": .integer(Int(remote.reportsSent)),
        "remoteTimestamp": remote.remoteTimestamp.map { .number(Double($0.unixNanoseconds) / 1e6) },
      ])
  }

  private func addChannels(_ add: Add) {
    for channel in channels.list {
      let counts = channel.channel.flatMap { association?.statistics(of: $0) }
      add(
        "D\(channel.identifier.rawValue)", "data-channel",
        [
          "label": .text(channel.options.label), "protocol": .text(channel.options.protocolName), "state": .text(channel.state.rawValue),
          "dataChannelIdentifier": channel.streamIdentifier.map { .integer(Int($0)) },
          "messagesSent": counts.map { .integer($0.messagesSent) }, "bytesSent": counts.map { .integer($0.bytesSent) },
          "messagesReceived": counts.map { .integer($0.messagesReceived) }, "bytesReceived": counts.map { .integer($0.bytesReceived) },
        ])
    }
    guard let association else { return }
    let counts = association.statistics
    add(
      "S", "sctp-transport",
      [
        "transportId": "T", "smoothedRoundTripTime": counts.smoothedRoundTripTime.map { .number($0.seconds) },
        "congestionWindow": .integer(counts.congestionWindow), "receiverWindow": .integer(counts.receiverWindow),
        "mtu": .integer(counts.mtu),
      ])
  }

  /// Ties the monotonic clock to the wall clock, which sender reports and statistics are told in.
  public mutating func setWallClock(unixNanoseconds: Int64, now: Instant) {
    media.setWallClock(unixNanoseconds: unixNanoseconds, now: now)
  }
}
