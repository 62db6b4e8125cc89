/// A stable name of something that is wrong: its area, a dot, and what. New ones may come, none changes its meaning.
public struct HealthCode: RawRepresentable, Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The name, such as `network.down`.
  public let rawValue: String

  /// The code with this name.
  public init(rawValue: String) { self.rawValue = rawValue }

  public var description: String { rawValue }
  public static func < (a: HealthCode, b: HealthCode) -> Bool { a.rawValue < b.rawValue }

  /// The configuration file cannot be used.
  public static let configurationInvalid = HealthCode(rawValue: "config.invalid")
  /// What was brought to set the box up is wrong; it goes on with what it had, if anything.
  public static let provisioningRefused = HealthCode(rawValue: "provision.refused")
  /// No interface has an address.
  public static let networkDown = HealthCode(rawValue: "network.down")
  /// An interface that ought to have a network has none.
  public static func connection(_ cause: ConnectionTrouble.Cause) -> HealthCode { HealthCode(rawValue: cause.rawValue) }
  /// The camera is not there.
  public static let cameraAbsent = HealthCode(rawValue: "camera.absent")
  /// Another program holds the camera.
  public static let cameraBusy = HealthCode(rawValue: "camera.busy")
  /// The camera is there and gives no pictures.
  public static let cameraFailed = HealthCode(rawValue: "camera.failed")
  /// The microphone is not there.
  public static let microphoneAbsent = HealthCode(rawValue: "microphone.absent")
  /// Another program holds the microphone.
  public static let microphoneBusy = HealthCode(rawValue: "microphone.busy")
  /// The microphone is there and gives no sound.
  public static let microphoneFailed = HealthCode(rawValue: "microphone.failed")
  /// The loudspeaker is not there.
  public static let speakerAbsent = HealthCode(rawValue: "speaker.absent")
  /// Another program holds the loudspeaker.
  public static let speakerBusy = HealthCode(rawValue: "speaker.busy")
  /// The loudspeaker is there and takes no sound.
  public static let speakerFailed = HealthCode(rawValue: "speaker.failed")
  /// The other side does not accept the token.
  public static let callUnauthorized = HealthCode(rawValue: "call.unauthorized")
  /// The other side forbids the call.
  public static let callForbidden = HealthCode(rawValue: "call.forbidden")
  /// There is no such room.
  public static let callNotFound = HealthCode(rawValue: "call.not-found")
  /// The server does not answer.
  public static let callUnreachable = HealthCode(rawValue: "call.unreachable")
  /// The server answered, but no media path was found in time.
  public static let callTimeout = HealthCode(rawValue: "call.timeout")
  /// An established call broke off.
  public static let callLost = HealthCode(rawValue: "call.lost")
  /// The other side's answer makes no sense.
  public static let callProtocol = HealthCode(rawValue: "call.protocol")
  /// The server's certificate is not trusted.
  public static let callTLS = HealthCode(rawValue: "call.tls")
  /// The name of the page's server is not known.
  public static let pageDNS = HealthCode(rawValue: "page.dns")
  /// The page's server does not answer.
  public static let pageConnect = HealthCode(rawValue: "page.connect")
  /// The page's server is not who it should be, or its encryption is not good enough.
  public static let pageTLS = HealthCode(rawValue: "page.tls")
  /// The page's server answered with a status of 400 or more.
  public static let pageHTTP = HealthCode(rawValue: "page.http")
  /// The page drew nothing within its time.
  public static let pageTimeout = HealthCode(rawValue: "page.timeout")
  /// The page's server sends from one address to the next, without end.
  public static let pageRedirects = HealthCode(rawValue: "page.redirects")
  /// The page is larger than any page.
  public static let pageSize = HealthCode(rawValue: "page.size")
  /// The page's process ended.
  public static let pageCrashed = HealthCode(rawValue: "page.crashed")
  /// The page does not respond.
  public static let pageHung = HealthCode(rawValue: "page.hung")
  /// The page used more memory than it may.
  public static let pageMemory = HealthCode(rawValue: "page.memory")
  /// The page could not be loaded for another reason.
  public static let pageFailed = HealthCode(rawValue: "page.failed")
  /// The program that runs the page is not there, or broke down.
  public static let pageHost = HealthCode(rawValue: "page.host")
  /// No monitor is connected.
  public static let displayAbsent = HealthCode(rawValue: "display.absent")
  /// The configured connector does not exist.
  public static let displayConnector = HealthCode(rawValue: "display.connector")
  /// A monitor cannot be driven as configured, and is driven otherwise.
  public static let displayMode = HealthCode(rawValue: "display.mode")
  /// Another program drives the display.
  public static let displayBusy = HealthCode(rawValue: "display.busy")
  /// This user may not drive the display.
  public static let displayDenied = HealthCode(rawValue: "display.denied")
  /// There is no graphics card, or its driver refuses.
  public static let displayFailed = HealthCode(rawValue: "display.failed")
  /// The clock is not set.
  public static let clockUnset = HealthCode(rawValue: "clock.unset")

  /// The part before the dot.
  public var area: String { String(rawValue.prefix { $0 != "." }) }

  /// Whether the box can do its work in spite of it.
  public var isBearable: Bool {
    ["camera", "microphone", "speaker", "clock", "provision", "wifi", "cable"].contains(area) || self == .displayAbsent
      || self == .displayMode
  }

  /// Why an interface has no network; nil: it is something else.
  var connection: ConnectionTrouble.Cause? { ConnectionTrouble.Cause(rawValue: rawValue) }

  /// Whether a page that ran broke down.
  var isBreakdown: Bool { [.pageCrashed, .pageHung, .pageMemory].contains(self) }

  /// A few words for whoever stands in front of the box.
  var wording: Wording {
    switch self {
    case .configurationInvalid: .wrongConfiguration
    case .networkDown: .noNetwork
    case _ where connection != nil: connection?.wording ?? .noNetwork
    case .cameraAbsent, .cameraBusy, .cameraFailed: .noCamera
    case .microphoneAbsent, .microphoneBusy, .microphoneFailed: .noMicrophone
    case .speakerAbsent, .speakerBusy, .speakerFailed: .noLoudspeaker
    case .callUnauthorized, .callForbidden: .notAllowedToCall
    case .callNotFound: .roomNotFound
    case .callUnreachable: .otherSideUnreachable
    case .callTimeout, .callLost: .connectionFailed
    case .displayAbsent: .noMonitor
    case .displayConnector: .noConnector
    case .displayMode: .monitorUnusable
    case .displayBusy: .displayInUse
    case .displayDenied: .displayForbidden
    case .displayFailed: .displayBroken
    case .clockUnset: .clockUnset
    case .provisioningRefused: .settingsRefused
    case .pageDNS: .pageServerUnknown
    case .pageConnect: .pageServerSilent
    case .pageTLS: .pageServerNotTrusted
    case .pageHTTP: .pageNotAvailable
    case .pageTimeout: .pageTooSlow
    case .pageRedirects: .pageInCircles
    case .pageSize: .pageTooLarge
    case .pageCrashed: .pageBrokeDown
    case .pageHung: .pageHangs
    case .pageMemory: .pageNeedsMemory
    case .pageHost: .pageCannotRun
    case .pageFailed: .pageNotLoaded
    default: area == "call" ? .callFailed : .somethingWrong
    }
  }

  /// What a call lacks, and what to do about it, for whoever has that call; nil: nothing.
  var caution: Wording? {
    switch self {
    case .cameraAbsent: .cameraMissing
    case .cameraBusy: .cameraInUse
    case .cameraFailed: .cameraBroken
    case .microphoneAbsent: .microphoneMissing
    case .microphoneBusy: .microphoneInUse
    case .microphoneFailed: .microphoneBroken
    case .speakerAbsent: .loudspeakerMissing
    case .speakerBusy: .loudspeakerInUse
    case .speakerFailed: .loudspeakerBroken
    case .provisioningRefused: .settingsRefused
    default: nil
    }
  }
}

extension ConnectionTrouble.Cause {
  /// A few words for whoever stands in front of the box.
  var wording: Wording {
    switch self {
    case .firmware: .wifiFirmwareMissing
    case .device: .wifiDeviceMissing
    case .notFound: .wifiNotInReach
    case .password: .wifiPasswordWrong
    case .login, .cableLogin: .networkLoginRefused
    case .address: .networkWithoutAddress
    case .failed: .wifiFailed
    }
  }
}
