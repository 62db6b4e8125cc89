import Base
import SDP
import Testing

@testable import WebRTC

@Suite struct CandidateTests {
  private static let host = "candidate:1 1 udp 2122260223 192.0.2.9 4000 typ host"

  private func error(_ body: () throws -> Void) -> PeerConnectionError? {
    do { try body() } catch { return error as? PeerConnectionError }
    return nil
  }

  @Test func peersConnectByTricklingAlone() throws {
    var call = Call()
    _ = try call.offerer.addTransceiver(.audio)
    try call.offerer.setLocalDescription(now: call.now)
    try call.answerer.setRemoteDescription(.offer, sdp: "\(call.offerer.localDescription!.description)", now: call.now)
    try call.answerer.setLocalDescription(now: call.now)
    try call.offerer.setRemoteDescription(.answer, sdp: "\(call.answerer.localDescription!.description)", now: call.now)
    #expect(call.offerer.remoteDescription!.description.media[0].candidates.isEmpty)
    call.run(for: .milliseconds(500))
    #expect(call.offerer.connectionState == .connecting)
    for event in call.offererEvents {
      guard case .iceCandidate(let candidate) = event else { continue }
      #expect(candidate == nil || candidate?.sdpMid == call.offerer.transceivers[0].mid)
      try call.answerer.addIceCandidate(candidate, now: call.now)
    }
    call.run(for: .milliseconds(500))
    // The offerer learns the answerer's address from its checks.
    #expect(call.offerer.isConnected && call.answerer.isConnected)
    #expect(call.answerer.remoteDescription!.description.media[0].candidates.count >= 1)
    #expect(call.answerer.remoteDescription!.description.media[0].hasEndOfCandidates)
  }

  @Test func theDescriptionNamesADefaultDestinationAmongItsCandidates() throws {
    var call = Call()
    _ = try call.offerer.addTransceiver(.audio)
    try call.offerer.setLocalDescription(now: call.now)
    call.drain()
    let media = call.offerer.localDescription!.description.media[0]
    #expect(media.port == 5_000 && media.connection?.address == "192.0.2.1" && media.connection?.addressType == "IP4")
    #expect(media.hasEndOfCandidates && media.candidates.contains { $0.contains("192.0.2.1 5000 typ host") })
  }

  @Test func aCandidateBeforeTheDescriptionIsRefused() throws {
    var peer = PeerConnection.make()
    let early = error { try peer.addIceCandidate(IceCandidate(candidate: CandidateTests.host, sdpMid: "0", sdpMLineIndex: 0), now: .zero) }
    #expect(early?.name == .invalidState)
    #expect(error { try peer.addIceCandidate(nil, now: .zero) }?.name == .invalidState)
  }

  @Test func whatIsWrongWithACandidateIsNamed() throws {
    var peer = PeerConnection.make()
    try peer.setRemoteDescription(.offer, sdp: Foreign.description([Foreign.opus()], bundle: ["0"]), now: .zero)
    func add(_ text: String, mid: String? = nil, index: Int? = nil, fragment: String? = nil) -> PeerConnectionError? {
      error {
        try peer.addIceCandidate(IceCandidate(candidate: text, sdpMid: mid, sdpMLineIndex: index, usernameFragment: fragment), now: .zero)
      }
    }
    #expect(add(CandidateTests.host, mid: "7")?.message.contains("mid 7") == true)
    #expect(add(CandidateTests.host, index: 5)?.message.contains("section 5") == true)
    #expect(add(CandidateTests.host, mid: "0", fragment: "nope")?.message.contains("nope") == true)
    #expect(add("candidate:1 1 udp nonsense", mid: "0")?.name == .operation)
    #expect(peer.transport.ice.remoteCandidates.isEmpty)
    #expect(add(CandidateTests.host, mid: "0", fragment: "F7gI") == nil)
    #expect(add("candidate:1 2 udp 2122260222 192.0.2.9 4001 typ host", mid: "0") == nil)
    // One of RTCP's component is of no use.
    #expect(peer.transport.ice.remoteCandidates.map(\.address.port) == [4_000])
  }

  @Test func aHostileDescriptionsCandidatesAreCountedNotBelieved() throws {
    var peer = PeerConnection.make()
    let candidates = "a=candidate:nonsense\na=candidate:1 1 udp 1 999.1.1.1 1 typ host\na=\(CandidateTests.host)"
    try peer.setRemoteDescription(.offer, sdp: Foreign.description([Foreign.opus(lines: candidates)], bundle: ["0"]), now: .zero)
    #expect(peer.transport.ice.remoteCandidates.count == 1)
    #expect(
      peer.discards.values["ice.malformedCandidate"] == 2
        || peer.takeEvents().contains { event in
          if case .candidateNameUnresolved = event { true } else { false }
        })
  }

  @Test func namesAreHandedOutAndTheirAddressesComeBack() throws {
    var call = Call { $0.concealedNames = [Call.offererAddress.ip: "0b7f53b5-1111-4222-8333-444455556666.local"] }
    _ = try call.offerer.addTransceiver(.audio)
    try call.negotiate()
    #expect(call.offerer.localDescription!.description.media[0].candidates.allSatisfy { !$0.contains("192.0.2.1") })
    #expect(call.offerer.localDescription!.description.media[0].port == 9)
    var resolved = false
    for event in call.answererEvents {
      guard case .candidateNameUnresolved(var candidate) = event else { continue }
      #expect(candidate.hostName?.hasSuffix(".local") == true)
      candidate.address = SocketAddress(Call.offererAddress.ip, candidate.address.port)
      call.answerer.addResolvedCandidate(candidate, now: call.now)
      resolved = true
    }
    #expect(resolved)
    call.run(for: .seconds(1))
    #expect(call.offerer.isConnected && call.answerer.isConnected)
  }

  @Test func aLitePeerNeverControls() throws {
    var answerer = PeerConnection.make()
    try answerer.setRemoteDescription(.offer, sdp: Foreign.description([Foreign.opus()], bundle: ["0"], session: "a=ice-lite"), now: .zero)
    #expect(answerer.transport.ice.isControlling)
    var offerer = PeerConnection.make()
    _ = try offerer.addTransceiver(.audio)
    try offerer.setLocalDescription(now: .zero)
    let mid = offerer.transceivers[0].mid!
    let answer = Foreign.description([Foreign.opus(mid: mid)], bundle: [mid], session: "a=ice-lite").replacing("actpass", with: "passive")
    try offerer.setRemoteDescription(.answer, sdp: answer, now: .zero)
    #expect(offerer.transport.ice.isControlling && offerer.transport.ice.remoteParameters?.isLite == true)
    #expect(offerer.transport.role == .client)
  }

  @Test func candidatesStandInTheDescriptionOfTheirSection() throws {
    var peer = PeerConnection.make()
    let other = Foreign.transport.replacing("F7gI", with: "BGKk")
    let sections = [Foreign.opus(mid: "a1"), Foreign.section("audio", mid: "v1", payloadTypes: "0", lines: "", transport: other)]
    try peer.setRemoteDescription(.offer, sdp: Foreign.description(sections), now: .zero)
    func add(_ text: String, _ mid: String?, _ index: Int?, _ fragment: String? = nil) throws {
      try peer.addIceCandidate(IceCandidate(candidate: text, sdpMid: mid, sdpMLineIndex: index, usernameFragment: fragment), now: .zero)
    }
    func media(_ index: Int) -> MediaDescription { peer.remoteDescription!.description.media[index] }
    try add(CandidateTests.host, "v1", 1, "BGKk")
    #expect(media(0).candidates.isEmpty && media(1).candidates == [CandidateTests.host])
    // Another component is noted, and of no use.
    let control = CandidateTests.host.replacing("1 1 udp", with: "1 2 udp")
    try add(control, "a1", 7)
    #expect(media(0).candidates == [control])
    #expect(error { try add(CandidateTests.host, "v1", 1, "F7gI") }?.name == .operation)
    #expect(error { try add("(no) candidate \r\n at all", "a1", 0) }?.name == .operation)
    #expect(error { try add("(no) candidate \r\n at all", nil, nil) }?.name == .type)
    #expect(error { try add("", nil, nil, "none") }?.name == .operation)
    try add("", "a1", nil, "F7gI")
    #expect(media(0).hasEndOfCandidates && !media(1).hasEndOfCandidates)
    try peer.addIceCandidate(nil, now: .zero)
    #expect(media(1).hasEndOfCandidates)
  }

  @Test func theTransportTellsOfItsCandidatesAndPair() throws {
    var call = Call()
    _ = try call.offerer.addTransceiver(.audio)
    #expect(call.offerer.selectedCandidatePair == nil && call.offerer.remoteIceParameters == nil)
    try call.negotiate()
    call.run(for: .seconds(1))
    #expect(call.offerer.selectedCandidatePair?.local.address == Call.offererAddress)
    #expect(call.offerer.selectedCandidatePair?.remote.address == Call.answererAddress)
    #expect(call.offererEvents.contains { if case .selectedCandidatePairChange = $0 { true } else { false } })
    #expect(call.offerer.isIceControlling && !call.answerer.isIceControlling)
    #expect(call.offerer.dtlsRole == .server && call.answerer.dtlsRole == .client)
    #expect(call.offerer.localIceCandidates.contains { $0.address == Call.offererAddress })
    #expect(call.offerer.remoteIceCandidates.contains { $0.address == Call.answererAddress })
    #expect(call.offerer.remoteIceParameters?.usernameFragment == call.answerer.localIceParameters.usernameFragment)
    call.offerer.setRelayOnly(true)
    call.forgetEvents()
    call.offerer.restartIce()
    try call.negotiate()
    #expect(call.offerer.localIceCandidates.isEmpty && call.offerer.iceGatheringState == .complete)
  }
}
