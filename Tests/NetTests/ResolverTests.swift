import Base
import Net
import Testing

@Suite(.timeLimit(.minutes(1))) struct ResolverTests {
  @Test func anAddressIsItsOwnAnswer() async throws {
    let fixture = LoopFixture()
    let resolver = Resolver(loop: fixture.loop)
    #expect(try await resolver.addresses(of: "2001:db8::7") == [IPAddress("2001:db8::7")!])
  }

  @Test func localhostIsTheLoopback() async throws {
    let fixture = LoopFixture()
    let addresses = try await Resolver(loop: fixture.loop).addresses(of: "localhost")
    #expect(!addresses.isEmpty && addresses.allSatisfy(\.isLoopback))
  }

  @Test func manyLookUpsAtOnceAllEnd() async {
    let fixture = LoopFixture()
    let resolver = Resolver(loop: fixture.loop)
    let found = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<40 { group.addTask { (try? await resolver.addresses(of: "localhost"))?.isEmpty == false } }
      return await group.reduce(into: 0) { count, isFound in count += isFound ? 1 : 0 }
    }
    #expect(found == 40)
  }

  @Test func aNameThatCannotBeIsAnErrorThatNamesIt() async {
    let fixture = LoopFixture()
    do {
      _ = try await Resolver(loop: fixture.loop).addresses(of: "no such name..invalid")
      Issue.record("it was found")
    } catch { #expect("\(error)".contains("no such name..invalid")) }
  }

  @Test func aDeadlineInThePastEndsTheLookUpAtOnce() async {
    let fixture = LoopFixture()
    await #expect(throws: ResolverError.timedOut("nobody.local")) {
      let mdns = Kept<MDNSSocket>()
      let loop = fixture.loop
      let resolver = await loop.perform {
        mdns.value = MDNSSocket(loop: loop, interfaces: [])
        return Resolver(loop: loop, multicast: mdns.value)
      }
      _ = try await resolver.addresses(of: "nobody.local", timeout: .zero)
    }
  }
}
