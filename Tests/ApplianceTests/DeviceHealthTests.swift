import Foundation
import Frames
import Testing

@testable import Appliance

@Suite struct DeviceHealthTests {
  private func time(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }

  @Test func eachStateHasItsCode() {
    var microphone = DeviceHealth(.microphone)
    #expect(microphone.problem == nil && microphone.area == "microphone")
    microphone.set(.absent(reason: "no card with the identifier Kiosk"))
    #expect(microphone.problem?.code.rawValue == "microphone.absent" && microphone.problem?.reason == "no card with the identifier Kiosk")
    microphone.set(.busy(reason: "held"))
    #expect(microphone.problem?.code.rawValue == "microphone.busy")
    microphone.set(.failed(reason: "dry"))
    #expect(microphone.problem?.code.rawValue == "microphone.failed")
    microphone.set(.running(name: "Desk"))
    #expect(microphone.problem == nil)
  }

  @Test func aCodeStaysWhileTheDeviceIsTriedAgain() {
    var camera = DeviceHealth(.camera, count: 2)
    camera.set(.running(name: "Front"), at: 0)
    camera.set(.failed(reason: "no picture for two seconds"), at: 1)
    camera.set(.starting, at: 1)
    #expect(camera.problem?.code == .cameraFailed)
    camera.set(.absent(reason: "gone"), at: 0)
    #expect(camera.problem?.code == .cameraAbsent, "the first camera matters more")
    camera.set(.running(name: "Front"), at: 0)
    camera.set(.running(name: "Top"), at: 1)
    #expect(camera.problem == nil)
  }

  @Test func aCallGoesOnWithoutDevicesAndSaysWhatItLacks() {
    var health = Health(now: time(0))
    #expect(health.cautions(language: .english).isEmpty)
    health.start(isProvisioned: true, now: time(0))
    health.setCall(.connected, now: time(1))
    for codes in [DeviceHealth.Codes.camera, .microphone, .speaker] {
      var device = DeviceHealth(codes)
      device.set(.absent(reason: "gone"))
      health.set(device.problem, area: device.area, now: time(2))
    }
    #expect(health.state == .inCall && health.notice(name: "", language: .english) == nil)
    #expect(
      health.cautions(language: .english).map { $0.prefix { $0 != ":" } } == ["You are not seen", "You are not heard", "You hear nothing"])
    #expect(health.cautions(language: .german).first?.hasPrefix("Man sieht Sie nicht") == true)
    health.set(nil, area: "camera", now: time(3))
    #expect(health.cautions(language: .english).count == 2)
    // What is worse is said alone.
    health.setCall(.idle, now: time(4))
    health.raise(.networkDown, "no interface has an address", now: time(4))
    #expect(health.cautions(language: .english).isEmpty)
  }

  @Test func everyDeviceCodeHelpsInBothLanguages() {
    for codes in [DeviceHealth.Codes.camera, .microphone, .speaker] {
      for code in [codes.absent, codes.busy, codes.failed] {
        let texts = Language.allCases.map { code.caution?.text(in: $0) ?? "" }
        #expect(code.isBearable && Set(texts).count == 2 && texts.allSatisfy { $0.count > 20 }, "\(code)")
      }
    }
  }
}
