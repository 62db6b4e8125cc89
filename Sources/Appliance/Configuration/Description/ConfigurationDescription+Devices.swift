import Camera
import Stage

extension ConfigurationDescription {
  /// What people see, hear and are seen by.
  static let devices: [ConfigurationTable] = [
    ConfigurationTable(
      "display", "The monitor.",
      [
        ConfigurationKey(
          "card", .text(form: "the path of a device, as /dev/dri/card0", pattern: "^/dev/"), otherwise: "the first one with connectors",
          example: "\"/dev/dri/card0\"", "the graphics device"),
        ConfigurationKey(
          "terminal", .text(form: "/dev/tty1 to /dev/tty63", pattern: "^/dev/tty([1-9]|[1-5][0-9]|6[0-3])$"),
          otherwise: "the one that systemd passes",
          example: "\"/dev/tty1\"", "the virtual terminal that the display belongs to"),
        ConfigurationKey(
          "connector", .text(form: "a connector's name, as HDMI-A-1", pattern: "^[^ /]+$"), otherwise: "as `outputs` says",
          example: "\"HDMI-A-1\"",
          "the only output that shows the picture, as `parlor status` names it"),
        ConfigurationKey(
          "outputs", .words(Configuration.Display.Outputs.allCases.map(\.rawValue)), standard: "\"all\"",
          "`all`: the same picture on each output that is connected; `one`: on the first alone"),
        ConfigurationKey(
          "mode", .text(form: "WIDTHxHEIGHT[@RATE], as 1920x1080@60", pattern: "^[0-9]+x[0-9]+(@[0-9.]+)?$"),
          otherwise: "what the monitor prefers",
          example: "\"1920x1080@60\"", "size and refresh rate"),
        ConfigurationKey(
          "rotate", .integers(Configuration.Display.Rotation.allCases.map(\.rawValue)), standard: "0",
          "how far picture and touch are turned, clockwise"),
        ConfigurationKey(
          "gamma", .number(GammaChoice.range), otherwise: "the driver's own", example: "1.2",
          "above 1 brightens what lies between black and white"),
        ConfigurationKey(
          "fit", .words(VideoFit.allCases.map(\.rawValue)), standard: "\"contain\"",
          "how a direct call's other side fills the screen: `contain`: all of it; `cover`: no bars, edges cut off"),
        ConfigurationKey(
          "self_view", .words(Configuration.Display.SelfView.allCases.map(\.rawValue)), standard: "\"bottom-right\"",
          "where a direct call's self-view stands"),
        ConfigurationKey("mirror_self_view", .boolean, standard: "true", "whether the self-view is shown as in a mirror"),
      ]),
    ConfigurationTable(
      "power", "When the screen is dark, and when the box restarts.",
      [
        ConfigurationKey(
          "blank_after", .number(0...604_800), standard: "0", "seconds without input and call until the screen goes dark; 0: it does not"),
        ConfigurationKey(
          "wake_seconds", .number(1...86_400), standard: "300",
          "how long a touch, or the end of a call, keeps a screen bright that should be dark"),
        ConfigurationKey("blank_in_calls", .boolean, standard: "false", "whether calls leave the screen dark"),
        ConfigurationKey(
          "restart_at", time, otherwise: "never by itself", example: "\"04:00\"",
          "when the box restarts; a call that is under way then is waited for"),
        ConfigurationKey("restart_days", days, otherwise: "every day", example: "[\"sun\"]", "the days on which it restarts"),
      ]),
    ConfigurationTable("power.blank[]", "A time when the screen is dark.", identity: ["from", "to"], isInline: true, period),
    ConfigurationTable(
      "power.gamma[]", "A time when gamma is not as `[display]` says.", identity: ["from", "to"], isInline: true,
      period + [
        ConfigurationKey("value", .number(GammaChoice.range), otherwise: nil, example: "0.7", "gamma in that time")
      ]),
    ConfigurationTable(
      "camera[]", "A camera. A page sees each of them, a direct call uses the first. Without an entry, whichever camera is there.",
      identity: ["device"],
      [
        ConfigurationKey(
          "device",
          .text(
            form:
              "\"any\"; \"none\"; \"synthetic\", a test picture; \"file:PATH.y4m\"; a camera's name, or that of its link below /dev/v4l, or /dev/videoN"
          ),
          standard: "\"any\"", "where pictures come from"),
        ConfigurationKey("width", .integer(160...4_096), standard: "1280", "pixels that are wanted; what the camera has comes closest"),
        ConfigurationKey("height", .integer(120...4_096), standard: "720", "pixels that are wanted"),
        ConfigurationKey("rate", .number(1...120), standard: "30", "pictures a second that are wanted"),
        ConfigurationKey(
          "brightness", .number(0...100), otherwise: "as the camera has it", example: "50", "percent of what the camera offers"),
        ConfigurationKey("zoom", .number(0...100), otherwise: "as the camera has it", example: "0", "percent of what the camera offers"),
        ConfigurationKey(
          "power_line_frequency", .either([.integers([50, 60]), .words(["auto", "off"])]), otherwise: "as the camera has it", example: "50",
          "the mains' frequency, which keeps the flicker of lamps off the picture"),
        ConfigurationKey("mirror", .boolean, standard: "false", "whether pictures are turned over from left to right, for everybody"),
        ConfigurationKey(
          "own_h264", .words(CameraSettings.OwnH264.allCases.map(\.rawValue)), standard: "\"auto\"",
          "when a camera's own H.264 goes out as it is: `auto`, while a peer takes it and if its bitrate can be set; `always`, whenever the camera has it; `never`"
        ),
      ]),
    ConfigurationTable(
      "sound", "Microphone and loudspeaker.",
      [
        ConfigurationKey(
          "capture",
          .text(
            form:
              "\"any\"; \"default\", ALSA's own; \"none\"; \"synthetic\", a tone with a click each second; \"file:PATH.wav\"; a card's identifier (/proc/asound/cards), or an ALSA name as \"hw:CARD,0\""
          ), standard: "\"any\"", "where sound comes from"),
        ConfigurationKey(
          "playback",
          .text(
            form:
              "\"any\"; \"default\", ALSA's own; \"none\"; \"file:PATH.wav\", which is written; a card's identifier (/proc/asound/cards), or an ALSA name as \"hw:CARD,0\""
          ), standard: "\"any\"", "where sound goes to"),
        ConfigurationKey(
          "echo_cancellation", .boolean, standard: "true",
          "whether what the loudspeaker plays is taken out of what the microphone hears, in direct calls and for pages that do not say"),
        ConfigurationKey("noise_suppression", .boolean, standard: "true", "whether noise is taken out, likewise"),
        ConfigurationKey("automatic_gain", .boolean, standard: "true", "whether voices are brought to the same level, likewise"),
        ConfigurationKey("volume", .integer(0...100), standard: "100", "percent, until somebody changes it"),
      ]),
    ConfigurationTable(
      "notices", "What the box itself says on the screen.",
      [
        ConfigurationKey("language", .words(Language.allCases.map(\.rawValue)), standard: "\"en\"", "in which language"),
        ConfigurationKey("foreground", color, standard: "\"#ffffff\"", "the colour of text"),
        ConfigurationKey("background", color, standard: "\"#122438\"", "the colour behind it"),
        ConfigurationKey(
          "logo", .file(form: "a PNG file, at most 2048 pixels wide and high"), otherwise: "none", example: "\"logo.png\"",
          "what stands above each title"),
        ConfigurationKey(
          "idle", .file(form: "a PNG file, at most 4096 pixels wide and high"), otherwise: "black", example: "\"picture.png\"",
          "what is shown while nothing else is"),
        ConfigurationKey(
          "camera_mark", .boolean, standard: "true", "whether a mark in a corner says that pictures of a camera leave the box"),
      ]),
  ]

  private static let color = ConfigurationKey.Value.text(form: "#rrggbb", pattern: "^#[0-9a-fA-F]{6}$")
}
