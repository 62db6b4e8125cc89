import Base
import Testing

@testable import Stage

@Suite struct OutputPlanTests {
  private typealias C = TestCards

  private static func plan(
    _ connectors: [ConnectorSnapshot], _ preferences: DisplayPreferences = DisplayPreferences(), crtcs: Int = 2,
    rejected: [UInt32: Set<Timings>] = [:]
  ) -> OutputPlan {
    OutputPlan(C.card(connectors, crtcs: crtcs), preferences: preferences, rejected: rejected)
  }

  // MARK: Which monitors

  @Test func theFirstConnectedMonitorLeadsAndTheOthersRepeatItsPicture() {
    let plan = Self.plan([
      C.connector("DP-1", 1, .disconnected, modes: []), C.connector("HDMI-A-1", 2),
      C.connector("HDMI-A-2", 3, modes: [C.mode(2560, 1440, 60, isPreferred: true), C.mode(1920, 1080, 60)]),
    ])
    #expect(plan.outputs.map(\.name) == ["HDMI-A-1", "HDMI-A-2"])
    #expect(plan.outputs.map { "\($0.mode)" } == ["1920x1080@60", "1920x1080@60"])
    #expect(plan.outputs.map(\.source) == [.preferred, .mirrored])
    #expect(plan.primary?.name == "HDMI-A-1" && plan.problems.isEmpty)
    #expect(Set(plan.outputs.map(\.crtc.id)).count == 2)
  }

  @Test func oneMonitorIsEnoughWhereTheSiteSaysSo() {
    let plan = Self.plan([C.connector("DP-1", 1), C.connector("DP-2", 2)], DisplayPreferences(outputs: .one))
    #expect(plan.outputs.map(\.name) == ["DP-1"])
  }

  @Test func aMonitorWithoutTheFirstOnesSizeKeepsItsOwn() {
    let plan = Self.plan([C.connector("DP-1", 1), C.connector("VGA-1", 2, modes: [C.mode(1280, 1024, 60, isPreferred: true)])])
    #expect(plan.outputs.map { "\($0.mode)" } == ["1920x1080@60", "1280x1024@60.02"])
    #expect(plan.outputs.last?.source == .preferred)
  }

  @Test func aConnectorByNameIsTheOnlyOneWhateverTheOrder() {
    let plan = Self.plan([C.connector("DP-1", 1), C.connector("HDMI-A-1", 2)], DisplayPreferences(connector: "HDMI-A-1"))
    #expect(plan.outputs.map(\.name) == ["HDMI-A-1"])
  }

  @Test func anAbsentConnectorIsSaidLoudlyAndNoneTakesItsPlace() {
    let plan = Self.plan(
      [C.connector("DP-1", 1, .disconnected), C.connector("HDMI-A-1", 2)], DisplayPreferences(connector: "HDMI-A-2"))
    #expect(plan.outputs.isEmpty)
    #expect(plan.problems.map { "\($0)" } == ["connector HDMI-A-2 is not there; connected: HDMI-A-1; present: DP-1, HDMI-A-1"])
    #expect(plan.hasMistakes)
  }

  @Test func aNamedConnectorWithoutMonitorIsWaitedFor() {
    let plan = Self.plan([C.connector("DP-1", 1, .disconnected), C.connector("HDMI-A-1", 2)], DisplayPreferences(connector: "DP-1"))
    #expect(plan.outputs.isEmpty)
    #expect(plan.problems == [.disconnected(connector: "DP-1")])
    #expect(!plan.hasMistakes)
  }

  @Test func noMonitorAtAllIsWaitedFor() {
    let plan = Self.plan([C.connector("DP-1", 1, .disconnected, modes: [])])
    #expect(plan.outputs.isEmpty && plan.problems == [.nothingConnected])
    #expect(!plan.hasMistakes)
    #expect(Self.plan([], crtcs: 0).problems == [.nothingConnected])
  }

  @Test func whereNothingIsConnectedForSureAnUnknownMonitorIsTaken() {
    let unknown = C.connector("VGA-1", 1, .unknown, modes: C.unknown, hasEDID: false)
    #expect(Self.plan([unknown, C.connector("HDMI-A-1", 2)]).outputs.map(\.name) == ["HDMI-A-1"])
    #expect(Self.plan([unknown, C.connector("HDMI-A-1", 2, .disconnected)]).outputs.map(\.name) == ["VGA-1"])
    #expect(Self.plan([unknown, C.connector("HDMI-A-1", 2)], DisplayPreferences(connector: "VGA-1")).outputs.map(\.name) == ["VGA-1"])
  }

  @Test func writebackIsNeverAMonitor() {
    var writeback = C.connector("Writeback-1", 1)
    writeback.isWriteback = true
    #expect(Self.plan([writeback]).problems == [.nothingConnected])
    writeback.status = .unknown
    #expect(Self.plan([writeback]).outputs.isEmpty)
    #expect(Self.plan([writeback], DisplayPreferences(connector: "Writeback-1")).hasMistakes)
  }

  // MARK: Which mode

  @Test(arguments: [
    ("1920x1080@60", "1920x1080@60"), ("1920x1080@59.94", "1920x1080@59.94"), ("1920x1080@50", "1920x1080@50"), ("1280x720", "1280x720@60"),
    ("3840x2160", "3840x2160@30"), ("1920x1080", "1920x1080@60"), ("1280x720@49.8", "1280x720@50"),
  ])
  func theConfiguredModeIsTakenWhereItIsOffered(_ text: String, _ expected: String) {
    let plan = Self.plan([C.connector("HDMI-A-1", 1)], DisplayPreferences(mode: RequestedMode(text)))
    #expect(plan.primary?.mode.description == expected)
    #expect(plan.primary?.source == .configured && plan.problems.isEmpty)
  }

  @Test func ofAKnownSizeTheNearestRateIsTakenAndSaid() {
    let plan = Self.plan([C.connector("HDMI-A-1", 1)], DisplayPreferences(mode: RequestedMode("3840x2160@60")))
    #expect(plan.primary?.mode.description == "3840x2160@30")
    #expect(plan.problems.map { "\($0)" } == ["the monitor at HDMI-A-1 does not offer 3840x2160@60; 3840x2160@30 is used"])
  }

  @Test func aSizeThatAMonitorDoesNotOfferGivesWayToWhatItPrefers() {
    let plan = Self.plan([C.connector("HDMI-A-1", 1)], DisplayPreferences(mode: RequestedMode("2560x1440@60")))
    #expect(plan.primary?.mode.description == "1920x1080@60")
    #expect(plan.primary?.source == .preferred)
    #expect(plan.problems.map { "\($0)" } == ["the monitor at HDMI-A-1 does not offer 2560x1440@60; 1920x1080@60 is used"])
  }

  @Test func interlacedModesAreTakenOnlyWhereNothingElseHasTheSize() {
    let both = [C.mode(1920, 1080, 30, flags: .interlaced), C.mode(1920, 1080, 50)]
    let request = DisplayPreferences(mode: RequestedMode("1920x1080@60"))
    #expect(Self.plan([C.connector("HDMI-A-1", 1, modes: both)], request).primary?.mode.isInterlaced == false)
    #expect(Self.plan([C.connector("HDMI-A-1", 1, modes: [both[0]])], request).primary?.mode.isInterlaced == true)
  }

  @Test func aMonitorThatSaysNothingGetsTheConfiguredModeThoughItIsNotListed() {
    let mute = C.connector("HDMI-A-1", 1, modes: C.unknown, hasEDID: false)
    let plan = Self.plan([mute], DisplayPreferences(mode: RequestedMode("1920x1080@60")))
    #expect(plan.primary?.mode.timings == StandardTimings.timings(width: 1920, height: 1080, rate: 60))
    #expect(plan.primary?.source == .configured && plan.problems.isEmpty)
    // At a rate that only computed timings have.
    #expect(Self.plan([mute], DisplayPreferences(mode: RequestedMode("800x600@30"))).primary?.source == .configured)
  }

  @Test func aMonitorThatSaysNothingGetsTheLargestModeAtAnOrdinaryRateOtherwise() {
    let plan = Self.plan([C.connector("HDMI-A-1", 1, modes: C.unknown, hasEDID: false)])
    #expect(plan.primary?.mode.description == "1024x768@60")
    #expect(plan.primary?.source == .fallback)
    #expect(Self.plan([C.connector("HDMI-A-1", 1, modes: [], hasEDID: false)]).primary?.mode.description == "1024x768@60")
  }

  @Test func aBuiltInPanelKeepsItsOnlyMode() {
    let panel = C.connector("DSI-1", 1, modes: [C.mode(800, 480, 60, isPreferred: true)], hasEDID: false)
    let plan = Self.plan([panel], DisplayPreferences(mode: RequestedMode("1920x1080")))
    #expect(plan.primary?.mode.width == 800)
    #expect(plan.primary?.source == .preferred && plan.problems.count == 1)
  }

  @Test func aMonitorWithoutUsableModesIsSaidAndTheNextOneLeads() {
    let empty = C.connector("DP-1", 1, modes: [])
    let plan = Self.plan([empty, C.connector("DP-2", 2)])
    #expect(plan.outputs.map(\.name) == ["DP-2"] && plan.outputs[0].source == .preferred)
    #expect(plan.problems.map { "\($0)" } == ["the monitor at DP-1 offers no mode that can be used"])
    let stereo = C.connector("DP-1", 1, modes: [C.mode(1920, 1080, 60, flags: Timings.Flags(rawValue: 1 << 14))])
    #expect(Self.plan([stereo]).outputs.isEmpty)
  }

  @Test func whatADriverRefusesIsReplacedByTheNextBestUntilNothingIsLeft() {
    let connector = C.connector("HDMI-A-1", 1)
    var rejected: Set<Timings> = []
    var sizes: [String] = []
    while let output = Self.plan([connector], rejected: [1: rejected]).primary {
      #expect(rejected.insert(output.mode.timings).inserted)
      sizes.append("\(output.mode)")
    }
    #expect(sizes.prefix(3) == ["1920x1080@60", "3840x2160@30", "1920x1080@59.94"])
    #expect(rejected.count == connector.modes.count)
    #expect(Self.plan([connector], rejected: [1: rejected]).problems == [.noMode(connector: "HDMI-A-1")])
    // A made mode that the driver refuses gives way to what the kernel lists.
    let mute = C.connector("HDMI-A-2", 2, modes: C.unknown, hasEDID: false)
    let wish = DisplayPreferences(mode: RequestedMode("1920x1080@60"))
    let refused = Self.plan([mute], wish, rejected: [2: [StandardTimings.timings(width: 1920, height: 1080, rate: 60)]])
    #expect(refused.primary?.mode.description == "1024x768@60" && refused.problems.count == 1)
  }

  // MARK: Which CRTC

  @Test func aConnectorKeepsTheCRTCItHas() {
    let plan = Self.plan([C.connector("DP-1", 1, crtc: 41), C.connector("DP-2", 2, crtc: 40)])
    #expect(plan.outputs.map(\.crtc.id) == [41, 40])
    // A monitor that comes takes the one that is free.
    #expect(Self.plan([C.connector("DP-1", 1), C.connector("DP-2", 2, crtc: 40)]).outputs.map(\.crtc.id) == [41, 40])
  }

  @Test func aConnectorGivesItsCRTCUpWhereAnotherHasNoChoice() {
    let plan = Self.plan([C.connector("DP-1", 1, crtcs: 0b01), C.connector("DP-2", 2, crtcs: 0b11, crtc: 40)])
    #expect(plan.outputs.map(\.crtc.id) == [40, 41])
  }

  @Test func whereCRTCsAreShortTheFirstMonitorsAreServed() {
    let plan = Self.plan([C.connector("DP-1", 1), C.connector("DP-2", 2, crtc: 40)], crtcs: 1)
    #expect(plan.outputs.map(\.name) == ["DP-1"])
    #expect(plan.problems == [.noCRTC(connector: "DP-2")])
    // One that nothing can drive does not lead.
    #expect(Self.plan([C.connector("DP-1", 1, crtcs: 0), C.connector("DP-2", 2)]).primary?.name == "DP-2")
  }

  /// Random cards, against trying all assignments.
  @Test func noAssignmentServesMoreOrChangesLess() {
    var random = RandomSource(seed: 7)
    for _ in 0..<300 {
      let crtcs = (0..<Int.random(in: 1...4, using: &random)).map { CRTCSnapshot(id: UInt32(40 + $0), index: $0) }
      let connectors = (0..<Int.random(in: 1...4, using: &random)).map { index in
        C.connector(
          "DP-\(index)", UInt32(index), crtcs: UInt32.random(in: 0...15, using: &random),
          crtc: Bool.random(using: &random) ? 40 + UInt32.random(in: 0...3, using: &random) : nil)
      }
      func score(_ assignment: [UInt32?]) -> [Int] {
        assignment.map { $0 == nil ? 0 : 1 } + [zip(assignment, connectors).count { $0 != nil && $0 == $1.crtc }]
      }
      var best: [Int] = []
      func tryAll(_ partial: [UInt32?]) {
        guard partial.count < connectors.count else {
          let score = score(partial)
          if best.isEmpty || best.lexicographicallyPrecedes(score) { best = score }
          return
        }
        tryAll(partial + [nil])
        for crtc in crtcs where crtc.mask & connectors[partial.count].possibleCRTCs != 0 && !partial.contains(crtc.id) {
          tryAll(partial + [crtc.id])
        }
      }
      tryAll([])
      let found = CRTCMatching(connectors, crtcs: crtcs).assignment
      #expect(score(found.map { $0?.id }) == best)
      #expect(Set(found.compactMap { $0 }).count == found.compactMap { $0 }.count)
    }
  }
}

extension OutputPlan {
  fileprivate var hasMistakes: Bool { problems.contains { $0.isMistake } }
}
