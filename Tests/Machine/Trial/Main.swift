import Foundation

// Drives a stage alone, by lines on the standard input, each answered by a line of JSON: what the tests on real kernel drivers look at.
//
//   stage-trial [--stage kms|headless:WxH] [--card FILE] [--connector NAME] [--mode WxH[@R]] [--rotate N] [--outputs all|one] [--gamma N]
//               [--modesetting atomic|legacy] [--memory FILE]
//
//   scene black|call|page|window|static   shows one of a few known pictures; a window is a page without anything translucent
//   scene device                   frames of the display's size in the memory of the card at --memory, which holds another picture than they do
//   next [finished|unfinished]     the next of these frames; with a fence that has to be waited for
//   finish                         makes the unfinished fence ready
//   picture FILE                   writes what is to be seen, composed by the processor, as PNG
//   status                         which monitors show it, how many flips there were
//   blank on|off                   switches the monitors off, and on
//   mode WxH[@R]|preferred         rotate N    outputs all|one    changes how it is shown
//   play SECONDS                   30 frames a second of video; tells what became of them
//   quit

@main
enum Main {
  static func main() {
    let trial = Trial(CommandLine.arguments.dropFirst())
    while let line = readLine() {
      guard let answer = trial.answer(line) else { break }
      FileHandle.standardOutput.write(Data((answer + "\n").utf8))
    }
    trial.stop()
  }
}
