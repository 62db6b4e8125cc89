import Base
import CALSA
import CLinux
import Glibc

/// A sound device in one direction, opened through alsa-lib: normally the hardware itself ("hw:"), which it drives by plain system calls
/// without a lock of its own.
///
/// `open` may take a while and allocates; what `PCM` asks for afterwards does not. A device may be opened on one thread and used on
/// another.
public final class ALSADevice: PCM {
  public let label: String
  public let direction: SoundDirection
  public let configuration: PCMConfiguration

  /// The card's number; nil for what lies behind several or none.
  public var cardNumber: Int? {
    var information: OpaquePointer?
    guard unsafe snd_pcm_info_malloc(&information) >= 0 else { return nil }
    defer { unsafe snd_pcm_info_free(information) }
    guard unsafe snd_pcm_info(handle, information) >= 0 else { return nil }
    let number = unsafe snd_pcm_info_get_card(information)
    return number >= 0 ? Int(number) : nil
  }

  private let handle: OpaquePointer
  private let descriptors: UnsafeMutableBufferPointer<pollfd>

  /// The library would write to the standard error what it returns anyway.
  static let silence: Void = alsa_shim_be_silent()

  /// How a device is set up best, in this order.
  private static let formats: [(SampleFormat, snd_pcm_format_t)] = [
    (.int16, SND_PCM_FORMAT_S16_LE), (.int32, SND_PCM_FORMAT_S32_LE), (.int24Packed, SND_PCM_FORMAT_S24_3LE),
    (.int24, SND_PCM_FORMAT_S24_LE), (.float, SND_PCM_FORMAT_FLOAT_LE),
  ]
  private static let rates: [UInt32] = [48_000, 96_000, 44_100, 192_000, 88_200, 32_000, 24_000, 22_050, 16_000, 11_025, 8_000]
  /// What the ring should hold: a stream keeps far less in it, but a capturing thread may be late by nearly that much without a loss.
  private static let bufferTime: UInt32 = 200_000

  /// Opens the device that ALSA calls `name`, for 1 or 2 channels if it has that many. `label` is what people call it.
  public init(name: String, label: String, direction: SoundDirection, channelCount: Int = 1) throws(SoundError) {
    (self.label, self.direction) = (label, direction)
    let stream = direction == .capture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK
    _ = ALSADevice.silence
    var opened: OpaquePointer?
    let mode = SND_PCM_NONBLOCK | SND_PCM_NO_AUTO_FORMAT | SND_PCM_NO_AUTO_CHANNELS | SND_PCM_NO_AUTO_RESAMPLE
    let result = unsafe snd_pcm_open(&opened, name, stream, Int32(mode))
    guard result >= 0, let opened = unsafe opened else {
      switch result {
      case -EBUSY, -EAGAIN: throw .busy(device: label)
      case -ENOENT, -ENODEV, -ENXIO:
        throw .absent(device: label, reason: "there is no such device for \(direction.rawValue) (\(systemReason(result)))")
      default: throw .device(label, operation: "open", reason: systemReason(result))
      }
    }
    do throws(SoundError) {
      configuration = try unsafe ALSADevice.configure(opened, label: label, direction: direction, channelCount: channelCount)
    } catch {
      unsafe snd_pcm_close(opened)
      throw error
    }
    unsafe handle = opened
    let count = max(1, unsafe snd_pcm_poll_descriptors_count(opened))
    descriptors = .allocate(capacity: Int(count))
    unsafe descriptors.initialize(repeating: pollfd(fd: -1, events: 0, revents: 0))
    _ = unsafe snd_pcm_poll_descriptors(opened, descriptors.baseAddress!, UInt32(count))
  }

  deinit {
    unsafe snd_pcm_drop(handle)
    unsafe snd_pcm_close(handle)
    unsafe descriptors.deallocate()
  }

  public func start() -> Int32 { unsafe snd_pcm_start(handle) }

  public func recover(from error: Int32) -> Int32 {
    // Some drivers have to be told that the machine is awake again; whether they go on from where they were or not, the ring is old.
    if error == -ESTRPIPE { _ = unsafe snd_pcm_resume(handle) }
    _ = unsafe snd_pcm_drop(handle)
    return unsafe snd_pcm_prepare(handle)
  }

  public func available() -> Int { unsafe snd_pcm_avail(handle) }

  public func delay() -> Int {
    var frames = 0
    let result = unsafe snd_pcm_delay(handle, &frames)
    return result < 0 ? Int(result) : frames
  }

  public func lastUpdate() -> PCMUpdate {
    var available: snd_pcm_uframes_t = 0
    var time = timespec()
    // Fails in states in which the pointer means nothing.
    guard unsafe snd_pcm_htimestamp(handle, &available, &time) >= 0 else { return PCMUpdate(available: -1, time: .zero) }
    return PCMUpdate(
      available: Int(available), time: Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)))
  }

  public func read(into frames: UnsafeMutableRawPointer, count: Int) -> Int {
    unsafe snd_pcm_readi(handle, frames, snd_pcm_uframes_t(count))
  }

  public func write(_ frames: UnsafeRawPointer, count: Int) -> Int { unsafe snd_pcm_writei(handle, frames, snd_pcm_uframes_t(count)) }

  public func wait(until deadline: Instant) {
    guard unsafe linux_poll(descriptors.baseAddress!, Int32(descriptors.count), deadline.nanoseconds) > 0 else { return }
    // Plugins drain what made their descriptors readable.
    var events: UInt16 = 0
    _ = unsafe snd_pcm_poll_descriptors_revents(handle, descriptors.baseAddress!, UInt32(descriptors.count), &events)
    if Int32(events) & (POLLERR | POLLNVAL | POLLHUP) != 0 {
      // The error shows in the next call. Were it to stay unnoticed there, the thread would spin.
      var time = timespec(tv_sec: 0, tv_nsec: 1_000_000)
      nanosleep(&time, nil)
    }
  }
}

extension ALSADevice {
  private static func configure(
    _ handle: OpaquePointer, label: String, direction: SoundDirection, channelCount wanted: Int
  ) throws(SoundError) -> PCMConfiguration {
    var parameters: OpaquePointer?
    guard unsafe snd_pcm_hw_params_malloc(&parameters) >= 0, let parameters = unsafe parameters else {
      throw .device(label, operation: "configure", reason: systemReason(ENOMEM))
    }
    defer { unsafe snd_pcm_hw_params_free(parameters) }
    func check(_ result: Int32, _ operation: String) throws(SoundError) {
      if result == -ENODEV { throw .absent(device: label, reason: "it was unplugged") }
      guard result >= 0 else { throw .device(label, operation: operation, reason: systemReason(result)) }
    }
    try check(unsafe snd_pcm_hw_params_any(handle, parameters), "configure")
    try check(
      unsafe snd_pcm_hw_params_set_access(handle, parameters, SND_PCM_ACCESS_RW_INTERLEAVED), "take interleaved samples")

    guard let format = formats.first(where: { unsafe snd_pcm_hw_params_test_format(handle, parameters, $0.1) == 0 }) else {
      throw .device(
        label, operation: "find a sample format",
        reason: "accepted are \(SampleFormat.allCases.map(\.rawValue).joined(separator: ", ")), little-endian")
    }
    try check(unsafe snd_pcm_hw_params_set_format(handle, parameters, format.1), "set the sample format")

    // Of a stereo device's two channels a block of one channel is made, but the other way round nothing is gained.
    let counts = wanted == 1 && direction == .capture ? [1, 2, 3, 4, 5, 6, 7, 8] : [2, 1, 3, 4, 5, 6, 7, 8]
    guard let count = counts.first(where: { unsafe snd_pcm_hw_params_test_channels(handle, parameters, UInt32($0)) == 0 }) else {
      throw .device(label, operation: "find a number of channels", reason: "accepted are 1 to 8")
    }
    try check(unsafe snd_pcm_hw_params_set_channels(handle, parameters, UInt32(count)), "set \(count) channels")

    guard let rate = rates.first(where: { unsafe snd_pcm_hw_params_test_rate(handle, parameters, $0, 0) == 0 }) else {
      throw .device(
        label, operation: "find a sample rate", reason: "accepted are \(rates.map(String.init).joined(separator: ", ")) Hz")
    }
    try check(unsafe snd_pcm_hw_params_set_rate(handle, parameters, rate, 0), "set \(rate) Hz")

    // Interrupts serve the clock and, where the pointer moves in whole transfers, decide how old sound is.
    let isBatch = unsafe snd_pcm_hw_params_is_batch(parameters) == 1
    var periodTime: UInt32 = isBatch ? 5_000 : 10_000
    try check(unsafe snd_pcm_hw_params_set_period_time_near(handle, parameters, &periodTime, nil), "set the period")
    var bufferTime = max(bufferTime, 4 * periodTime)
    try check(unsafe snd_pcm_hw_params_set_buffer_time_near(handle, parameters, &bufferTime, nil), "set the buffer")
    try check(unsafe snd_pcm_hw_params(handle, parameters), "configure")
    var (period, buffer): (snd_pcm_uframes_t, snd_pcm_uframes_t) = (0, 0)
    try check(unsafe snd_pcm_hw_params_get_period_size(parameters, &period, nil), "tell its period")
    try check(unsafe snd_pcm_hw_params_get_buffer_size(parameters, &buffer), "tell its buffer")
    guard Int(buffer) * 1_000 >= Int(rate) * 30 else {
      throw .device(label, operation: "set the buffer", reason: "it holds \(buffer) frames, at least 30 ms are needed")
    }
    try unsafe setSoftware(handle, direction: direction, buffer: buffer, check: check)
    return PCMConfiguration(
      rate: Int(rate), channelCount: count, format: format.0, periodFrames: Int(period), bufferFrames: Int(buffer), isBatch: isBatch)
  }

  private static func setSoftware(
    _ handle: OpaquePointer, direction: SoundDirection, buffer: snd_pcm_uframes_t,
    check: (Int32, String) throws(SoundError) -> Void
  ) throws(SoundError) {
    var parameters: OpaquePointer?
    try check(unsafe snd_pcm_sw_params_malloc(&parameters), "configure")
    guard let parameters = unsafe parameters else { return }
    defer { unsafe snd_pcm_sw_params_free(parameters) }
    try check(unsafe snd_pcm_sw_params_current(handle, parameters), "configure")
    var boundary: snd_pcm_uframes_t = 0
    try check(unsafe snd_pcm_sw_params_get_boundary(parameters, &boundary), "configure")
    // Streams start by themselves, and the ring's end is an xrun.
    try check(unsafe snd_pcm_sw_params_set_start_threshold(handle, parameters, boundary), "set when it starts")
    try check(unsafe snd_pcm_sw_params_set_stop_threshold(handle, parameters, buffer), "set when it stops")
    // Each interrupt wakes who captures; who plays goes by the clock.
    try check(unsafe snd_pcm_sw_params_set_avail_min(handle, parameters, direction == .capture ? 1 : boundary), "set when it wakes")
    try check(unsafe snd_pcm_sw_params_set_tstamp_mode(handle, parameters, SND_PCM_TSTAMP_ENABLE), "note times")
    try check(unsafe snd_pcm_sw_params_set_tstamp_type(handle, parameters, SND_PCM_TSTAMP_TYPE_MONOTONIC), "use the monotonic clock")
    try check(unsafe snd_pcm_sw_params(handle, parameters), "configure")
  }
}
