import Base
import Call
import Camera
import Frames
import Net
import Sound
import Stage

/// The box's camera, microphone and loudspeaker, as the configuration names them.
final class BoxMedia: Sendable {
  /// Why a configured device cannot be used.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  let camera: CameraThread?
  let microphone: MicrophoneThread?
  let playout: PlayoutThread
  let trust: TrustStore
  private let cameraDevice: Configuration.Device
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
    let settings = configuration.cameras.first ?? Configuration.Camera()
    cameraDevice = settings.device
    sound = configuration.sound
    switch settings.device {
    case .synthetic:
      camera = CameraThread(source: SyntheticCamera(width: settings.width, height: settings.height, framesPerSecond: settings.rate))
    case .file(let path): camera = CameraThread(source: try Y4MFile(path: path))
    case .none: camera = nil
    case .named(let name): throw Failure(description: "camera \(name): this build has the synthetic camera and Y4M files only")
    }
    do {
      switch sound.capture {
      case .synthetic: microphone = MicrophoneThread(source: SyntheticMicrophone())
      case .file(let path): microphone = MicrophoneThread(source: try WAVFile(path: path))
      case .none: microphone = nil
      case .named(let name): throw Failure(description: "sound capture \(name): this build has the synthetic microphone and WAV files only")
      }
      switch sound.playback {
      case .file(let path):
        let recording = Recording(try WAVWriter(path: path))
        self.recording = recording
        playout = PlayoutThread { block, _ in
          do throws(SoundError) { try recording.file.write(block) } catch { Log.error("\(error)") }
        }
      case .named(let name): throw Failure(description: "sound playback \(name): this build plays into WAV files only")
      case .none, .synthetic:
        recording = nil
        playout = PlayoutThread { _, _ in }
      }
    } catch {
      camera?.stop()
      throw error
    }
  }

  /// Puts the camera's pictures on the screen, or takes them off.
  func showSelfView(on stage: Stage?) {
    guard let camera, let stage else { return }
    camera.add(stage.selfView) { stage.frameArrived() }
  }

  var status: Status.Sound { Status.Sound(capture: "\(sound.capture)", playback: "\(sound.playback)") }

  var cameraStatus: Status.Camera? {
    guard let camera else { return nil }
    return Status.Camera(
      id: "\(cameraDevice)", name: "\(cameraDevice)", state: "capturing", format: "I420", size: "\(camera.width)x\(camera.height)",
      rate: camera.framesPerSecond)
  }

  func stop(on stage: Stage) {
    camera?.remove(stage.selfView)
    camera?.stop()
    microphone?.stop()
    playout.stop()
  }
}
