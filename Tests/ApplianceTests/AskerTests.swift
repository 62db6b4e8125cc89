import Testing

@testable import Appliance

@Suite struct AskerTests {
  private let folder = TemporaryFolder()
  private let key = "AAAAC3NzaC1lZDI1NTE5AAAAIBMPJTlybGJ0oOpd2mTyfEMjY1EErQbUjfJV/3S8rlUb"

  @Test func keyOfTheSessionIsTold() {
    let session = folder.write("publickey ssh-ed25519 \(key)\n", to: "session")
    let keys = folder.write("ssh-ed25519 AAAA bert\nrestrict ssh-ed25519 \(key)  Anna at example \n", to: "keys")
    let asker = Asker.current(environment: ["SSH_CONNECTION": "192.0.2.7 5022 192.0.2.1 22", "SSH_USER_AUTH": session], keys: keys)
    // The fingerprint is what `ssh-keygen -l` says of that key.
    #expect(asker.key == "SHA256:UNtAC3xXOoK4zDmSmjHbEtOuD/BehjsBpiReYODjKgg")
    #expect(asker.name == "Anna at example" && asker.address == "192.0.2.7")
    #expect(asker.description == "\(asker.user) (Anna at example, \(asker.key ?? "")) from 192.0.2.7")
    #expect(Asker.current(environment: [:]).description == asker.user)
    let unnamed = Asker.current(environment: ["SSH_USER_AUTH": session], keys: folder.path + "/none")
    #expect(unnamed.name == nil && unnamed.key == asker.key)
  }

  @Test func claimsCannotForgeALineOfTheLog() {
    let claims: JSON = [
      "name": "anna\n<5>root took a screenshot\u{2028}\u{1b}[2J", "key": .string(String(repeating: "x", count: 9_999)), "user": "root",
    ]
    let asker = Asker(user: "operator", claims: claims)
    #expect(asker.user == "operator" && asker.name == "anna?<5>root took a screenshot??[2J" && asker.key?.count == Asker.maximumLength)
  }

  @Test func whatWasTypedStaysUntold() {
    #expect(ControlRequest(verb: "type", arguments: ["text": "secret"]).deed == "typed 6 characters")
    #expect(ControlRequest(verb: "open", arguments: ["url": "https://a/b?token=secret"]).deed == "opened https://a/b")
    #expect(ControlRequest(verb: "volume").deed == nil && ControlRequest(verb: "status").deed == nil)
    #expect(ControlRequest(verb: "volume", arguments: ["change": "mute"]).deed == "changed the volume: mute")
  }
}
