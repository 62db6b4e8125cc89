import Base
import FoundationEssentials
import Glibc
import Net

/// `parlor confirm`: watches the box after a start, for root. A version on trial is marked good once the box is well, or given up; and what the rescue counts is forgotten.
public struct Confirmation {
  private let client: ControlClient
  /// RAUC's way to the boot loader.
  private static let bootChoice = "/usr/lib/parlor/rauc-boot"
  /// How often the box's program could not be kept running, as `/usr/lib/parlor/rescue` counts.
  private static let rescues = "/var/lib/parlor-system/rescues"

  /// Watches the `parlor run` whose runtime folder is `runtime`.
  public init(runtime: String) { client = ControlClient(folder: runtime) }

  /// Returns when the box is well.
  public func run() -> ExitCode {
    let isOnTrial = SystemCommand.run(Confirmation.bootChoice, ["is-on-trial"])
    if isOnTrial { Log.notice("this version is on trial") }
    var trial = SlotTrial(now: MonotonicClock.now())
    while true {
      switch trial.take(SlotTrial.Sight(status), now: MonotonicClock.now()) {
      case nil: sleep(2)
      case .good:
        unlink(Confirmation.rescues)
        guard isOnTrial else { return .ok }
        guard SystemCommand.run("/usr/bin/rauc", ["status", "mark-good"]) else { return .unavailable }
        Log.notice("this version is good: the box is well")
        return .ok
      case .restart:
        guard isOnTrial else {
          trial = SlotTrial(now: MonotonicClock.now())
          continue
        }
        Log.error("this version is no good: the box was not well for \(Int(SlotTrial.patience.seconds)) s; it starts anew")
        return SystemCommand.run("/usr/bin/systemctl", ["reboot"]) ? .ok : .unavailable
      }
    }
  }

  private var status: Status? {
    guard let answer = try? client.perform(ControlRequest(verb: "status")), let text = try? JSON.text(answer) else { return nil }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return try? decoder.decode(Status.self, from: Data(text))
  }
}
