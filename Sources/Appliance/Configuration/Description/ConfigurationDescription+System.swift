extension ConfigurationDescription {
  /// What the system under the call does.
  static let system: [ConfigurationTable] = [
    ConfigurationTable(
      "network", "How the box reaches the world. A wired interface that nothing here is for asks by DHCP.",
      [
        ConfigurationKey(
          "interfaces", .list(interface), otherwise: "all of them", example: "[\"eth0\"]", "the interfaces that calls may use"),
        ConfigurationKey(
          "hostname", .text(form: "letters, digits and hyphens, at most 63, dots between parts", pattern: "^[A-Za-z0-9$]"),
          otherwise: "the image's own", example: "\"kiosk-${serial}\"",
          "the name in the network; `${serial}`, `${mac}` and `${name}` may stand in it"),
        ConfigurationKey(
          "country", .text(form: "two letters of ISO 3166, as \"DE\"", pattern: "^[A-Za-z]{2}$"), otherwise: "Wi-Fi is not possible",
          example: "\"DE\"", "where the box stands, which decides about radio channels; Wi-Fi needs it"),
      ]),
    ConfigurationTable(
      "network.ethernet[]", "A cable.", identity: ["interface"],
      [
        ConfigurationKey(
          "interface", interface, otherwise: "each that no other entry names", example: "\"eth0\"", "for which interface")
      ] + addressing + authentication),
    ConfigurationTable(
      "network.wifi[]", "A radio network. Of several in reach, the one with the highest priority is used.", identity: ["ssid", "ssid_hex"],
      [
        ConfigurationKey(
          "ssid", .text(form: "1 to 32 bytes"), otherwise: "`ssid_hex` says it", example: "'Guests & Co'",
          "the network's name. In single quotes every character stands for itself"),
        ConfigurationKey(
          "ssid_hex", .text(form: "2 to 64 hexadecimal digits, two for each byte", pattern: "^([0-9a-fA-F]{2}){1,32}$"),
          otherwise: "`ssid` says it", example: "\"00ff41\"", "the name of a network whose name is no text"),
        ConfigurationKey("hidden", .boolean, standard: "false", "whether the network does not say its name"),
        ConfigurationKey("priority", .integer(0...999), standard: "0", "of several networks in reach, the highest is used"),
      ] + addressing + authentication),
    ConfigurationTable(
      "network.proxy", "Who fetches pages for the box, and signalling of direct calls. Media does not go this way.",
      [
        ConfigurationKey(
          "url", .text(form: "http://HOST[:PORT]", pattern: "^http://[^/ ]+/?$"), otherwise: nil,
          example: "\"http://proxy.example.org:3128\"",
          "where it is"),
        ConfigurationKey("username", .text(form: "a text"), otherwise: "it asks for none", example: "\"box\"", "the user's name"),
        ConfigurationKey("password", .text(form: "a text"), otherwise: "it asks for none", isSecret: true, example: "'…'", "the password"),
        ConfigurationKey(
          "no_proxy",
          .list(
            .text(
              form:
                "a host or domain, as \"intranet.example.org\" or \".example.org\", or an address or prefix, as \"192.0.2.0/24\"")),
          otherwise: "nothing but the box itself", example: "[\".intranet.example.org\", \"192.0.2.0/24\"]", "what is reached without it"),
      ]),
    ConfigurationTable(
      "time", "Where the clock is set from.",
      [
        ConfigurationKey(
          "servers", .list(.text(form: "a host's name or address, as \"ntp.example.org\"")),
          otherwise: "those that the network names, else the image's own", example: "[\"ntp.example.org\"]", "NTP servers"),
        ConfigurationKey(
          "zone", .text(form: "a name of the tz database, as \"Europe/Berlin\"", pattern: "^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$"),
          otherwise: "UTC", example: "\"Europe/Berlin\"", "the time zone, by which schedules go"),
      ]),
    ConfigurationTable(
      "access", "Who looks after the box, and how.",
      [
        ConfigurationKey(
          "ssh_keys",
          .list(.text(form: "the line of a .pub file, as \"ssh-ed25519 AAAA… name\"", pattern: "^[a-z0-9@.-]+ [A-Za-z0-9+/]+=*( .*)?$")),
          otherwise: "those in the file `authorized_keys` beside this one", example: "[\"ssh-ed25519 AAAA… anna\"]",
          "public keys of those who may log in as `operator`, beside those in the file `authorized_keys`"),
        ConfigurationKey("remote_input", .boolean, standard: "false", "whether operators may touch and type from afar"),
        ConfigurationKey("screenshots", .boolean, standard: "true", "whether operators may see what the screen shows"),
        ConfigurationKey(
          "metrics",
          .text(
            form: "ADDRESS:PORT, as \"127.0.0.1:9100\", \"0.0.0.0:9100\" or \"[::]:9100\"",
            pattern: "^([0-9.]+|\\[[0-9a-fA-F:.]+\\]):[0-9]+$"),
          otherwise: "nowhere", example: "\"0.0.0.0:9100\"", "where Prometheus gets figures by HTTP; whoever reaches the address reads them"
        ),
      ]),
    ConfigurationTable(
      "update", "Where new versions come from, and when.",
      [
        ConfigurationKey(
          "url", url, otherwise: "updates are brought by hand", example: "\"https://updates.example.org/parlor.raucb\"",
          "a bundle that is looked at again and again; `${serial}`, `${mac}` and `${name}` may stand in it"),
        ConfigurationKey("automatic", .boolean, standard: "true", "whether a newer bundle there is installed without being asked for"),
        ConfigurationKey(
          "keyring_file", .file(form: "a PEM file"), otherwise: "the image's own", example: "\"updates.pem\"",
          "the certificates that bundles must be signed by"),
        ConfigurationKey("allow_downgrade", .boolean, standard: "false", "whether a bundle may be older than what runs"),
      ]),
    ConfigurationTable(
      "update.window", "When the box may restart into a new version; without it, whenever no call is under way.", isInline: true, period),
    ConfigurationTable(
      "logs", "What is written down, and where else it goes.",
      [
        ConfigurationKey(
          "level", .words(["error", "warning", "notice", "info", "debug"]), standard: "\"notice\"",
          "the least important messages that are kept"),
        ConfigurationKey(
          "syslog", .text(form: "udp://HOST[:PORT], tcp://HOST[:PORT] or tls://HOST[:PORT]", pattern: "^(udp|tcp|tls)://[^/ ]+$"),
          otherwise: "nobody", example: "\"tls://logs.example.org\"",
          "who gets a copy by the syslog protocol; the port is 514, with TLS 6514, where none is named"),
        ConfigurationKey(
          "journal_upload", url, otherwise: "nobody", example: "\"https://logs.example.org:19532\"",
          "a systemd-journal-remote that gets the journal; `${serial}`, `${mac}` and `${name}` may stand in it"),
      ]),
    ConfigurationTable(
      "limits", "How much of the machine a part may use. A part that needs more memory is ended and started again.",
      [
        ConfigurationKey(
          "app_memory_mb", .integer(128...65_536), otherwise: "as its unit says", example: "512", "MiB for `parlor run`"),
        ConfigurationKey(
          "page_memory_mb", .integer(256...65_536), otherwise: "as its unit says", example: "1536",
          "MiB for the page's processes together; more than `page.memory_limit_mb`, which ends a page in good order"),
        ConfigurationKey(
          "app_cpu_percent", .integer(10...25_600), otherwise: "all of them", example: "300", "percent of one processor for `parlor run`"),
        ConfigurationKey(
          "page_cpu_percent", .integer(10...25_600), otherwise: "all of them", example: "150",
          "percent of one processor for the page's processes together"),
        ConfigurationKey(
          "journal_mb", .integer(8...65_536), otherwise: "as the image says", example: "64", "MiB for logs on the disk; the oldest go first"
        ),
      ]),
  ]

  private static let interface = ConfigurationKey.Value.text(form: "an interface's name, as \"eth0\"", pattern: "^[^/: ]{1,15}$")
  private static let address = ConfigurationKey.Value.text(form: "an address, as \"192.0.2.1\"", pattern: "^[0-9a-fA-F.:]+$")

  /// The keys of fixed addresses.
  private static let addressing = [
    ConfigurationKey(
      "address",
      .oneOrList(
        .text(form: "an address and the number of its network's bits, as \"192.0.2.10/24\"", pattern: "^[0-9a-fA-F.:]+/[0-9]{1,3}$")),
      otherwise: "as the network says (DHCP, IPv6 router)", example: "\"192.0.2.10/24\"",
      "a fixed address; one of IPv4 leaves IPv6 to the network, and the other way round"),
    ConfigurationKey(
      "gateway", .oneOrList(address), otherwise: "as the network says", example: "\"192.0.2.1\"", "the router that goes with `address`"),
    ConfigurationKey(
      "dns", .oneOrList(address), otherwise: "as the network says", example: "[\"192.0.2.53\"]",
      "name servers, before those that the network names"),
  ]

  /// The keys of passwords and 802.1X.
  private static let authentication = [
    ConfigurationKey(
      "password", .text(form: "of Wi-Fi 8 to 63 printable ASCII characters, or 64 hexadecimal digits; with `eap` a text"),
      otherwise: "anybody may use the network", isSecret: true, example: "'…'",
      "the network's password, with `eap` the user's. In single quotes every character stands for itself"),
    ConfigurationKey(
      "eap", .words(Configuration.Network.Authentication.Method.allCases.map(\.rawValue)), otherwise: "no 802.1X", example: "\"peap\"",
      "802.1X: how the box says who it is: `tls`: by a certificate; `peap`, `ttls`: by a password"),
    ConfigurationKey("identity", .text(form: "a text"), otherwise: "`eap` needs it", example: "\"box\"", "the user's name"),
    ConfigurationKey(
      "anonymous_identity", .text(form: "a text"), otherwise: "`identity`", example: "\"anonymous\"", "the name that everybody may see"),
    ConfigurationKey(
      "inner", .words(Configuration.Network.Authentication.Inner.allCases.map(\.rawValue)), standard: "\"mschapv2\"",
      "how the password is shown within `peap` (not `pap`) or `ttls` (not `gtc`)"),
    ConfigurationKey(
      "ca_file", .file(form: "a PEM file"), otherwise: "the system's own, with `server_domain`", example: "\"radius-ca.pem\"",
      "the certificates that the network's server is known by"),
    ConfigurationKey(
      "server_domain", .text(form: "a domain, as \"example.org\"", pattern: "^[A-Za-z0-9.-]+$"), otherwise: "any, with `ca_file`",
      example: "\"radius.example.org\"", "what the server's name must end with"),
    ConfigurationKey(
      "client_certificate", .file(form: "a PEM file"), otherwise: "`tls` needs it", example: "\"box.pem\"", "the box's certificate"),
    ConfigurationKey(
      "client_key", .file(form: "a PEM file"), otherwise: "`tls` needs it", isSecret: true, example: "\"box.key\"",
      "its private key, which no password protects"),
  ]
}
