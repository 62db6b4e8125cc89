import Base
import Call
import Camera
import Frames
import Net
import PageSession
import Sound
import Stage

/// The box's camera, microphone and loudspeaker, as the configuration names them.
final class BoxMedia: Sendable {
  /// Every camera that the configuration names, or the one that is there without.
  let cameras: [(device: Configuration.Device, thread: CameraThread)]
  let microphone: MicrophoneThread?
  let playout: PlayoutThread
  let trust: TrustStore
  private let sound: Configuration.Sound
  private let recording: Recording?

  /// A WAV file that grows with what is played.
  private final class Recording: @unchecked Sendable {
    // Unchecked: written by the playout thread alone.
    var file: WAVWriter
    init(_ file: consuming WAVWriter) { self.file = file }
  }

  init(_ configuration: Configuration) throws {
    trust = try configuration.tls.certificateFiles.isEmpty ? .system : TrustStore(files: configuration.tls.certificateFiles)
    sound = configuration.sound
    var cameras: [(device: Configuration.Device, thread: CameraThread)] = []
    do {
      for settings in configuration.cameras.isEmpty ? [Configuration.Camera()] : configuration.cameras {
        if let thread = try BoxMedia.camera(settings) { cameras.append((settings.device, thread)) }
      }
      switch sound.capture {
      case .synthetic: microphone = MicrophoneThread(source: SyntheticMicrophone())
      case .file(let path): microphone = MicrophoneThread(source: try WAVFile(path: path))
      case .none, .any, .standard, .named: microphone = nil
      }
      switch sound.playback {
      case .file(let path):
        let recording = Recording(try WAVWriter(path: path))
        self.recording = recording
        playout = PlayoutThread { block, _ in
          do throws(SoundError) { try recording.file.write(block) } catch { Log.error("\(error)") }
        }
      case .none, .synthetic, .any, .standard, .named:
        recording = nil
        playout = PlayoutThread { _, _ in }
      }
    } catch {
      for camera in cameras { camera.thread.stop() }
      throw error
    }
    self.cameras = cameras
  }

  private static func camera(_ settings: Configuration.Camera) throws -> CameraThread? {
    switch settings.device {
    case .synthetic:
      CameraThread(source: SyntheticCamera(width: settings.width, height: settings.height, framesPerSecond: settings.rate))
    case .file(let path): CameraThread(source: try Y4MFile(path: path))
    case .none, .any, .standard, .named: nil
    }
  }

  /// The first camera: the one of direct calls.
  var camera: CameraThread? { cameras.first?.thread }

  /// The devices, as a page with a grant sees them.
  var devices: PageService.Media {
    let labels = cameras.map { "Camera (\($0.device.name))" }
    return PageService.Media(
      cameras: cameras.enumerated().map { index, camera in
        let isAlone = labels.count { $0 == labels[index] } == 1
        return PageService.Media.Camera(
          identifier: "camera \(index) \(camera.device)", label: isAlone ? labels[index] : "\(labels[index]) \(index + 1)",
          camera: camera.thread)
      },
      microphone: microphone.map { microphone in
        PageService.Media.Microphone(
          identifier: "microphone \(sound.capture)", label: "Microphone (\(sound.capture.name))", sound: { _ in microphone.sound })
      }, speaker: PageService.Media.Speaker(playout: playout))
  }

  /// Puts the camera's pictures on the screen, or takes them off.
  func showSelfView(on stage: Stage?) {
    guard let camera, let stage else { return }
    camera.add(stage.selfView) { stage.frameArrived() }
  }

  var status: Status.Sound { Status.Sound(capture: "\(sound.capture)", playback: "\(sound.playback)") }

  var cameraStatus: [Status.Camera] {
    cameras.map { device, camera in
      Status.Camera(
        id: "\(device)", name: "\(device)", state: "capturing", format: "I420", size: "\(camera.width)x\(camera.height)",
        rate: camera.framesPerSecond)
    }
  }

  func stop(on stage: Stage) {
    camera?.remove(stage.selfView)
    for camera in cameras { camera.thread.stop() }
    microphone?.stop()
    playout.stop()
  }
}
