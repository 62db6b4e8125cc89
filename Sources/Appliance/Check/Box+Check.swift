import FoundationEssentials
import Stage

// The self-test of a box that runs.
extension Box {
  /// Tests the devices while they are in use: a call goes on, and hears the chirp.
  func checkDevices() -> [CheckItem] {
    let checker = DeviceChecker(
      configuration: configuration, media: media, network: network, certificate: certificate,
      volume: notices.withLock { $0.volume }, screen: CheckItem(screen: Status.Screen(stage, flipsPerSecond: 0)))
    return Box.wait { await checker.run() }
  }
}

extension CheckItem {
  /// What a running box says of its screen.
  init(screen: Status.Screen) {
    if let problem = screen.problem {
      self.init("screen", .failed, problem)
    } else if screen.output == "headless" {
      self.init("screen", .skipped, "the picture stays in memory (headless \(screen.mode))")
    } else {
      self.init("screen", .ok, screen.summary)
    }
  }

  /// What the kernel says of monitors while no box drives them: the connectors below `folder` and their states.
  init(connectorsIn folder: String) {
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.contains("-") }.sorted()
    let connected = names.filter { name in
      FileManager.default.contents(atPath: "\(folder)/\(name)/status").map { String(decoding: $0, as: UTF8.self).hasPrefix("connected") }
        ?? false
    }
    if names.isEmpty {
      self.init("screen", .failed, "there is no graphics card")
    } else if connected.isEmpty {
      self.init("screen", .failed, "no monitor is connected")
    } else {
      // card0-HDMI-A-1 is HDMI-A-1 of the first card.
      self.init("screen", .ok, "connected: " + connected.map { $0.drop { $0 != "-" }.dropFirst() }.joined(separator: ", "))
    }
  }
}
