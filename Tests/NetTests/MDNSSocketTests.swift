import Base
import Net
import Testing

@Suite(.timeLimit(.minutes(1))) struct MDNSSocketTests {
  /// Two sockets on the loopback's link, as two programs on a machine would have. One knows a name, the other asks.
  @Test func anotherProgramOnTheLinkResolvesARandomNameUntilItIsTakenBack() async {
    let fixture = LoopFixture()
    let loop = fixture.loop
    let interfaces = NetworkInterfaces.addresses().filter(\.isLoopback)
    let arrivals = Arrivals<[IPAddress]>()
    let (one, other) = (Kept<MDNSSocket>(), Kept<MDNSSocket>())
    let address = IPAddress("192.0.2.9")!
    let name = await loop.perform { () -> String in
      one.value = MDNSSocket(loop: loop, interfaces: interfaces)
      #expect(one.value!.linkCount == 0, "nobody needs the port yet")
      other.value = MDNSSocket(loop: loop, interfaces: interfaces)
      let name = one.value!.register(address)
      other.value!.resolve(name.uppercased()) { arrivals.add($0) }
      return name
    }
    #expect(name.hasSuffix(".local") && name.utf8.count == 42)
    #expect(await loop.perform { one.value!.linkCount } > 0)
    #expect(await arrivals.next() == [address])
    await loop.perform {
      one.value!.unregister(name)
      other.value!.resolve(name, timeout: .milliseconds(100)) { arrivals.add($0) }
    }
    #expect(await arrivals.next() == [])
    while await loop.perform({ one.value!.linkCount + other.value!.linkCount }) > 0 { await Task.yield() }
    await loop.perform {
      one.value!.close()
      other.value!.close()
    }
  }
}
