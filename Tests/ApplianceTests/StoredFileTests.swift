import Glibc
import Testing

@testable import Appliance

@Suite struct StoredFileTests {
  private func mode(_ path: String) -> mode_t? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }

  @Test func aFileIsReplacedWithItsMode() throws {
    let folder = TemporaryFolder()
    let file = folder.write("old", to: "file")
    try StoredFile.write(Array("new".utf8), to: file, mode: 0o600)
    #expect(folder.read("file") == Array("new".utf8))
    #expect(mode(file) == 0o600)
    #expect(mode(file + StoredFile.draftEnding) == nil)
  }

  @Test func aNewFolderHasItsModeAndOneThatIsThereKeepsIts() throws {
    let folder = TemporaryFolder()
    let path = "\(folder.path)/above/state"
    try StoredFile.makeFolder(path, mode: 0o700)
    #expect(mode(path) == 0o700)
    #expect(mode("\(folder.path)/above") == 0o755)
    #expect(unsafe chmod(path, 0o750) == 0)
    try StoredFile.makeFolder(path, mode: 0o700)
    #expect(mode(path) == 0o750)
    try StoredFile.makeFolder(path, mode: 0o700, group: getgid())
    #expect(mode(path) == 0o700)
  }

  @Test func whatCannotBeMadeIsToldInTheSystemsWords() {
    let folder = TemporaryFolder()
    let file = folder.write("", to: "file")
    let refused = #expect(throws: StoredFile.Failure.self) { try StoredFile.makeFolder(file + "/state", mode: 0o700) }
    #expect(refused?.description == "\(file)/state: Not a directory")
    let unwritten = #expect(throws: StoredFile.Failure.self) { try StoredFile.write([], to: file + "/volume", mode: 0o600) }
    #expect(unwritten?.description.hasSuffix(": Not a directory") == true)
  }
}
