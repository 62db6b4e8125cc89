import Base
import FoundationEssentials
import Glibc
import Net
import Testing

@testable import Appliance
@testable import Stage

/// Every notice as the box shows it, in each language and on screens of several shapes. `PARLOR_GALLERY=DIR` has the pictures saved as PNG.
@Suite struct NoticeGalleryTests {
  private static let screens = [(1_920, 1_080), (1_080, 1_920), (640, 360), (1_280, 1_024)]

  private static func health(_ change: (inout Health) -> Void) -> Health {
    let now = Date(timeIntervalSince1970: 0)
    var health = Health(now: now)
    health.start(isProvisioned: true, now: now)
    change(&health)
    return health
  }

  private static let interfaces = [
    NetworkInterface(name: "eth0", state: .withoutLink), NetworkInterface(name: "eth1", state: .withoutAddress),
    NetworkInterface(name: "wlan0", isWireless: true, state: .withoutLink), NetworkInterface(name: "wwan0", state: .off),
  ]

  static func notices(in language: Language) -> [(name: String, notice: Notice)] {
    let now = Date(timeIntervalSince1970: 0)
    func notice(_ health: Health, retry: Int? = nil) -> Notice? {
      health.notice(name: "Lobby, ground floor", language: language, interfaces: { interfaces }, retry: retry)
    }
    var unprovisioned = Health(now: now)
    unprovisioned.start(isProvisioned: false, now: now)
    let identification = Identification(
      name: "Lobby", place: "Main building, ground floor, left of the reception", serial: "PX-2041-0007", version: "0.1.0",
      interfaces: [
        NetworkInterface(
          name: "eth0", state: .ready,
          addresses: ["192.168.178.201", "2001:db8:85a3:8d3:1319:8a2e:370:7348"].compactMap { IPAddress($0) }),
        NetworkInterface(name: "wlan0", isWireless: true, state: .ready, addresses: [IPAddress("10.0.0.17")!]),
      ])
    let all: [(String, Notice?)] = [
      ("starting", notice(Health(now: now))), ("unprovisioned", notice(unprovisioned)),
      ("connecting", notice(health { $0.setCall(.connecting, now: now) })),
      ("offline", notice(health { $0.raise(.networkDown, "no interface has an address", now: now) })),
      (
        "error",
        notice(
          health {
            $0.raise(.pageTLS, "The certificate of calls.example.org is signed by an authority that is not trusted", now: now)
          }, retry: 42)
      ), ("identify", identification.notice(in: language)),
    ]
    return all.compactMap { name, notice in notice.map { (name, $0) } }
  }

  @Test(arguments: Language.allCases) func everyNoticeIsReadableOnEveryScreen(language: Language) throws {
    let notices = NoticeGalleryTests.notices(in: language)
    #expect(notices.count == 6)
    for (width, height) in NoticeGalleryTests.screens {
      for (name, notice) in notices {
        let stage = Stage(width: width, height: height)
        if notice.kind == .identify { stage.identify(notice) } else { stage.setNotice(notice) }
        stage.present(now: .zero)
        try NoticeGalleryTests.save(stage, "\(name)-\(language.rawValue)-\(width)x\(height)")
        // Capital letters of a thirtieth of the screen's height, and nothing cut off or made smaller.
        let style = SheetStyle(width: width, height: height, theme: Notice.Theme())
        let fitness = NoticeSheet.measure(NoticeSheet.Content(notice: notice, secondsLeft: notice.countdown, style: style))
        #expect(fitness.scale == 1 && !fitness.isCut, "\(name) on \(width)x\(height): \(fitness)")
        #expect(fitness.width <= Double(width) && fitness.height <= Double(height), "\(name) on \(width)x\(height): \(fitness)")
      }
    }
  }

  @Test(arguments: Language.allCases) func theInvitationStaysOnItsLineOnEveryScreen(language: Language) throws {
    let text = Wording.touchToCall.text(in: language)
    for (width, height) in NoticeGalleryTests.screens {
      let style = SheetStyle(width: width, height: height, theme: Notice.Theme())
      let lineHeight = Int(style.unit / 21)
      let sheet = try #require(InvitationSheet.draw(InvitationSheet.Content(text: text, isSmall: true, style: style)))
      #expect((lineHeight...3 * lineHeight).contains(sheet.bitmap.height) && sheet.bitmap.width < width)
      let fitness = NoticeSheet.measure(NoticeSheet.Content(notice: Notice(kind: .information, title: text), style: style))
      #expect(fitness.scale == 1 && !fitness.isCut && fitness.width <= Double(width))
      let stage = Stage(width: width, height: height)
      stage.setInvitation(text)
      stage.present(now: .zero)
      try NoticeGalleryTests.save(stage, "invitation-\(language.rawValue)-\(width)x\(height)")
      stage.setIdlePicture(try Artwork(png: stage.screenshot()))
      stage.present(now: .zero)
      try NoticeGalleryTests.save(stage, "invitation-idle-\(language.rawValue)-\(width)x\(height)")
    }
  }

  @Test(arguments: Language.allCases) func cautionsLeaveTheCornersFree(language: Language) throws {
    let cautions: [Wording] = [.cameraBroken, .microphoneBroken, .loudspeakerBroken]
    for (width, height) in NoticeGalleryTests.screens {
      let stage = Stage(width: width, height: height)
      stage.setCameraMark(true)
      stage.present(now: .zero)
      let plain = stage.picture()
      stage.setCautions(cautions.map { $0.text(in: language) })
      stage.present(now: .zero)
      try NoticeGalleryTests.save(stage, "cautions-\(language.rawValue)-\(width)x\(height)")
      let area = Rectangle(x: width / 10, y: 0, width: width * 8 / 10, height: height / 3)
      #expect(stage.picture() != plain && stage.paintedAreas.allSatisfy(area.contains), "\(width)x\(height): \(stage.paintedAreas)")
      stage.setCautions([])
      stage.present(now: .zero)
      #expect(stage.picture() == plain)
    }
  }

  @Test func everythingAtOnceFindsItsPlace() throws {
    for (width, height) in NoticeGalleryTests.screens {
      let stage = Stage(width: width, height: height)
      stage.setNotice(NoticeGalleryTests.notices(in: .german)[4].notice)
      stage.showVolume(percent: 70, isMuted: false)
      stage.setCameraMark(true)
      var figures = OverlayFigures()
      stage.setFigures(figures.lines(OverlayFigures.Sample(time: .zero, flips: 0, frames: 0)))
      stage.present(now: .zero)
      let all = stage.picture()
      try NoticeGalleryTests.save(stage, "all-\(width)x\(height)")
      stage.showVolume(percent: 35, isMuted: true)
      stage.present(now: .zero)
      // The volume is at the lower edge, and nothing but the volume changed.
      let muted = stage.picture()
      #expect(muted != all && muted.pixels.prefix(width * height * 2) == all.pixels.prefix(width * height * 2))
      try NoticeGalleryTests.save(stage, "muted-\(width)x\(height)")
    }
  }

  private static func save(_ stage: Stage, _ name: String) throws {
    guard let folder = unsafe getenv("PARLOR_GALLERY") else { return }
    try Data(stage.screenshot()).write(to: URL(fileURLWithPath: "\(unsafe String(cString: folder))/\(name).png"))
  }
}
