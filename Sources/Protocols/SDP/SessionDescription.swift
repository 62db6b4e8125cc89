/// A session description as a value (RFC 8866, with what RFC 8829 section 5 needs on top).
///
/// What a peer writes and this room does not know is kept in `unknown` and `otherLines`, and written back where it is harmless.
public struct SessionDescription: Sendable, Hashable {
  /// The line `o=`.
  public var origin: Origin
  /// The line `s=`.
  public var sessionName = "-"
  /// The line `c=`, for media without one.
  public var connection: Connection?
  public var bandwidth: [Bandwidth] = []
  /// The values of the lines `t=`.
  public var times = ["0 0"]
  public var groups: [Group] = []
  public var isICELite = false
  public var iceOptions: [String] = []
  /// `a=ice-ufrag`, for media without one.
  public var usernameFragment: String?
  /// `a=ice-pwd`, for media without one.
  public var password: String?
  /// `a=fingerprint`, for media without one.
  public var fingerprints: [CertificateFingerprint] = []
  /// `a=setup`, for media without one.
  public var setup: Setup?
  /// `a=extmap-allow-mixed` for all media (RFC 8285 section 6).
  public var extmapAllowMixed = false
  /// The value of `a=msid-semantic`, such as `WMS *`.
  public var msidSemantic: String?
  /// The direction of media that do not say: it is copied into those that are parsed.
  public var direction: Direction?
  /// Attributes without a meaning here, in order.
  public var unknown: [Attribute] = []
  /// Lines of other types, in order.
  public var otherLines: [Line] = []
  public var media: [MediaDescription] = []

  /// A description without media.
  public init(origin: Origin) { self.origin = origin }

  // MARK: What holds for one of the media

  /// The media description with this `a=mid`.
  public func media(mid: String) -> MediaDescription? { media.first { $0.mid == mid } }
  /// The first `BUNDLE` group.
  public var bundle: Group? { groups.first { $0.semantics == "BUNDLE" } }
  /// `a=ice-ufrag`, from the session where the media description has none.
  public func usernameFragment(of media: MediaDescription) -> String? { media.usernameFragment ?? usernameFragment }
  /// `a=ice-pwd`, from the session where the media description has none.
  public func password(of media: MediaDescription) -> String? { media.password ?? password }
  /// `a=ice-options`, from the session where the media description has none.
  public func iceOptions(of media: MediaDescription) -> [String] { media.iceOptions.isEmpty ? iceOptions : media.iceOptions }
  /// `a=fingerprint`, from the session where the media description has none.
  public func fingerprints(of media: MediaDescription) -> [CertificateFingerprint] {
    media.fingerprints.isEmpty ? fingerprints : media.fingerprints
  }
  /// `a=setup`, from the session where the media description has none.
  public func setup(of media: MediaDescription) -> Setup? { media.setup ?? setup }
  /// `c=`, from the session where the media description has none.
  public func connection(of media: MediaDescription) -> Connection? { media.connection ?? connection }
  /// Whether one- and two-byte header extensions may be mixed.
  public func extmapAllowMixed(of media: MediaDescription) -> Bool { media.extmapAllowMixed || extmapAllowMixed }
}
