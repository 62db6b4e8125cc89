import BridgeMessages
import Testing

@testable import PageSession

/// Who may use calls, and who may capture: as tables.
struct AdmissionTests {
  private let admission: Admission = {
    var settings = PageSettings(url: "https://Calls.example.org:443/room?x=1")
    settings.allowedOrigins = ["https://login.example.org", "http://localhost:8080"]
    return Admission(settings: settings) { origin in
      switch origin {
      case "https://calls.example.org": .init(camera: true, microphone: true)
      case "https://login.example.org": .init(camera: false, microphone: true)
      case "https://granted.example.org": .init(camera: true, microphone: true)
      default: .init()
      }
    }
  }()

  @Test(arguments: [
    ("https://calls.example.org", true, true), ("https://login.example.org", true, true), ("http://localhost:8080", true, true),
    ("https://calls.example.org", false, false), ("http://calls.example.org", true, false), ("https://calls.example.org:8443", true, false),
    ("https://granted.example.org", true, false), ("https://evil.example.org", true, false), ("null", true, false), ("", true, false),
    ("https://", true, false), ("file://", true, false), ("https://calls.example.org.evil.org", true, false),
    ("https://calls.example.org/", true, false), ("https://calls.example.org@evil.org", true, false),
  ])
  func admitsTheCallsOriginAndTheAllowedOnes(origin: String, isSecure: Bool, isAdmitted: Bool) {
    #expect(admission.admits(DocumentOpen(document: 1, origin: origin, url: origin, isSecure: isSecure)) == isAdmitted)
  }

  /// Origin, main frame's origin, policy (camera, microphone), and what may be captured.
  @Test(arguments: [
    // The call's own page.
    ("https://calls.example.org", "https://calls.example.org", (true, true), (true, true)),
    // A page whose permissions policy takes the camera away from itself.
    ("https://calls.example.org", "https://calls.example.org", (false, true), (false, true)),
    // A frame of another origin in the call's page: with what `allow` delegates, and with nothing.
    ("https://login.example.org", "https://calls.example.org", (true, true), (true, true)),
    ("https://login.example.org", "https://calls.example.org", (true, false), (true, false)),
    ("https://login.example.org", "https://calls.example.org", (false, false), (false, false)),
    // The call's page, framed by one that has less, or nothing: the page on the screen decides.
    ("https://calls.example.org", "https://login.example.org", (true, true), (false, true)),
    ("https://calls.example.org", "https://evil.example.org", (true, true), (false, false)),
    ("https://calls.example.org", "null", (true, true), (false, false)),
    // An admitted page without a grant.
    ("http://localhost:8080", "http://localhost:8080", (true, true), (false, false)),
  ])
  func capturesWithTheMainFramesGrantAndTheDocumentsPolicy(
    origin: String, topOrigin: String, policy: (Bool, Bool), expected: (Bool, Bool)
  ) {
    let document = DocumentOpen(
      document: 1, origin: origin, topOrigin: topOrigin, url: origin, isMainFrame: origin == topOrigin,
      policy: .init(camera: policy.0, microphone: policy.1))
    #expect(admission.grant(document) == .init(camera: expected.0, microphone: expected.1))
  }
}
