import Base
import Bytes
import RTP

/// What arrives: which source belongs to which transceiver, and the way from packet to payload.
extension MediaStreams {
  /// So many sources one transceiver may have: a sender that began anew counts as another one.
  private static let sourceLimit = 4

  mutating func applyReceiving(_ transceiver: Transceiver) {
    let isActive = transceiver.currentDirection?.receives == true && !transceiver.isStopping
    guard isActive, let negotiated = transceiver.negotiated else {
      for index in receiving.indices where receiving[index].identifier == transceiver.identifier { receiving[index].isActive = false }
      return
    }
    // A source that the peer declared goes when it declares another one.
    if let source = negotiated.remoteSource {
      removeReceiving {
        $0.identifier == transceiver.identifier
          ? $0.isDeclared && $0.stream.configuration.ssrc != source : $0.stream.configuration.ssrc == source
      }
    }
    for index in receiving.indices where receiving[index].identifier == transceiver.identifier {
      receiving[index].isActive = true
      receiving[index].formats = negotiated.receivePayloadTypes
      receiving[index].extensionMap = negotiated.extensionMap
      configure(&receiving[index].stream.configuration, negotiated)
    }
    // The peer may declare its sources ahead; else they are recognized by what their packets carry.
    guard let source = negotiated.remoteSource else { return }
    if routes[source] == nil { route(source, to: transceiver, negotiated, isDeclared: true) }
    if let retransmissions = negotiated.remoteRetransmissionSource { routeRetransmissions(retransmissions, of: source) }
  }

  private func configure(_ configuration: inout ReceiveStream.Configuration, _ negotiated: NegotiatedMedia) {
    (configuration.codecs, configuration.isNackEnabled, configuration.isPictureLossIndicationEnabled) = ([:], false, false)
    for (number, format) in negotiated.receivePayloadTypes {
      switch format {
      case .media(let codec):
        guard let payload = codec.payloadFormat ?? PayloadFormat(encodingName: codec.name) else { continue }
        configuration.codecs[number] = ReceiveStream.Codec(format: payload, clockRate: codec.clockRate)
        if codec.feedback.contains("nack") { configuration.isNackEnabled = true }
        if codec.feedback.contains("nack pli") { configuration.isPictureLossIndicationEnabled = true }
      case .retransmission(let associated):
        configuration.codecs[number] = ReceiveStream.Codec(format: .rtx, clockRate: 90_000, associatedPayloadType: associated)
      }
    }
  }

  private mutating func route(_ source: UInt32, to transceiver: Transceiver, _ negotiated: NegotiatedMedia, isDeclared: Bool) {
    makeRoom(in: transceiver.identifier)
    var configuration = ReceiveStream.Configuration(
      ssrc: source, localSSRC: controlSource, codecs: [:], isNackEnabled: false, isPictureLossIndicationEnabled: false)
    configure(&configuration, negotiated)
    var stream = ReceiveStream(configuration)
    stream.roundTripTime = roundTripTime
    receiving.append(
      Receiving(
        identifier: transceiver.identifier, kind: transceiver.kind, isDeclared: isDeclared, formats: negotiated.receivePayloadTypes,
        extensionMap: negotiated.extensionMap, stream: stream))
    routes[source] = Route(index: receiving.count - 1, isRetransmission: false)
  }

  /// The source that was silent for longest gives way to a new one.
  private mutating func makeRoom(in identifier: TransceiverIdentifier) {
    let own = receiving.filter { $0.identifier == identifier }
    guard own.count >= MediaStreams.sourceLimit else { return }
    func lastHeard(_ receiver: Receiving) -> Instant { receiver.stream.statistics.lastPacketReceived ?? .zero }
    guard let oldest = own.min(by: { lastHeard($0) < lastHeard($1) })?.stream.configuration.ssrc else { return }
    removeReceiving { $0.stream.configuration.ssrc == oldest }
  }

  mutating func removeReceiving(where isGone: (Receiving) -> Bool) {
    guard receiving.contains(where: isGone) else { return }
    receiving.removeAll(where: isGone)
    routes = [:]
    for (index, receiver) in receiving.enumerated() {
      routes[receiver.stream.configuration.ssrc] = Route(index: index, isRetransmission: false)
      if let source = receiver.stream.configuration.retransmissionSSRC { routes[source] = Route(index: index, isRetransmission: true) }
    }
  }

  private mutating func routeRetransmissions(_ source: UInt32, of primary: UInt32) {
    guard let route = routes[primary], !route.isRetransmission, source != primary else { return }
    // One source takes the place of another: the table stays as large as the list of receivers.
    if let old = receiving[route.index].stream.configuration.retransmissionSSRC { routes[old] = nil }
    if let other = routes[source], !other.isRetransmission { return }
    receiving[route.index].stream.configuration.retransmissionSSRC = source
    routes[source] = Route(index: route.index, isRetransmission: true)
  }

  /// Finds out where a source that was never seen belongs (RFC 8843 section 9.2): by its mid, else by a payload type that only one section has.
  private mutating func recognize(_ header: RTP.Header, _ packet: RawSpan) -> Route? {
    var candidates = transceivers.filter {
      $0.currentDirection?.receives == true && $0.negotiated?.receivePayloadTypes[header.payloadType] != nil
    }
    var namesMid = false
    let named = candidates.firstIndex { candidate in
      guard let map = candidate.negotiated?.extensionMap, let mid = HeaderExtensions(parsing: packet, header: header, map: map).mid else {
        return false
      }
      namesMid = true
      return mid == candidate.mid
    }
    if let named { candidates = [candidates[named]] } else if namesMid { return nil }
    guard candidates.count == 1, let negotiated = candidates[0].negotiated, let format = negotiated.receivePayloadTypes[header.payloadType]
    else { return nil }
    switch format {
    case .media: route(header.ssrc, to: candidates[0], negotiated, isDeclared: false)
    case .retransmission:
      // A repair stream belongs to the newest source of its section.
      guard let primary = receiving.last(where: { $0.identifier == candidates[0].identifier })?.stream.configuration.ssrc else {
        return nil
      }
      routeRetransmissions(header.ssrc, of: primary)
    }
    return routes[header.ssrc]
  }

  /// Takes a decrypted RTP packet; a media packet comes back with its place in the datagram.
  mutating func receive(_ datagram: inout MutableRawSpan, _ range: Range<Int>, now: Instant) -> ReceivedMedia? {
    var packet = datagram._mutatingExtracting(range)
    let header: RTP.Header
    do throws(MalformedPacket) {
      header = try RTP.Header(parsing: packet.bytes)
    } catch {
      counters.count("rtp.malformed")
      return nil
    }
    let route = routes[header.ssrc] ?? recognize(header, packet.bytes)
    let map = route.map { receiving[$0.index].extensionMap } ?? extensionMap
    let extensions = HeaderExtensions(parsing: packet.bytes, header: header, map: map)
    if extensions.isMalformed { counters.count("rtp.malformedExtension") }
    if usesTransportFeedback, let number = extensions.transportSequenceNumber {
      recorder.record(number, now: now)
      feedbackMediaSource = header.ssrc
    }
    guard let route else {
      counters.count("rtp.unknownSource")
      return nil
    }
    guard receiving[route.index].isActive else {
      counters.count("rtp.inactiveReceiver")
      return nil
    }
    guard var format = receiving[route.index].formats[header.payloadType] else {
      counters.count("rtp.unknownPayloadType")
      return nil
    }
    guard let media = receiving[route.index].stream.receive(&packet, header: header, now: now) else { return nil }
    if media.isRetransmission, let original = receiving[route.index].formats[media.header.payloadType] { format = original }
    guard case .media(let codec) = format else {
      counters.count("rtp.unknownPayloadType")
      return nil
    }
    receiving[route.index].payloadType = media.header.payloadType
    if !media.isRetransmission { noteSources(route.index, header, extensions, packet.bytes, now: now) }
    return ReceivedMedia(
      transceiver: receiving[route.index].identifier, codec: codec, header: media.header,
      packet: range.lowerBound + media.range.lowerBound..<range.lowerBound + media.range.upperBound,
      videoOrientation: extensions.videoOrientation)
  }
}
