import CALSA
import Glibc

/// The sound cards of the machine.
public enum SoundCards {
  /// All devices that sound can be captured from or played to, by card. Cards that do not answer are left out.
  public static func devices(_ direction: SoundDirection) -> [SoundDevice] {
    _ = ALSADevice.silence
    var (devices, number): ([SoundDevice], Int32) = ([], -1)
    while unsafe snd_card_next(&number) >= 0, number >= 0 { devices += SoundCards.devices(ofCard: Int(number), direction) }
    return devices
  }

  /// Opens the device that is wanted: for "any" the first that can be opened, best first. The card's mixer is brought into a known state.
  public static func open(
    _ selection: SoundSelection, direction: SoundDirection, channelCount: Int = 1
  ) throws(SoundError) -> ALSADevice {
    let device = try firstThatOpens(selection, direction: direction, channelCount: channelCount)
    if let card = device.cardNumber { SoundMixer.prepare(card: card, label: device.label, direction: direction) }
    return device
  }

  private static func firstThatOpens(
    _ selection: SoundSelection, direction: SoundDirection, channelCount: Int
  ) throws(SoundError) -> ALSADevice {
    switch selection {
    case .standard: return try ALSADevice(name: "default", label: "default", direction: direction, channelCount: channelCount)
    case .named(let name) where name.contains(":"):
      return try ALSADevice(name: name, label: name, direction: direction, channelCount: channelCount)
    case .any, .named:
      let devices = devices(direction)
      var failure: SoundError?
      for candidate in selection.candidates(among: devices) {
        do throws(SoundError) {
          return try ALSADevice(name: candidate.name, label: candidate.label, direction: direction, channelCount: channelCount)
        } catch {
          failure = failure ?? error
        }
      }
      throw failure ?? SoundError.absent(device: selection.description, reason: SoundCards.absence(selection, direction, devices))
    }
  }

  static func absence(_ selection: SoundSelection, _ direction: SoundDirection, _ devices: [SoundDevice]) -> String {
    let what = direction == .capture ? "microphone" : "loudspeaker"
    if devices.isEmpty { return "there is no \(what)" }
    return "there is no \(what) of this name; there are \(devices.map(\.identifier).joined(separator: ", "))"
  }

  private static func devices(ofCard number: Int, _ direction: SoundDirection) -> [SoundDevice] {
    var opened: OpaquePointer?
    guard unsafe snd_ctl_open(&opened, "hw:\(number)", Int32(SND_CTL_NONBLOCK)) >= 0, let control = unsafe opened else { return [] }
    defer { unsafe snd_ctl_close(control) }
    var (cardInfo, pcmInfo): (OpaquePointer?, OpaquePointer?)
    guard unsafe snd_ctl_card_info_malloc(&cardInfo) >= 0, unsafe snd_pcm_info_malloc(&pcmInfo) >= 0 else { return [] }
    defer {
      unsafe snd_ctl_card_info_free(cardInfo)
      unsafe snd_pcm_info_free(pcmInfo)
    }
    guard unsafe snd_ctl_card_info(control, cardInfo) >= 0 else { return [] }
    let card = unsafe String(cString: snd_ctl_card_info_get_id(cardInfo))
    let cardLabel = unsafe String(cString: snd_ctl_card_info_get_name(cardInfo))
    let driver = unsafe String(cString: snd_ctl_card_info_get_driver(cardInfo))
    var status = stat()
    // The node is made when the card comes.
    let hasStatus = unsafe stat("/dev/snd/controlC\(number)", &status) == 0
    let arrival = hasStatus ? Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec) : 0

    var (found, device): ([SoundDevice], Int32) = ([], -1)
    while unsafe snd_ctl_pcm_next_device(control, &device) >= 0, device >= 0 {
      unsafe snd_pcm_info_set_device(pcmInfo, UInt32(device))
      unsafe snd_pcm_info_set_subdevice(pcmInfo, 0)
      unsafe snd_pcm_info_set_stream(pcmInfo, direction == .capture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK)
      guard unsafe snd_ctl_pcm_info(control, pcmInfo) >= 0 else { continue }
      let pcmName = unsafe String(cString: snd_pcm_info_get_name(pcmInfo))
      var attachment = SoundDevice.Attachment.builtIn
      if driver == "USB-Audio" {
        attachment = .usb
      } else if [card, cardLabel, pcmName].contains(where: { $0.contains("HDMI") || $0.contains("DisplayPort") }) {
        attachment = unsafe hasMonitor(control, device) ? .monitor : .emptySocket
      }
      let isFirst = found.isEmpty
      found.append(
        SoundDevice(
          identifier: isFirst ? card : "\(card),\(device)", name: "hw:CARD=\(card),DEV=\(device)",
          label: isFirst && attachment <= .builtIn ? cardLabel : "\(cardLabel), \(pcmName)", direction: direction, attachment: attachment,
          cardNumber: number, arrival: arrival))
    }
    return found
  }

  /// Whether a monitor at this socket has told that it takes sound (its ELD).
  private static func hasMonitor(_ control: OpaquePointer, _ device: Int32) -> Bool {
    var (identifier, info): (OpaquePointer?, OpaquePointer?)
    guard unsafe snd_ctl_elem_id_malloc(&identifier) >= 0, unsafe snd_ctl_elem_info_malloc(&info) >= 0 else { return false }
    defer {
      unsafe snd_ctl_elem_id_free(identifier)
      unsafe snd_ctl_elem_info_free(info)
    }
    unsafe snd_ctl_elem_id_set_interface(identifier, SND_CTL_ELEM_IFACE_PCM)
    unsafe snd_ctl_elem_id_set_name(identifier, "ELD")
    unsafe snd_ctl_elem_id_set_device(identifier, UInt32(device))
    unsafe snd_ctl_elem_info_set_id(info, identifier)
    return unsafe snd_ctl_elem_info(control, info) >= 0 && snd_ctl_elem_info_get_count(info) > 0
  }
}
