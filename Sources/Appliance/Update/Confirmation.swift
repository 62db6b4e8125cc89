import Base
import FoundationEssentials
import Glibc
import Net

/// `parlor confirm`: watches the box after a start, for root. A version on trial is marked good once the box is well, or given up; and what the rescue counts is forgotten.
public struct Confirmation {
  private let client: ControlClient
  private let patience: Interval
  /// RAUC's way to the boot loader.
  private static let bootChoice = "/usr/lib/parlor/rauc-boot"
  /// What RAUC knows of the slots.
  private static let installed = "/var/lib/parlor-system/rauc.status"
  /// How often the box's program could not be kept running, as `/usr/lib/parlor/rescue` counts.
  private static let rescues = "/var/lib/parlor-system/rescues"

  /// Watches the `parlor run` whose runtime folder is `runtime`. A new version may be unwell for `patience` in one start.
  public init(runtime: String, patience: Interval) { (client, self.patience) = (ControlClient(folder: runtime), patience) }

  /// Returns when the box is well.
  public func run() -> ExitCode {
    let isOnTrial = SystemCommand.run(Confirmation.bootChoice, ["is-on-trial"])
    if isOnTrial {
      record(.trial, SystemSlot.running)
      Log.notice("this version is on trial")
    } else if let slot = givenUp {
      record(.givenUp, slot)
      Log.error("the version in slot \(slot) was given up: it was never well")
    }
    var trial = SlotTrial(patience: patience, now: MonotonicClock.now())
    while true {
      switch trial.take(SlotTrial.Sight(status), now: MonotonicClock.now()) {
      case nil: sleep(2)
      case .good:
        unlink(Confirmation.rescues)
        guard isOnTrial else { return .ok }
        guard SystemCommand.run("/usr/bin/rauc", ["status", "mark-good"]) else { return .unavailable }
        record(.good, SystemSlot.running)
        Log.notice("this version is good: the box is well")
        return .ok
      case .restart:
        guard isOnTrial else {
          trial = SlotTrial(patience: patience, now: MonotonicClock.now())
          continue
        }
        Log.error("this version is no good: the box was not well for \(Int(patience.seconds)) s; it starts anew")
        return SystemCommand.run("/usr/bin/systemctl", ["reboot"]) ? .ok : .unavailable
      }
    }
  }

  /// The slot whose version has had all its starts and was never well.
  private var givenUp: String? {
    guard let result = try? ChildProcess.run(Confirmation.bootChoice, ["given-up"], limit: 64), result.code == 0 else { return nil }
    return result.text.split(whereSeparator: \.isWhitespace).first.map(String.init)
  }

  private func record(_ state: UpdateOutcome.State, _ slot: String?) {
    guard let slot else { return }
    let file = FileManager.default.contents(atPath: Confirmation.installed)
    let version = file.flatMap { SystemSlot.version(in: slot, statusFile: String(decoding: $0, as: UTF8.self)) }
    do { try UpdateOutcome(state: state, slot: slot, version: version, since: Date()).save() } catch { Log.warning("\(error)") }
  }

  private var status: Status? {
    guard let answer = try? client.perform(ControlRequest(verb: "status")), let text = try? JSON.text(answer) else { return nil }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return try? decoder.decode(Status.self, from: Data(text))
  }
}
