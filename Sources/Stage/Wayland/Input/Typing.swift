extension Wayland {
  /// How text becomes key strokes.
  enum Typing {
    /// One key, by its evdev number, alone or with Shift.
    struct Stroke: Equatable {
      var key: UInt32
      var isShifted = false
    }

    /// Characters that are typed in the same manner.
    enum Run: Equatable {
      /// With the keys that the keyboard has.
      case keys([Stroke])
      /// With a keymap that has these characters on its first keys.
      case characters([Unicode.Scalar])
    }

    /// `KEY_LEFTSHIFT`.
    static let shift: UInt32 = 42
    /// Keys for what is no character: backspace, tab, line ends, escape, delete.
    private static let controls: [UInt32: UInt32] = [8: 14, 9: 15, 10: 28, 13: 28, 27: 1, 127: 111]
    /// How many characters a keymap made for the purpose holds.
    private static let mapCapacity = 240

    /// Cuts text into runs. Control characters without a key are left out.
    static func runs(of text: String, on keymap: Keymap) -> [Run] {
      var runs: [Run] = []
      for scalar in text.unicodeScalars {
        var stroke: Stroke?
        if let key = controls[scalar.value] {
          stroke = Stroke(key: key)
        } else if let key = keymap.keys[scalar.value] {
          stroke = Stroke(key: key.key, isShifted: key.isShifted)
        } else if scalar.value < 32 {
          continue
        }
        switch (runs.last, stroke) {
        case (.keys(let strokes), let stroke?): runs[runs.count - 1] = .keys(strokes + [stroke])
        case (.characters(let characters), nil) where characters.count < mapCapacity:
          runs[runs.count - 1] = .characters(characters + [scalar])
        case (_, let stroke?): runs.append(.keys([stroke]))
        case (_, nil): runs.append(.characters([scalar]))
        }
      }
      return runs
    }
  }
}
