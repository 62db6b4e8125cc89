import Base
import Call
import Camera
import Frames
import Net
import PageSession
import Sound
import Stage

/// The box's cameras, microphone and loudspeaker, as the configuration names them.
///
/// Devices of the machine need not be there: they are found, lost and found again by their threads.
final class BoxMedia: Sendable {
  /// A camera.
  struct Camera: Sendable {
    let settings: Configuration.Camera
    let thread: CameraThread
    /// Whether it is one of the machine's.
    var isDevice: Bool { settings.settings != nil }
  }

  /// A device of the machine.
  enum Device: Sendable, Hashable {
    case camera(Int)
    case microphone
    case speaker
  }

  /// Every camera that the configuration names, or whichever is there without.
  let cameras: [Camera]
  let microphone: MicrophoneThread?
  let playout: PlayoutThread
  let trust: TrustStore
  private let configuration: Configuration
  private let sound: Configuration.Sound
  private let recording: Recording?

  /// A WAV file that grows with what is played.
  private final class Recording: @unchecked Sendable {
    // Unchecked: written by one thread alone, the one behind the playout thread.
    var file: WAVWriter
    init(_ file: consuming WAVWriter) { self.file = file }
  }

  /// Opens what the configuration names. With `isComplete` also what its call has no use for.
  init(_ configuration: Configuration, isComplete: Bool = false) throws {
    self.configuration = configuration
    trust = try configuration.tls.certificateFiles.isEmpty ? .system : TrustStore(files: configuration.tls.certificateFiles)
    // A device that nobody named and nobody needs is not missed.
    var sound = configuration.sound
    if sound.capture == .any, !configuration.capturesMedia, !isComplete { sound.capture = .none }
    if sound.playback == .any, !configuration.playsSound, !isComplete { sound.playback = .none }
    self.sound = sound
    var wanted = configuration.cameras
    if wanted.isEmpty, configuration.capturesMedia || isComplete { wanted = [Configuration.Camera()] }
    var cameras: [Camera] = []
    do {
      for settings in wanted {
        if let thread = try BoxMedia.camera(settings) { cameras.append(Camera(settings: settings, thread: thread)) }
      }
      if case .file(let path) = sound.playback {
        let recording = Recording(try WAVWriter(path: path))
        self.recording = recording
        playout = PlayoutThread { block, _ in
          do throws(SoundError) { try recording.file.write(block) } catch { Log.error("\(error)") }
        }
      } else {
        recording = nil
        playout = sound.playback.soundSelection.map { PlayoutThread(selection: $0) } ?? PlayoutThread()
      }
      do {
        microphone = try BoxMedia.microphone(sound, reference: playout.reference)
      } catch {
        playout.stop()
        throw error
      }
    } catch {
      for camera in cameras { camera.thread.stop() }
      throw error
    }
    self.cameras = cameras
  }

  private static func camera(_ settings: Configuration.Camera) throws -> CameraThread? {
    if let device = settings.settings { return CameraThread(settings: device) }
    return switch settings.device {
    case .file(let path): CameraThread(source: try Y4MFile(path: path))
    case .synthetic:
      CameraThread(source: SyntheticCamera(width: settings.width, height: settings.height, framesPerSecond: settings.rate))
    case .none, .any, .standard, .named: nil
    }
  }

  private static func microphone(_ sound: Configuration.Sound, reference: ReferenceFeed) throws -> MicrophoneThread? {
    if let selection = sound.capture.soundSelection {
      return MicrophoneThread(selection: selection, processing: sound.processing, reference: reference)
    }
    return switch sound.capture {
    case .file(let path): MicrophoneThread(source: try WAVFile(path: path))
    case .synthetic: MicrophoneThread(source: SyntheticMicrophone())
    case .none, .any, .standard, .named: nil
    }
  }

  /// The first camera: the one of direct calls.
  var camera: CameraThread? { cameras.first?.thread }

  /// Whether sound goes to a loudspeaker.
  var isHeard: Bool { sound.playback.soundSelection != nil }

  /// The devices of the machine that are used, and how they stand.
  var watches: [(device: Device, watch: DeviceWatch)] {
    var watches: [(device: Device, watch: DeviceWatch)] = cameras.enumerated().filter { $1.isDevice }.map { (.camera($0), $1.thread.watch) }
    if let microphone, sound.capture.soundSelection != nil { watches.append((.microphone, microphone.watch)) }
    if isHeard { watches.append((.speaker, playout.watch)) }
    return watches
  }

  /// The devices, as a page with a grant sees them.
  var devices: PageService.Media {
    let labels = cameras.map { "Camera (\($0.settings.device.name))" }
    return PageService.Media(
      cameras: cameras.enumerated().map { index, camera in
        let isAlone = labels.count { $0 == labels[index] } == 1
        return PageService.Media.Camera(
          identifier: "camera \(index) \(camera.settings.device)", label: isAlone ? labels[index] : "\(labels[index]) \(index + 1)",
          camera: camera.thread, watch: camera.isDevice ? camera.thread.watch : nil, isExpected: !configuration.cameras.isEmpty)
      },
      microphone: microphone.map { microphone in
        PageService.Media.Microphone(
          identifier: "microphone \(sound.capture)", label: "Microphone (\(sound.capture.name))",
          watch: sound.capture.soundSelection == nil ? nil : microphone.watch, isExpected: sound.capture != .any,
          processing: microphone.offersProcessing ? microphone.processing : nil, sound: { microphone.sound($0) })
      }, speaker: PageService.Media.Speaker(playout: playout, watch: isHeard ? playout.watch : nil))
  }

  /// Puts the camera's pictures on the screen, or takes them off.
  func showSelfView(on stage: Stage?) {
    guard let camera, let stage else { return }
    camera.add(stage.selfView) { stage.frameArrived() }
  }

  func stop(on stage: Stage?) {
    if let stage { camera?.remove(stage.selfView) }
    for camera in cameras { camera.thread.stop() }
    microphone?.stop()
    playout.stop()
  }
}

// What operators are told.
extension BoxMedia {
  /// How microphone and loudspeaker stand.
  var soundStatus: Status.Sound {
    var status = Status.Sound(capture: "\(sound.capture)", playback: "\(sound.playback)")
    if let microphone, sound.capture.soundSelection != nil {
      let figures = microphone.figures
      status.microphone = Status.SoundDevice(state: microphone.watch.state, figures: figures.stream, peak: figures.capturedPeak)
      status.microphone?.add(processedPeak: figures.processedPeak, voice: figures.voice)
    }
    if isHeard {
      let figures = playout.figures
      status.speaker = Status.SoundDevice(state: playout.watch.state, figures: figures.stream, peak: figures.peak)
    }
    status.xruns = (status.microphone?.xruns ?? 0) + (status.speaker?.xruns ?? 0)
    return status
  }

  /// How the cameras stand.
  var cameraStatus: [Status.Camera] { cameras.indices.map(status(ofCamera:)) }

  /// How a camera stands.
  func status(ofCamera index: Int) -> Status.Camera {
    let (camera, name) = (cameras[index], "\(cameras[index].settings.device)")
    let (thread, statistics) = (camera.thread, camera.thread.statistics)
    var status = Status.Camera(
      id: name, state: camera.isDevice ? thread.watch.state : .running(name: name), format: statistics.format ?? "",
      size: "\(thread.width)x\(thread.height)", rate: statistics.figures.framesPerSecond)
    (status.frames, status.dropped) = (statistics.figures.frames, statistics.figures.discardCount)
    return status
  }

  /// What was left out, by reason.
  var discards: Counters {
    var counters = Counters()
    for camera in cameras {
      for (reason, count) in camera.thread.statistics.figures.discards { counters.count("camera.\(reason.rawValue)", count) }
    }
    for (name, figures) in [("microphone", microphone?.figures.stream), ("speaker", Optional(playout.figures.stream))] {
      guard let figures else { continue }
      for (reason, count) in [
        ("xruns", figures.xruns), ("discardedFrames", figures.discardedFrames), ("insertedFrames", figures.insertedFrames),
      ] where count > 0 {
        counters.count("\(name).\(reason)", count)
      }
    }
    return counters
  }
}
