import Base
import Testing

@testable import DTLS

@Suite struct EndpointTests {
  @Test func connectsAndBothSidesHoldTheSameKeys() throws {
    var link = try makeLink()
    #expect(link.client.state == .new)
    link.start()
    #expect(link.client.state == .connecting)
    link.run()
    #expect(link.client.state == .connected)
    #expect(link.server.state == .connected)
    let keys = try #require(link.clientEvents.keys)
    #expect(link.serverEvents.keys == keys)
    #expect(keys.profile == 0x0007)
    #expect(link.client.srtpProfile == 0x0007)
    #expect(keys.clientKey != keys.serverKey)
    #expect(link.client.tlsVersion == "FEFD")
    #expect(link.client.cipher == "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256")
    #expect(link.client.remoteCertificates == [Identity.server.der])
    #expect(link.server.remoteCertificates == [Identity.client.der])
    #expect(link.client.counters.values.isEmpty)
    // Two round trips of 20 ms: nobody waited for a timer.
    #expect(link.now == .zero + .milliseconds(40))
    #expect(link.client.deadline == nil)
    #expect(link.server.deadline == nil)
  }

  @Test(
    arguments: [
      ([0x0001], [0x0007, 0x0001], 0x0001, 16, 14), ([0x0001, 0x0008], [0x0008, 0x0001], 0x0008, 32, 12),
      ([0x0008, 0x0007], [0x0007, 0x0008], 0x0007, 16, 12),
    ] as [([UInt16], [UInt16], UInt16, Int, Int)])
  func theServersPreferredProfileIsUsed(_ client: [UInt16], _ server: [UInt16], _ profile: UInt16, _ keyCount: Int, _ saltCount: Int) throws
  {
    var link = try makeLink(clientProfiles: client, serverProfiles: server)
    link.start()
    link.run()
    let keys = try #require(link.clientEvents.keys)
    #expect(keys.profile == profile)
    #expect(keys.clientKey.count == keyCount && keys.serverKey.count == keyCount)
    #expect(keys.clientSalt.count == saltCount && keys.serverSalt.count == saltCount)
  }

  @Test func connectsWithoutKeysWhenOneSideOffersNoProfile() throws {
    var link = try makeLink(serverProfiles: [])
    link.start()
    link.run()
    #expect(link.clientEvents.isConnected && link.serverEvents.isConnected)
    #expect(link.clientEvents.keys == nil && link.serverEvents.keys == nil)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func connectsOverALinkThatLosesAThird(_ seed: UInt64) throws {
    var link = try makeLink(seed: seed)
    link.loss = 0.3
    link.duplication = 0.1
    link.jitter = .milliseconds(30)
    link.start()
    link.run(until: .zero + .milliseconds(15_000))
    #expect(link.client.state == .connected)
    #expect(link.server.state == .connected)
    #expect(link.clientEvents.keys == link.serverEvents.keys)
  }

  @Test func noDatagramOfTheHandshakeExceedsTheMTU() throws {
    // An RSA certificate of 2048 bits does not fit in 300 bytes, so it travels in fragments.
    let rsa = try Certificate.generate(keyType: .rsa2048)
    var link = try makeLink(mtu: 300, client: rsa, server: rsa)
    link.start()
    link.run()
    #expect(link.client.state == .connected && link.server.state == .connected)
    #expect(link.sent.map(\.bytes.count).max()! <= 300)
    #expect(link.sent.count > 6)
  }

  @Test func retransmitsAtOnceFiftyMillisecondsThenDoublesByTheGivenClockAlone() throws {
    // Guards the undocumented way OpenSSL's timer is driven: its own clock is the wall clock, which hardly moves during this test.
    var link = try makeLink()
    link.loss = 1
    link.client.start(now: .zero)
    link.drain()
    var waits: [Int64] = []
    while let deadline = link.client.deadline {
      let before = link.sent.count
      link.client.handleTimeout(now: deadline - .nanoseconds(1))
      link.drain()
      #expect(link.sent.count == before, "nothing may be sent before the deadline")
      waits.append((deadline - link.now).nanoseconds / 1_000_000)
      link.now = deadline
      link.client.handleTimeout(now: deadline)
      link.drain()
      #expect(link.sent.count == before + (link.client.state == .failed ? 0 : 1))
    }
    #expect(waits == [50, 100, 200, 400, 800, 1600, 2000, 2000, 2000, 2000, 2000, 2000, 2000])
    #expect(link.client.state == .failed)
    #expect(link.clientEvents.failure == .timedOut)
    #expect(link.client.counters["dtls.retransmission"] == 13)
  }

  @Test func eachFlightStartsAgainAtFiftyMilliseconds() throws {
    var link = try makeLink()
    link.loss = 1
    link.start()
    link.run(until: .zero + .milliseconds(400))  // 50 + 100 + 200 have passed.
    link.loss = 0
    link.run(until: .zero + .milliseconds(760))  // The next repetition, at 750, reached the server.
    let deadline = link.server.deadline
    let answered = try #require(deadline)
    #expect(answered - link.now <= .milliseconds(50))
    link.run()
    #expect(link.client.state == .connected && link.server.state == .connected)
  }

  @Test func theServersLastFlightIsRepeatedWhenItWasLost() throws {
    var link = try makeLink()
    link.start()
    while link.server.state != .connected, link.step(until: .zero + .milliseconds(1_000)) {}
    // All that flies now is the server's last flight; the client hears nothing and asks again.
    link.dropAll()
    #expect(link.client.state == .connecting)
    link.run()
    #expect(link.client.state == .connected)
    #expect(link.client.counters["dtls.retransmission"] == 1)
  }

  @Test func aWrongCertificateFailsAndTheErrorNamesBothFingerprints() throws {
    let other = try Certificate.generate()
    var link = Link(
      client: try Endpoint(role: .client, certificate: Identity.client, remoteFingerprints: [other.fingerprint()]),
      server: try Endpoint(role: .server, certificate: Identity.server, remoteFingerprints: [Identity.client.fingerprint()]))
    link.start()
    link.run()
    let error = try #require(link.clientEvents.failure)
    #expect(error == .fingerprintMismatch(expected: [other.fingerprint()], actual: Identity.server.fingerprint()))
    #expect(error.description.contains(other.fingerprint().description))
    #expect(error.description.contains(Identity.server.fingerprint().description))
    #expect(link.client.state == .failed)
    #expect(link.client.remoteCertificates == [Identity.server.der])
    // The other side learns why.
    #expect(link.serverEvents.failure == .alert(.badCertificate))
    #expect(link.serverEvents.failure?.description.contains("bad_certificate") == true)
    #expect(!link.clientEvents.isConnected && !link.serverEvents.isConnected)
  }

  @Test func aServerRefusesAWrongClientToo() throws {
    let other = try Certificate.generate()
    var link = Link(
      client: try Endpoint(role: .client, certificate: Identity.client, remoteFingerprints: [Identity.server.fingerprint()]),
      server: try Endpoint(role: .server, certificate: Identity.server, remoteFingerprints: [other.fingerprint()]))
    link.start()
    link.run()
    #expect(link.serverEvents.failure == .fingerprintMismatch(expected: [other.fingerprint()], actual: Identity.client.fingerprint()))
    #expect(link.clientEvents.failure == .alert(.badCertificate))
  }

  @Test(arguments: HashFunction.allCases) func acceptsFingerprintsOfEachFunction(_ hash: HashFunction) throws {
    var link = try makeLink(hash: hash)
    link.start()
    link.run()
    #expect(link.client.state == .connected && link.server.state == .connected)
  }

  @Test func oneOfSeveralFingerprintsIsEnoughButTheStrongestFunctionDecides() throws {
    let other = try Certificate.generate()
    func connects(_ fingerprints: [Fingerprint]) throws -> Bool {
      var link = Link(
        client: try Endpoint(role: .client, certificate: Identity.client, remoteFingerprints: fingerprints),
        server: try Endpoint(role: .server, certificate: Identity.server, remoteFingerprints: [Identity.client.fingerprint()]))
      link.start()
      link.run()
      return link.client.state == .connected
    }
    let sha1 = Fingerprint(algorithm: "sha-1", bytes: [UInt8](repeating: 1, count: 20))
    #expect(try connects([other.fingerprint(), Identity.server.fingerprint()]))
    #expect(try connects([sha1, Identity.server.fingerprint()]))
    #expect(try !connects([Identity.server.fingerprint(), other.fingerprint(.sha512)]))
  }

  @Test func onlySHA1OrNothingIsRefused() {
    let sha1 = Fingerprint(algorithm: "sha-1", bytes: [UInt8](repeating: 1, count: 20))
    #expect(throws: DTLSError.noUsableFingerprint(algorithms: ["sha-1"])) {
      _ = try Endpoint(role: .client, certificate: Identity.client, remoteFingerprints: [sha1])
    }
    #expect(throws: DTLSError.noUsableFingerprint(algorithms: [])) {
      _ = try Endpoint(role: .client, certificate: Identity.client, remoteFingerprints: [])
    }
    #expect(throws: DTLSError.unsupportedProfile(2)) {
      _ = try Endpoint(role: .client, certificate: Identity.client, remoteFingerprints: [Identity.server.fingerprint()], srtpProfiles: [2])
    }
    #expect(throws: DTLSError.invalidMTU(100)) {
      _ = try Endpoint(role: .client, certificate: Identity.client, remoteFingerprints: [Identity.server.fingerprint()], mtu: 100)
    }
  }

  @Test func applicationDataArrivesInItsBoundaries() throws {
    var link = try makeLink()
    link.start()
    let early: [UInt8] = [1]
    #expect(throws: DTLSError.notConnected) { try link.client.send(early.span.bytes) }
    link.run()
    let messages: [[UInt8]] = [[1, 2, 3], [UInt8](repeating: 7, count: 1_150), [9]]
    for message in messages {
      try link.client.send(message.span.bytes)
      try link.server.send(message.span.bytes)
    }
    link.drain()
    link.run()
    #expect(link.serverEvents.messages == messages)
    #expect(link.clientEvents.messages == messages)
    let huge = [UInt8](repeating: 0, count: 16_385)
    #expect(throws: DTLSError.messageTooLarge(count: 16_385, limit: 16_384)) { try link.client.send(huge.span.bytes) }
    #expect(link.client.state == .connected)
  }

  @Test func applicationDataThatOvertakesTheEndOfTheHandshakeIsNotLost() throws {
    var link = try makeLink()
    link.start()
    while link.server.state != .connected, link.step(until: .zero + .milliseconds(1_000)) {}
    // The server is connected first and may send; its data overtakes its own Finished.
    let held = link.takeAll()
    let message: [UInt8] = [4, 5, 6]
    try link.server.send(message.span.bytes)
    link.drain()
    link.run(until: link.now + .milliseconds(10))
    #expect(link.client.state == .connecting)
    link.deliver(held)
    link.run()
    #expect(link.client.state == .connected)
    #expect(link.clientEvents.messages == [message])
  }

  @Test func replayedForgedAndMalformedRecordsAreCountedAndDropped() throws {
    var link = try makeLink()
    link.start()
    link.run()
    let message: [UInt8] = [1, 2, 3, 4]
    try link.client.send(message.span.bytes)
    let sealed = link.client.pollTransmit()
    let record = try #require(sealed)
    var forged = record
    forged[forged.count - 1] ^= 1
    var plain: [UInt8] = [23, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 1, 2]
    let garbage: [UInt8] = [20, 1, 2, 3]
    link.server.receive(forged.span.bytes, now: link.now)
    link.server.receive(record.span.bytes, now: link.now)
    link.server.receive(record.span.bytes, now: link.now)
    link.server.receive(garbage.span.bytes, now: link.now)
    link.server.receive(plain.span.bytes, now: link.now)
    plain += record  // A good record after a bad one is read, and it is a replay.
    link.server.receive(plain.span.bytes, now: link.now)
    link.drain()
    #expect(link.serverEvents.messages == [message])
    #expect(link.server.counters["dtls.discarded"] == 3)
    #expect(link.server.counters["dtls.malformed"] == 3)
    #expect(link.server.state == .connected)
    try link.client.send(message.span.bytes)
    link.drain()
    link.run()
    #expect(link.serverEvents.messages == [message, message])
  }

  @Test func plainRecordsAreDroppedOnceConnected() throws {
    var link = try makeLink()
    link.start()
    link.run()
    // A fatal alert that anyone can forge, and the client's first flight once more.
    let alert: [UInt8] = [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 2, 40]
    let hello = link.sent[0].bytes
    for endpoint in [true, false] {
      for bytes in [alert, hello] {
        if endpoint { link.server.receive(bytes.span.bytes, now: link.now) } else { link.client.receive(bytes.span.bytes, now: link.now) }
      }
    }
    link.drain()
    #expect(link.client.state == .connected && link.server.state == .connected)
    #expect(link.client.counters["dtls.discarded"] == 2 && link.server.counters["dtls.discarded"] == 2)
  }

  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func noiseDuringTheHandshakeDoesNotPreventIt(_ seed: UInt64) throws {
    var link = try makeLink(seed: seed)
    var random = RandomSource(seed: seed)
    link.start()
    repeat {
      let noise = random.bytes(Int.random(in: 0...60, using: &random))
      link.client.receive(noise.span.bytes, now: link.now)
      link.server.receive(noise.span.bytes, now: link.now)
    } while link.step(until: .zero + .milliseconds(10_000))
    #expect(link.client.state == .connected && link.server.state == .connected)
  }

  @Test func closingTellsThePeer() throws {
    var link = try makeLink()
    link.start()
    link.run()
    link.client.close()
    #expect(link.client.state == .closed)
    link.drain()
    link.run()
    #expect(link.server.state == .closed)
    #expect(link.clientEvents.last == .closed && link.serverEvents.last == .closed)
    let message: [UInt8] = [1]
    #expect(throws: DTLSError.notConnected) { try link.server.send(message.span.bytes) }
    link.server.receive(message.span.bytes, now: link.now)
    #expect(link.server.counters["dtls.discarded"] >= 1)
  }

  @Test func closingBeforeTheHandshakeEndsIsQuiet() throws {
    var link = try makeLink()
    link.client.start(now: .zero)
    link.client.close()
    link.client.close()
    link.drain()
    #expect(link.clientEvents == [.closed])
    #expect(link.client.deadline == nil)
    #expect(link.sent.count == 1)
  }

  @Test func twoClientsFailInsteadOfHanging() throws {
    var link = Link(
      client: try Endpoint(role: .client, certificate: Identity.client, remoteFingerprints: [Identity.server.fingerprint()]),
      server: try Endpoint(role: .client, certificate: Identity.server, remoteFingerprints: [Identity.client.fingerprint()]))
    link.start()
    link.run()
    #expect(link.client.state == .failed && link.server.state == .failed)
  }
}
