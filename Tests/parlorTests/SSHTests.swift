import Appliance
import Foundation
import Testing

/// What an operator has over SSH, from a real sshd to a real box.
@Suite struct SSHTests {
  private let configuration = """
    [identity]
    name = "Lobby"
    [call]
    whip = "http://127.0.0.1:9/whip"
    start = "manual"
    [display]
    self_view = "off"
    [[camera]]
    device = "synthetic"
    [sound]
    capture = "none"
    playback = "none"
    """

  @Test func operatorLooksAfterABoxByVerbsAlone() async throws {
    let box = try await RunningBox(configuration)
    let server = try await SSHServer(environment: "PARLOR_RUNTIME=\(box.folder)/run")

    let status = try await server.ssh("status --json")
    #expect(status.code == 0, "\(status.errors)")
    #expect(JSON(text: Array(status.output.utf8))?["name"] == "Lobby")
    let picture = try await server.ssh("screenshot -")
    #expect(picture.code == 0 && picture.output.contains("PNG"))
    #expect(try await server.ssh("volume -- -25").output == "75 %\n")

    // Files come by standard input.
    let wrong = try await server.ssh("check --config -", input: "[display]\nrotat = 90\n")
    #expect(wrong.code == 78 && wrong.output.contains("(standard input):2:1: ") && wrong.output.contains("rotate"), "\(wrong)")
    let metrics = try await server.ssh("metrics")
    #expect(metrics.output.contains("parlor_state{state=\"ready\"} 1\n"), "\(metrics)")

    // Who did it stands in the box's log, by name of the key and address; who only asked does not.
    let asker = "\(NSUserName()) (\(try await server.fingerprint())) from 127.0.0.1"
    #expect(box.log.contains("\(asker) took a screenshot"), "\(box.log)")
    #expect(box.log.contains("\(asker) changed the volume: -25"))
    #expect(!box.log.contains("status"))

    // Nothing else runs, whatever it is called.
    for line in ["sh -c id", "id", "scp -f /etc/passwd", "/usr/lib/openssh/sftp-server", "run", "screenshot /tmp/x.png"] {
      let result = try await server.ssh(line)
      #expect(result.code == 77 && result.output.isEmpty, "\(line): \(result)")
    }
    for line in ["status; id", "status > /tmp/x"] {
      let result = try await server.ssh(line)
      #expect(result.code == 64 && result.output.isEmpty, "\(line): \(result)")
    }
    #expect(try await server.ssh("volume '$(id) `id`'").errors.contains("$(id) `id`"))
    #expect(try await server.transfer("sftp", ["-b", "/dev/stdin", "127.0.0.1"], input: "get /etc/passwd\n").code != 0)
    #expect(try await server.transfer("scp", ["127.0.0.1:/etc/passwd", box.folder + "/stolen"]).code != 0)
    #expect(!FileManager.default.fileExists(atPath: box.folder + "/stolen"))

    // No way on: neither out of the box nor into it.
    for option in [["-W", "127.0.0.1:1"], ["-o", "ExitOnForwardFailure=yes", "-R", "0:127.0.0.1:1"]] {
      let result = try await server.ssh(option[0] == "-W" ? nil : "status", options: option)
      #expect(result.code == 255, "\(option): \(result)")
    }
    await server.stop()
    #expect(box.stop() == 0)
  }

  @Test func promptTakesVerbAfterVerb() async throws {
    let box = try await RunningBox(configuration)
    let server = try await SSHServer(environment: "PARLOR_RUNTIME=\(box.folder)/run")
    let session = try await server.ssh(nil, input: "help\n\nvolume 30\nid\nvolume --json\nexit\nvolume 90\n")
    #expect(session.code == 0, "\(session)")
    #expect(session.output.contains("screenshot") && session.output.contains("30 %\n") && session.output.contains("\"percent\" : 30"))
    #expect(!session.output.contains("parlor> ") && session.errors.contains("\"id\" is no verb"))
    // The last verb's code is the session's, so that scripts may feed it.
    #expect(try await server.ssh(nil, input: "status\nvolume 300\n").code == 64)

    let terminal = try await server.ssh(nil, options: ["-tt"], input: "volume\nexit\n")
    #expect(terminal.code == 0 && terminal.output.contains("parlor> ") && terminal.output.contains("30 %"), "\(terminal)")
    await server.stop()
    #expect(box.stop() == 0)
  }

  @Test func screenshotsCanBeForbidden() async throws {
    let box = try await RunningBox(configuration + "\n[access]\nscreenshots = false\n")
    let server = try await SSHServer(environment: "PARLOR_RUNTIME=\(box.folder)/run")
    let picture = try await server.ssh("screenshot -")
    #expect(picture.code == 77 && picture.output.isEmpty && picture.errors.contains("screenshots are switched off"), "\(picture)")
    #expect(box.log.contains("from 127.0.0.1 was refused screenshot"))
    await server.stop()
    #expect(box.stop() == 0)
  }
}
