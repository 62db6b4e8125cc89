import Testing

@testable import PageExtension

@Suite struct PermissionsPolicyTests {
  static let own = "https://call.example"
  static let other = "https://other.example"

  /// An `allow` attribute, the frame's origin, that of its `src`, and whether camera and microphone are left to it.
  @Test(
    arguments: [
      ("", own, own, true, true),
      ("", other, other, false, false),
      ("camera", other, other, true, false),
      ("camera; microphone", other, other, true, true),
      ("CAMERA ;\n microphone", other, other, true, true),
      ("camera", "https://third.example", other, false, false),
      ("camera 'src'", other, other, true, false),
      ("camera *", "https://third.example", other, true, false),
      ("camera 'none'", own, own, false, true),
      ("camera 'self'", other, other, false, false),
      ("camera 'self'", own, other, true, true),
      ("camera https://other.example/", other, nil, true, false),
      ("camera https://other.example", "https://other.example.evil", nil, false, false),
      ("microphone https://a.example https://other.example", other, nil, false, true),
      ("camera 'none'; camera *", other, other, false, false),
      ("camera", own, nil, true, true),
      ("cameras *", other, other, false, false),
    ] as [(String, String, String?, Bool, Bool)])
  func allowAttribute(_ allow: String, _ origin: String, _ source: String?, _ camera: Bool, _ microphone: Bool) {
    let policy = PermissionsPolicy.ofFrame(
      allow: allow, allowsFullscreen: false, sourceOrigin: source, origin: origin, parentOrigin: Self.own, parent: .all)
    #expect(policy.camera == camera)
    #expect(policy.microphone == microphone)
  }

  @Test func nothingIsPassedOnThatTheParentLacks() {
    for parent in [PermissionsPolicy.none, PermissionsPolicy(camera: false, microphone: true, displayCapture: false, fullscreen: true)] {
      let policy = PermissionsPolicy.ofFrame(
        allow: "camera *; microphone *; display-capture *; fullscreen *", allowsFullscreen: true, sourceOrigin: nil, origin: Self.own,
        parentOrigin: Self.own, parent: parent)
      #expect(policy == parent)
    }
  }

  @Test func legacyFullscreenAttribute() {
    func policy(_ allow: String) -> PermissionsPolicy {
      .ofFrame(allow: allow, allowsFullscreen: true, sourceOrigin: Self.other, origin: Self.other, parentOrigin: Self.own, parent: .all)
    }
    #expect(policy("").fullscreen)
    #expect(!policy("fullscreen 'none'").fullscreen)
  }
}
