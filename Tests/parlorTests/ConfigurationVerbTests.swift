import Foundation
import Testing

@testable import Appliance

@Suite(.serialized) struct ConfigurationVerbTests {
  private let text = """
    # The lobby's box
    [call]
    whip = "https://sfu.example.org/whip"   # in
    token = "bearer-token"
    [display]
    rotate = 90

    """
  private let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBMPJTlybGJ0oOpd2mTyfEMjY1EErQbUjfJV/3S8rlUb anna\n"

  private func box() async throws -> FakeHost {
    let fake = try await FakeHost()
    try await fake.setUp(["parlor.toml": text, "authorized_keys": key])
    return fake
  }

  @Test func configurationIsShownWithoutSecrets() async throws {
    let fake = try await box()
    let host = fake.host
    let (all, one, json) = (Sink(), Sink(), Sink())
    try host.configurationGet(nil, isJSON: false, output: all.take)
    #expect(all.text == text.replacingOccurrences(of: "bearer-token", with: "(kept on the box)"))
    try host.configurationGet("display.rotate", isJSON: false, output: one.take)
    try host.configurationGet("call.token", isJSON: false, output: one.take)
    #expect(one.text == "90\n(kept on the box)\n")
    try host.configurationGet(nil, isJSON: true, output: json.take)
    #expect(JSON(text: Array(json.data))?["call"]?["token"] == "(kept on the box)")
    #expect(
      await failure { () throws(VerbFailure) in try host.configurationGet("display.rotat", isJSON: false, output: one.take) }?.description
        == "there is no key display.rotat; did you mean display.rotate?")
    #expect(
      await failure { () throws(VerbFailure) in try host.configurationGet("display.mode", isJSON: false, output: one.take) }?.exitCode
        == .unavailable)
  }

  @Test func oneKeyIsSetAndAppliedAndTheRestStays() async throws {
    let fake = try await box()
    let host = fake.host
    let sink = Sink()
    #expect(
      try await code { () throws(VerbFailure) in try host.configurationSet("display.rotate", to: "180", isJSON: false, output: sink.take) }
        == .ok)
    #expect(sink.text == "applied\n")
    let store = ProvisioningStore(folder: fake.root + ProvisioningStore.defaultFolder)
    #expect(String(decoding: store.current?.text ?? [], as: UTF8.self) == text.replacingOccurrences(of: "90", with: "180"))
    // Nobody is locked out by a change of something else, and nothing secret stays behind.
    #expect(store.current?.files["authorized_keys"] == Array(key.utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: fake.root + Provision.inbox) == [".lock"])

    #expect(
      try await code { () throws(VerbFailure) in
        try host.configurationSet("call.token", to: "it's \"$new\" \\", isJSON: false, output: sink.take)
      } == .ok)
    #expect(try Configuration.load(path: store.configurationFile).call?.token?.read() == "it's \"$new\" \\")
    for (key, value) in [("display.rotate", "45"), ("display.rotate", "left"), ("call.whip", "nowhere")] {
      let wrong = await failure { () throws(VerbFailure) in _ = try host.configurationSet(key, to: value, isJSON: false, output: sink.take)
      }
      #expect(
        wrong?.exitCode == .badConfiguration && wrong?.description.contains(key) == true, "\(key): \(wrong?.description ?? "accepted")")
    }
    #expect(
      await failure { () throws(VerbFailure) in _ = try host.configurationSet("display.rotat", to: "0", isJSON: false, output: sink.take) }?
        .exitCode == .usage)
    #expect(try Configuration.load(path: store.configurationFile).display.rotation == .half)
  }

  @Test func oneKeyGoesAndItsDefaultHolds() async throws {
    let fake = try await box()
    let host = fake.host
    let sink = Sink()
    #expect(
      try await code { () throws(VerbFailure) in try host.configurationUnset("display.rotate", isJSON: false, output: sink.take) } == .ok)
    #expect(sink.text == "applied\n")
    let store = ProvisioningStore(folder: fake.root + ProvisioningStore.defaultFolder)
    #expect(String(decoding: store.current?.text ?? [], as: UTF8.self) == text.replacingOccurrences(of: "rotate = 90\n", with: ""))
    func refusal(_ key: String) async -> VerbFailure? {
      await failure { () throws(VerbFailure) in _ = try host.configurationUnset(key, isJSON: false, output: sink.take) }
    }
    #expect(await refusal("display.rotate")?.exitCode == .unavailable)
    #expect(await refusal("display.rotat")?.exitCode == .usage)
    // The token alone makes no call.
    #expect(await refusal("call.whip")?.exitCode == .badConfiguration)
    #expect(try Configuration.load(path: store.configurationFile).call != nil)
  }

  @Test func whatGetWritesCanBeApplied() async throws {
    let fake = try await box()
    let host = fake.host
    let (shown, sink) = (Sink(), Sink())
    try host.configurationGet(nil, isJSON: false, output: shown.take)
    let changed = shown.text.replacingOccurrences(of: "rotate = 90", with: "rotate = 0 # upright")
    #expect(
      try await code { () throws(VerbFailure) in try host.configurationApply(Array(changed.utf8), isJSON: true, output: sink.take) } == .ok)
    #expect(JSON(text: Array(sink.data))?["result"] == "applied")
    let store = ProvisioningStore(folder: fake.root + ProvisioningStore.defaultFolder)
    let applied = String(decoding: store.current?.text ?? [], as: UTF8.self)
    #expect(applied.contains("# upright"))
    #expect(try Configuration.load(path: store.configurationFile).call?.token?.read() == "bearer-token")
  }

  @Test func wrongFileChangesNothingAndAllThatIsWrongIsTold() async throws {
    let fake = try await box()
    let host = fake.host
    let count = fake.calls.count
    let wrong = await failure { () throws(VerbFailure) in
      _ = try host.configurationApply(Array("[call]\nwhip = 7\n[display]\nrotat = 1\n".utf8), isJSON: false, output: { _ in true })
    }
    #expect(wrong?.exitCode == .badConfiguration)
    #expect(wrong?.description.contains("parlor.toml:2:") == true && wrong?.description.contains("rotate") == true)
    #expect(fake.calls.count == count)
    // What only provisioning can see is told as well.
    let sink = Sink()
    let text = "[call]\nwhip = \"https://a/\"\n[tls]\nca_files = [\"absent.pem\"]\n"
    #expect(
      try await code { () throws(VerbFailure) in try host.configurationApply(Array(text.utf8), isJSON: false, output: sink.take) }
        == .badConfiguration)
    #expect(sink.text.contains("absent.pem") && sink.text.hasSuffix("not applied; the box goes on as before\n"))
    #expect(ProvisioningStore(folder: fake.root + ProvisioningStore.defaultFolder).current?.text == Array(self.text.utf8))
  }

  @Test func withoutSystemdNothingIsChanged() async throws {
    let fake = try await box()
    let host = fake.host
    try FileManager.default.removeItem(atPath: fake.root + "/run/systemd")
    #expect(await failure { () throws(VerbFailure) in try host.restartApp() }?.exitCode == .unavailable)
    #expect(await failure { () throws(VerbFailure) in try host.restartBox() }?.exitCode == .unavailable)
    #expect(await failure { () throws(VerbFailure) in try host.factoryReset() }?.exitCode == .unavailable)
    let change = await failure { () throws(VerbFailure) in
      _ = try host.configurationSet("display.rotate", to: "0", isJSON: false, output: { _ in true })
    }
    #expect(change?.exitCode == .unavailable)
    #expect(fake.calls == [])
  }
}
