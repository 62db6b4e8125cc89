import Base
import CALSA

/// Brings a card's mixer into a known state, as good as the card allows: boxes come with their loudspeakers muted, microphones turned down,
/// and whatever somebody set before.
enum SoundMixer {
  /// Opens the way to the loudspeaker, at 0 dB, and closes what would let the microphone straight through; or opens the way from the
  /// microphone, at 0 dB. How loud it is then is decided in blocks, where it is the same for every card.
  static func prepare(card: Int, label: String, direction: SoundDirection) {
    var opened: OpaquePointer?
    guard unsafe snd_mixer_open(&opened, 0) >= 0, let mixer = unsafe opened else { return }
    defer { unsafe snd_mixer_close(mixer) }
    var result = unsafe snd_mixer_attach(mixer, "hw:\(card)")
    if result >= 0 { result = unsafe snd_mixer_selem_register(mixer, nil, nil) }
    if result >= 0 { result = unsafe snd_mixer_load(mixer) }
    guard result >= 0 else {
      Log.warning("sound: the mixer of \(label) cannot be set: \(systemReason(result))")
      return
    }
    var set: [String] = []
    var next = unsafe snd_mixer_first_elem(mixer)
    while let element = unsafe next {
      unsafe next = snd_mixer_elem_next(element)
      guard unsafe snd_mixer_selem_is_active(element) == 1 else { continue }
      let name = unsafe String(cString: snd_mixer_selem_get_name(element))
      let isSet = unsafe direction == .playback ? setPlayback(element, name) : setCapture(element, name)
      if isSet { set.append(name) }
    }
    if !set.isEmpty { Log.info("sound: mixer of \(label) set for \(direction.rawValue): \(set.joined(separator: ", "))") }
  }

  /// Returns whether anything was set.
  private static func setPlayback(_ element: OpaquePointer, _ name: String) -> Bool {
    let hasSwitch = unsafe snd_mixer_selem_has_playback_switch(element) == 1
    let hasVolume = unsafe snd_mixer_selem_has_playback_volume(element) == 1
    switch MixerControl.playback(name) {
    case .sidetone:
      guard hasSwitch else { return false }
      return unsafe snd_mixer_selem_set_playback_switch_all(element, 0) >= 0
    case .output:
      if hasSwitch { _ = unsafe snd_mixer_selem_set_playback_switch_all(element, 1) }
      if hasVolume { unsafe setPlaybackVolume(element) }
      return hasSwitch || hasVolume
    case .microphone, .other: return false
    }
  }

  private static func setPlaybackVolume(_ element: OpaquePointer) {
    var (least, most) = (0, 0)
    if unsafe snd_mixer_selem_get_playback_dB_range(element, &least, &most) >= 0, least < most,
      let gain = MixerControl.playbackGain(range: least...most),
      unsafe snd_mixer_selem_set_playback_dB_all(element, gain, 0) >= 0
    {
      return
    }
    guard unsafe snd_mixer_selem_get_playback_volume_range(element, &least, &most) >= 0 else { return }
    _ = unsafe snd_mixer_selem_set_playback_volume_all(element, most)
  }

  private static func setCapture(_ element: OpaquePointer, _ name: String) -> Bool {
    guard MixerControl.capture(name) == .microphone else { return false }
    let hasSwitch = unsafe snd_mixer_selem_has_capture_switch(element) == 1
    let hasVolume = unsafe snd_mixer_selem_has_capture_volume(element) == 1
    if hasSwitch { _ = unsafe snd_mixer_selem_set_capture_switch_all(element, 1) }
    if hasVolume { unsafe setCaptureVolume(element) }
    return hasSwitch || hasVolume
  }

  private static func setCaptureVolume(_ element: OpaquePointer) {
    var (least, most) = (0, 0)
    if unsafe snd_mixer_selem_get_capture_dB_range(element, &least, &most) >= 0, least < most,
      unsafe snd_mixer_selem_set_capture_dB_all(element, MixerControl.captureGain(range: least...most), 0) >= 0
    {
      return
    }
    guard unsafe snd_mixer_selem_get_capture_volume_range(element, &least, &most) >= 0 else { return }
    _ = unsafe snd_mixer_selem_set_capture_volume_all(element, least + (most - least) * 3 / 4)
  }
}
