import Stage

extension ConfigurationDescription {
  /// Whom to call, and who may do what meanwhile.
  static let call: [ConfigurationTable] = [
    ConfigurationTable(
      "call", "Whom to call: a web page that makes the call, or a direct call by WHIP and WHEP.",
      [
        ConfigurationKey(
          "url", url, otherwise: "`whip` or `whep` says whom to call", example: "\"https://calls.example.org/room/lobby?box=${serial}\"",
          "the page that makes the call. `${serial}` and `${name}` come from `[identity]`, `${mac}` is the hardware address of the first interface, twelve hexadecimal digits"
        ),
        ConfigurationKey(
          "whip", url, otherwise: "nothing is sent", example: "\"https://sfu.example.org/whip/${serial}\"",
          "where a direct call's sound and pictures go"),
        ConfigurationKey(
          "whep", url, otherwise: "nothing is received", example: "\"https://sfu.example.org/whep/desk\"",
          "where a direct call's sound and pictures come from"),
        ConfigurationKey(
          "token", .text(form: "a text"), otherwise: "not set", isSecret: true, example: "\"…\"", "the bearer token of a direct call"),
        ConfigurationKey("relay_only", .boolean, standard: "false", "whether a direct call goes through TURN servers alone"),
        ConfigurationKey(
          "codec", .words(Configuration.Call.Codec.allCases.map(\.rawValue)), otherwise: "in the usual order", example: "\"VP8\"",
          "the video codec that a direct call prefers"),
        ConfigurationKey(
          "start", .words(Configuration.Call.Start.allCases.map(\.rawValue)), standard: "\"boot\"",
          "when the call starts: `boot`: as soon as the box runs; `touch`: when somebody touches the screen; `key`: with `key` or `gpio`; `manual`: with `parlor call start`"
        ),
        ConfigurationKey(
          "key",
          .either([
            .text(form: "a name of linux/input-event-codes.h, as \"KEY_F1\" or \"BTN_0\"", pattern: "^(KEY|BTN)_[A-Z0-9_]+$"),
            .integer(InputKey.codes),
          ]), otherwise: "no key", example: "\"KEY_F1\"", "a key that starts the call and ends it"),
        ConfigurationKey(
          "connect_timeout", .number(1...300), standard: "15", "seconds until a direct call that does not connect is given up"),
        ConfigurationKey(
          "allowed_origins", .list(origin), otherwise: "nowhere else", example: "[\"https://login.example.org\"]",
          "where the page and its frames may lead beside the page's own origin"),
        ConfigurationKey(
          "load_deadline", .number(1...300), standard: "15", "seconds until a page that has drawn nothing is given up, and tried again"),
        ConfigurationKey(
          "reload_at", time, otherwise: "never", example: "\"03:30\"", "when the page is loaded anew each day, unless a call is under way"),
      ]),
    ConfigurationTable(
      "call.gpio", "A button wired to the box that starts the call and ends it.", isInline: true,
      [
        ConfigurationKey(
          "chip", .text(form: "/dev/gpiochipN", pattern: "^/dev/"), otherwise: nil, example: "\"/dev/gpiochip0\"", "the chip"),
        ConfigurationKey("line", .integer(0...65_535), otherwise: nil, example: "17", "its line"),
        ConfigurationKey("active_low", .boolean, standard: "false", example: "true", "whether the button connects the line to ground"),
        ConfigurationKey(
          "bias", .words(GPIOLine.Bias.allCases.map(\.rawValue)), standard: "\"as-is\"", example: "\"pull-up\"",
          "what holds the line while the button is open"),
      ]),
    ConfigurationTable(
      "call.ice_servers[]", "A STUN or TURN server beside those that the other side names.", identity: ["urls"], isInline: true,
      [
        ConfigurationKey(
          "urls",
          .oneOrList(
            .text(form: "stun:HOST[:PORT], turn:HOST[:PORT][?transport=udp|tcp] or turns:HOST[:PORT]", pattern: "^(stun|turn)s?:[^/]")),
          otherwise: nil, example: "[\"turn:turn.example.org\", \"turns:turn.example.org\"]", "where it is"),
        ConfigurationKey(
          "username", .text(form: "a text"), otherwise: "not set", example: "\"box\"", "the user's name; a TURN server needs one"),
        ConfigurationKey(
          "credential", .text(form: "a text"), otherwise: "not set", isSecret: true, example: "\"…\"",
          "the password; a TURN server needs one"),
      ]),
    ConfigurationTable(
      "grants[]", "Which pages may use camera and microphone. Given once, here: nothing ever prompts. A direct call needs no grant.",
      identity: ["origin"],
      [
        ConfigurationKey(
          "origin", origin, otherwise: nil, example: "\"https://calls.example.org\"", "the page's origin, or that of a frame in it"),
        ConfigurationKey("camera", .boolean, standard: "false", example: "true", "whether it may use the camera"),
        ConfigurationKey("microphone", .boolean, standard: "false", example: "true", "whether it may use the microphone"),
      ]),
    ConfigurationTable(
      "identity", "Which box this is.",
      [
        ConfigurationKey("name", .text(form: "a text"), otherwise: "the host's name", example: "\"Lobby\"", "a name for people"),
        ConfigurationKey(
          "serial", .text(form: "a text"), otherwise: "the machine's own in `parlor status`, none for `${serial}`", example: "\"0001\"",
          "a number for inventories"),
        ConfigurationKey(
          "place", .text(form: "a text"), otherwise: "it is not said", example: "\"Ground floor, by the lift\"",
          "where the box stands, for people; `parlor identify` shows it"),
      ]),
    ConfigurationTable(
      "page", "The web engine that runs a call page.",
      [
        ConfigurationKey(
          "user_agent", .text(form: "a text"), otherwise: "what most call services take", example: "\"…\"", "what the engine calls itself"),
        ConfigurationKey(
          "memory_limit_mb", .integer(256...65_536), standard: "1024", "MiB; a page that needs more is ended and loaded again"),
        ConfigurationKey(
          "dialog_timeout", .number(1...3_600), standard: "30", "seconds until a question on the screen counts as declined"),
      ]),
    ConfigurationTable(
      "tls", "Whom the box trusts, and how it says who it is. All of it holds for pages; direct calls and TURN servers go by `ca_files`.",
      [
        ConfigurationKey(
          "ca_files", .list(.file(form: "a PEM file")), otherwise: "the system's own alone", example: "[\"site-ca.pem\"]",
          "certificates that are trusted beside the system's own"),
        ConfigurationKey(
          "client_certificate", .file(form: "a PEM file"), otherwise: "none", example: "\"box.pem\"",
          "the certificate for a server that asks who this is, and its chain"),
        ConfigurationKey(
          "client_key", .file(form: "a PEM file"), otherwise: "none", isSecret: true, example: "\"box.key\"", "its private key"),
        ConfigurationKey(
          "pins",
          .list(
            .text(form: "sha256/ and the SHA-256 of a certificate's public key (SPKI) in base64", pattern: "^sha256/[A-Za-z0-9+/]{43}=$")),
          otherwise: "any will do", example: "[\"sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"]",
          "public keys, one of which the call page's server must show"),
      ]),
  ]

  static let url = ConfigurationKey.Value.text(
    form: "https://HOST[:PORT]/PATH or http://HOST[:PORT]/PATH", pattern: "^[hH][tT][tT][pP][sS]?://[^/ ][^ ]*$")
  static let origin = ConfigurationKey.Value.text(form: "https://HOST[:PORT], without a path", pattern: "^[hH][tT][tT][pP][sS]?://[^/ ]+$")
  static let time = ConfigurationKey.Value.text(form: DailyTime.form, pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$")
  static let days = ConfigurationKey.Value.list(.words(Weekday.allCases.map(\.rawValue)))

  /// The keys of a stretch of each week.
  static let period = [
    ConfigurationKey("from", time, otherwise: nil, example: "\"20:00\"", "when it begins, by the clock on the wall"),
    ConfigurationKey("to", time, otherwise: nil, example: "\"07:00\"", "when it ends; on the day after when that is not later than `from`"),
    ConfigurationKey(
      "days", days, otherwise: "every day", example: "[\"mon\", \"tue\", \"wed\", \"thu\", \"fri\"]", "the days on which it begins"),
  ]
}
