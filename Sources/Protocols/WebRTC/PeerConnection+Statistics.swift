import Base
import DTLS
import ICE
import RTP
import SRTP

/// What sources, encoders, decoders and loudspeakers count of one transceiver, handed in for the report; members under their W3C names.
public struct CodecStatistics: Sendable {
  /// Members for the transceiver's `outbound-rtp` dictionary.
  public var outbound: [String: StatisticValue] = [:]
  /// Members for its `inbound-rtp` dictionary.
  public var inbound: [String: StatisticValue] = [:]
  /// Members for the `media-source` dictionary of the track that it sends.
  public var source: [String: StatisticValue] = [:]

  /// Nothing counted.
  public init() {}
}

/// A report while it is put together.
struct StatisticsReportBuilder {
  private(set) var report: StatisticsReport = [:]
  /// Milliseconds since 1970.
  let timestamp: Double

  /// Adds a dictionary of `members` and `more`, as far as they have a value, and of what codecs counted.
  mutating func add(
    _ identifier: String, _ type: String, _ members: KeyValuePairs<String, StatisticValue?>,
    and more: KeyValuePairs<String, StatisticValue?> = [:], counted: [String: StatisticValue] = [:]
  ) {
    var dictionary = StatisticsDictionary(capacity: members.count + more.count + counted.count + 3)
    dictionary.append("id", .text(identifier))
    dictionary.append("type", .text(type))
    dictionary.append("timestamp", .number(timestamp))
    for (name, value) in members { if let value { dictionary.append(name, value) } }
    for (name, value) in more { if let value { dictionary.append(name, value) } }
    for (name, value) in counted { dictionary[name] = value }
    report[identifier] = dictionary
  }
}

extension PeerConnection {
  /// W3C `getStats()`. `codecs` adds what the codecs of each transceiver counted, `playout` what the loudspeaker did (`media-playout`).
  public func statistics(
    codecs: [TransceiverIdentifier: CodecStatistics] = [:], playout: [String: StatisticValue] = [:], now: Instant
  ) -> StatisticsReport {
    var builder = StatisticsReportBuilder(timestamp: milliseconds(now))
    builder.add(
      "P", "peer-connection",
      ["dataChannelsOpened": .integer(channels.openedCount), "dataChannelsClosed": .integer(channels.closedCount)])
    // There is a transport as soon as a description asks for one.
    let isAskedFor = [negotiation.localDescription, negotiation.remoteDescription].contains { described in
      described?.description.media.contains { !$0.isRejected } ?? false
    }
    if isAskedFor || dtlsTransportState != .new { addTransport(to: &builder) }
    if !playout.isEmpty { builder.add("AP", "media-playout", [:], counted: playout.merging(["kind": "audio"]) { $1 }) }
    for transceiver in negotiation.transceivers where transceiver.hasTrack && !transceiver.isStopping {
      var members = codecs[transceiver.identifier]?.source ?? [:]
      members["kind"] = .text(transceiver.kind.rawValue)
      members["trackIdentifier"] = .text(transceiver.trackIdentifier ?? transceiver.sendTrackIdentifier)
      builder.add(sourceIdentifier(transceiver.identifier), "media-source", [:], counted: members)
    }
    for sender in media.sending { addSending(sender, codecs[sender.identifier]?.outbound ?? [:], to: &builder) }
    for receiver in media.receiving where receiver.stream.statistics.lastPacketReceived != nil {
      var members = codecs[receiver.identifier]?.inbound ?? [:]
      if receiver.kind == .audio, !playout.isEmpty { members["playoutId"] = "AP" }
      addReceiving(receiver, members, to: &builder)
    }
    addChannels(to: &builder)
    return builder.report
  }

  /// An instant as reports tell it: in milliseconds since 1970.
  func milliseconds(_ instant: Instant) -> Double { Double(media.ntpTime(instant).unixNanoseconds) / 1e6 }

  private func sourceIdentifier(_ identifier: TransceiverIdentifier) -> String { "S\(identifier.rawValue)" }

  private func codecIdentifier(_ codec: NegotiatedCodec, _ side: String, _ builder: inout StatisticsReportBuilder) -> String {
    let identifier = "C\(side)T_\(codec.payloadType)"
    builder.add(
      identifier, "codec",
      [
        "payloadType": .integer(Int(codec.payloadType)), "transportId": "T", "mimeType": .text(codec.capability.mimeType),
        "clockRate": .integer(codec.capability.clockRate), "channels": codec.capability.channelCount.map { .integer($0) },
        "sdpFmtpLine": codec.capability.parameters.isEmpty ? nil : .text(codec.capability.parameters),
      ])
    return identifier
  }

  private func addSending(
    _ sender: MediaStreams.Sending, _ codec: [String: StatisticValue], to builder: inout StatisticsReportBuilder
  ) {
    let (counts, remote) = (sender.stream.statistics, sender.stream.remote)
    let source = sender.stream.configuration.ssrc
    let transceiver = negotiation[sender.identifier]
    let codecName = codecIdentifier(sender.codec, "O", &builder)
    let hasReport = remote.packetsReceived > 0 || remote.roundTripTimeMeasurements > 0
    let members: KeyValuePairs<String, StatisticValue?> = [
      "ssrc": .integer(Int(source)), "kind": .text(sender.kind.rawValue), "mediaType": .text(sender.kind.rawValue), "transportId": "T",
      "codecId": .text(codecName), "mid": sender.stream.configuration.mid.map { .text($0) },
      "mediaSourceId": transceiver?.hasTrack == true && transceiver?.isStopping == false ? .text(sourceIdentifier(sender.identifier)) : nil,
      "encodingIndex": .integer(sender.encodingIndex), "rid": sender.stream.configuration.rid.map { .text($0) },
      "rtxSsrc": sender.stream.configuration.retransmissionSSRC.map { .integer(Int($0)) }, "packetsSentWithEct1": .integer(0),
      "active": .flag(sender.isActive), "remoteId": hasReport ? .text("RI\(source)") : nil,
      "packetsSent": .integer(Int(counts.packetsSent)),
      "bytesSent": .integer(Int(counts.bytesSent)), "headerBytesSent": .integer(Int(counts.headerBytesSent)),
      "retransmittedPacketsSent": .integer(Int(counts.retransmittedPacketsSent)),
      "retransmittedBytesSent": .integer(Int(counts.retransmittedBytesSent)), "nackCount": .integer(Int(counts.nackCount)),
      "totalPacketSendDelay": .number(counts.totalPacketSendDelay.seconds),
    ]
    let ofVideo: KeyValuePairs<String, StatisticValue?> = [
      "framesSent": .integer(Int(counts.framesSent)), "pliCount": .integer(Int(counts.pliCount)),
      "firCount": .integer(Int(counts.firCount)), "targetBitrate": .integer(media.targetBitrate),
    ]
    builder.add("O\(source)", "outbound-rtp", members, and: sender.kind == .video ? ofVideo : [:], counted: codec)
    guard hasReport else { return }
    builder.add(
      "RI\(source)", "remote-inbound-rtp",
      [
        "ssrc": .integer(Int(source)), "kind": .text(sender.kind.rawValue), "mediaType": .text(sender.kind.rawValue), "transportId": "T",
        "localId": .text("O\(source)"),
        "codecId": .text(codecName),
        "packetsReceived": .integer(Int(remote.packetsReceived)), "packetsLost": .integer(Int(remote.packetsLost)),
        "jitter": .number(remote.jitter), "fractionLost": .number(remote.fractionLost),
        "roundTripTime": remote.roundTripTime.map { .number($0.seconds) }, "totalRoundTripTime": .number(remote.totalRoundTripTime.seconds),
        "roundTripTimeMeasurements": .integer(Int(remote.roundTripTimeMeasurements)),
      ])
  }

  private func addReceiving(
    _ receiver: MediaStreams.Receiving, _ codec: [String: StatisticValue], to builder: inout StatisticsReportBuilder
  ) {
    let (counts, remote) = (receiver.stream.currentStatistics, receiver.stream.remote)
    let source = receiver.stream.configuration.ssrc
    let transceiver = negotiation[receiver.identifier]
    let codecName = receiver.codec.map { codecIdentifier($0, "I", &builder) }
    let members: KeyValuePairs<String, StatisticValue?> = [
      "ssrc": .integer(Int(source)), "kind": .text(receiver.kind.rawValue), "mediaType": .text(receiver.kind.rawValue), "transportId": "T",
      "remoteId": remote.reportsSent > 0 ? .text("RO\(source)") : nil,
      "codecId": codecName.map { .text($0) },
      "rtxSsrc": receiver.stream.configuration.retransmissionSSRC.map { .integer(Int($0)) },
      "lastPacketReceivedTimestamp": counts.lastPacketReceived.map { .number(milliseconds($0)) },
      "packetsReceivedWithEct1": .integer(0), "packetsReceivedWithCe": .integer(0),
      "mid": transceiver?.mid.map { .text($0) }, "trackIdentifier": transceiver.map { .text($0.receiveTrackIdentifier) },
      "packetsReceived": .integer(Int(counts.packetsReceived)), "bytesReceived": .integer(Int(counts.bytesReceived)),
      "headerBytesReceived": .integer(Int(counts.headerBytesReceived)), "packetsLost": .integer(Int(counts.packetsLost)),
      "jitter": .number(counts.jitter), "retransmittedPacketsReceived": .integer(Int(counts.retransmittedPacketsReceived)),
      "retransmittedBytesReceived": .integer(Int(counts.retransmittedBytesReceived)), "nackCount": .integer(Int(counts.nackCount)),
      "packetsDuplicated": .integer(Int(counts.packetsDuplicated)), "packetsUnrecovered": .integer(Int(counts.packetsUnrecovered)),
    ]
    let ofVideo: KeyValuePairs<String, StatisticValue?> = [
      "pliCount": .integer(Int(counts.pliCount)), "firCount": .integer(Int(counts.firCount)),
    ]
    builder.add("I\(source)", "inbound-rtp", members, and: receiver.kind == .video ? ofVideo : [:], counted: codec)
    guard remote.reportsSent > 0 else { return }
    builder.add(
      "RO\(source)", "remote-outbound-rtp",
      [
        "ssrc": .integer(Int(source)), "kind": .text(receiver.kind.rawValue), "mediaType": .text(receiver.kind.rawValue),
        "transportId": "T", "localId": .text("I\(source)"),
        "codecId": codecName.map { .text($0) },
        // Round trips from this side would take extended reports (RFC 3611), which are not exchanged.
        "totalRoundTripTime": .number(0), "roundTripTimeMeasurements": .integer(0),
        "packetsSent": .integer(Int(remote.packetsSent)), "bytesSent": .integer(Int(remote.bytesSent)),
        "reportsSent": .integer(Int(remote.reportsSent)),
        "remoteTimestamp": remote.remoteTimestamp.map { .number(Double($0.unixNanoseconds) / 1e6) },
      ])
  }

  private func addChannels(to builder: inout StatisticsReportBuilder) {
    for channel in channels.list {
      let counts = channel.channel.flatMap { association?.statistics(of: $0) }
      builder.add(
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
    builder.add(
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
