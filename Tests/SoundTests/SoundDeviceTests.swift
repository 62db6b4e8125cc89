import Testing

@testable import Sound

struct SoundDeviceTests {
  private func device(
    _ identifier: String, _ attachment: SoundDevice.Attachment, card: Int, arrival: Int64 = 0
  ) -> SoundDevice {
    SoundDevice(
      identifier: identifier, name: "hw:CARD=" + (identifier.contains(",") ? "HDMI,DEV=7" : "\(identifier),DEV=0"), label: identifier,
      direction: .playback, attachment: attachment,
      cardNumber: card, arrival: arrival)
  }

  private var devices: [SoundDevice] {
    [
      device("HDMI", .emptySocket, card: 0), device("HDMI,7", .monitor, card: 0), device("PCH", .builtIn, card: 1),
      device("Speak", .usb, card: 2, arrival: 50), device("Headset", .usb, card: 3, arrival: 900),
      device("Dock", .usb, card: 4, arrival: 60),
    ]
  }

  @Test func whoeverTakesAnyTakesTheNewestUSBDeviceAndMonitorsLast() {
    let order = SoundSelection.any.candidates(among: devices).map(\.identifier)
    #expect(order == ["Headset", "Dock", "Speak", "PCH", "HDMI,7", "HDMI"])
  }

  @Test func aNameMeansThatDeviceWhateverItsNumber() {
    var renumbered = devices
    for index in renumbered.indices { renumbered[index].cardNumber = 9 - index }
    for list in [devices, renumbered] {
      #expect(SoundSelection.named("PCH").candidates(among: list).map(\.name) == ["hw:CARD=PCH,DEV=0"])
      #expect(SoundSelection.named("PCH,0").candidates(among: list).map(\.identifier) == ["PCH"])
      #expect(SoundSelection.named("HDMI,7").candidates(among: list).map(\.identifier) == ["HDMI,7"])
    }
    #expect(SoundSelection.named("Absent").candidates(among: devices).isEmpty)
  }

  @Test func whatIsMissingIsNamedWithWhatIsThere() {
    #expect(SoundCards.absence(.any, .capture, []) == "there is no microphone")
    #expect(
      SoundCards.absence(.named("Kiosk"), .playback, Array(devices.prefix(3)))
        == "there is no loudspeaker of this name; there are HDMI, HDMI,7, PCH")
  }

  @Test func aDeviceThatIsNotThereIsAbsent() {
    for selection in [SoundSelection.named("NoSuchCard"), .named("hw:CARD=NoSuchCard,DEV=0")] {
      let error = #expect(throws: SoundError.self) { try SoundCards.open(selection, direction: .capture) }
      #expect(error?.deviceState.word == "absent", "\(error.map(String.init(describing:)) ?? "")")
    }
  }

  @Test func mixersAreOpenedForSpeechAndClosedForSidetones() {
    for name in ["Master", "PCM", "Speaker", "Headphone", "Headset", "Line Out", "IEC958", "Bass Speaker", "Jabra SPEAK 510"] {
      #expect(MixerControl.playback(name) == .output, "\(name)")
    }
    for name in ["Mic", "Internal Mic", "Line", "CD", "Beep", "Loopback Mixing", "Aux", "Sidetone"] {
      #expect(MixerControl.playback(name) == .sidetone, "\(name)")
    }
    #expect(MixerControl.playback("Mic Boost") == .other)
    for name in ["Mic", "Capture", "Internal Mic Boost", "Headset", "ADC"] { #expect(MixerControl.capture(name) == .microphone, "\(name)") }
    for name in ["Line", "CD", "Mix", "IEC958"] { #expect(MixerControl.capture(name) == .other, "\(name)") }
  }

  @Test func volumesGoToZeroDecibelsWhereThereAreAny() {
    #expect(MixerControl.playbackGain(range: -6_400...0) == 0)
    #expect(MixerControl.playbackGain(range: -5_000...600) == 0)
    #expect(MixerControl.playbackGain(range: -2_800 ... -300) == -300)
    #expect(MixerControl.playbackGain(range: 0...4_000) == nil)
    #expect(MixerControl.captureGain(range: -1_700...3_000) == 0)
    #expect(MixerControl.captureGain(range: 0...3_000) == 1_500)
    #expect(MixerControl.captureGain(range: -3_000 ... -100) == -100)
  }
}
