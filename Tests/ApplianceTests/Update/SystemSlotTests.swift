import Testing

@testable import Appliance

@Suite struct SystemSlotTests {
  @Test func theKernelsCommandLineNamesIt() {
    #expect(SystemSlot.named(in: "parlor.slot=b rauc.slot=B parlor.verity=1,2,3 ro quiet\n") == "B")
    #expect(SystemSlot.named(in: "root=/dev/sda1 ro quiet") == nil)
  }

  @Test func theStatusFileTellsTheVersionOfEach() {
    let text = """
      [system]
      boot-id=8a3f

      [slot.rootfs.1]
      bundle.compatible=parlor-direct-amd64
      bundle.version=1.3.0
      status=ok

      [slot.rootfs.0]
      bundle.version=1.2.0
      """
    #expect(SystemSlot.version(in: "A", statusFile: text) == "1.2.0")
    #expect(SystemSlot.version(in: "B", statusFile: text) == "1.3.0")
    #expect(SystemSlot.version(in: "A", statusFile: "[slot.rootfs.1]\nbundle.version=1.3.0") == nil)
  }
}
