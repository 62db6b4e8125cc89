import Base
import Foundation

// Drives a camera and the sound devices as calls do, by lines on the standard input, each answered by a line of JSON: what the tests on real kernel
// drivers look at.
//
//   device-trial [--camera NAME] [--size WxH] [--rate N] [--brightness SHARE] [--capture NAME] [--playback NAME] [--processing on]
//
//   status           how each device stands, and what it has counted
//   pictures N       of the next pictures: their numbers, and how old they were
//   picture FILE     the newest picture's planes, one after the other
//   loop on|off      what the microphone hears is played by the loudspeaker, as a call's other side would send it back at once
//   play FILE|off    plays a WAV file over and over
//   record FILE      keeps what the microphone hears from now on, as WAV
//   recorded         ends the recording
//   quit

@main
enum Main {
  static func main() {
    Log.install(level: .info) { level, text in FileHandle.standardError.write(Data("\(level): \(text)\n".utf8)) }
    guard let options = Options(CommandLine.arguments.dropFirst()) else {
      FileHandle.standardError.write(Data("usage: device-trial [OPTION VALUE]…\n".utf8))
      exit(64)
    }
    let (camera, sound) = (CameraTrial(options), SoundTrial(options))
    while let line = readLine(), line != "quit" {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      let answer: [String: Any]
      do {
        switch words.first {
        case "status": answer = sound.status.merging(camera.status) { $1 }
        default:
          let (command, value) = (words.first ?? "", words.last ?? "")
          answer = try camera.answer(command, value) ?? sound.answer(command, value) ?? ["error": "unknown"]
        }
      } catch {
        answer = ["error": "\(error)"]
      }
      FileHandle.standardOutput.write(json(answer) + Data("\n".utf8))
    }
    camera.stop()
    sound.stop()
  }

  private static func json(_ values: [String: Any]) -> Data {
    (try? JSONSerialization.data(withJSONObject: values, options: [.sortedKeys])) ?? Data("{}".utf8)
  }
}
