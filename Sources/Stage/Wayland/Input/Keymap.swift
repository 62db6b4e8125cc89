import CLinux
import CXKBCommon
import Glibc

extension Wayland {
  /// What the keys of a keyboard mean: a keymap as libxkbcommon knows it, in memory that clients may map.
  final class Keymap {
    private let keymap: OpaquePointer
    private let state: OpaquePointer
    /// The keymap's text, sealed.
    let memory: Descriptor
    /// Bytes of the text, its last zero included.
    let size: Int

    /// Modifiers and layout, as `wl_keyboard.modifiers` carries them.
    struct Modifiers: Equatable {
      var depressed: UInt32 = 0
      var latched: UInt32 = 0
      var locked: UInt32 = 0
      var group: UInt32 = 0
    }

    /// Where the map comes from.
    enum Source {
      /// XKB's name of a layout, with the usual rules and a keyboard of 105 keys.
      case layout(String)
      /// A whole keymap in XKB's text format.
      case text(String)
    }

    /// Evdev's numbers begin at 8 in XKB.
    static let offset: UInt32 = 8

    /// Nil when XKB does not know the layout, or there is no memory.
    init?(_ source: Source) {
      guard let context = unsafe xkb_context_new(XKB_CONTEXT_NO_ENVIRONMENT_NAMES) else { return nil }
      defer { unsafe xkb_context_unref(context) }
      unsafe xkb_context_set_log_level(context, XKB_LOG_LEVEL_CRITICAL)
      var made: OpaquePointer?
      switch source {
      case .layout(let name):
        made = name.withCString { name in
          var names = unsafe xkb_rule_names(rules: nil, model: nil, layout: name, variant: nil, options: nil)
          return unsafe xkb_keymap_new_from_names(context, &names, XKB_KEYMAP_COMPILE_NO_FLAGS)
        }
      case .text(let text):
        unsafe made = xkb_keymap_new_from_string(context, text, XKB_KEYMAP_FORMAT_TEXT_V1, XKB_KEYMAP_COMPILE_NO_FLAGS)
      }
      guard let keymap = made else { return nil }
      guard let state = unsafe xkb_state_new(keymap), let text = unsafe xkb_keymap_get_as_string(keymap, XKB_KEYMAP_FORMAT_TEXT_V1) else {
        unsafe xkb_keymap_unref(keymap)
        return nil
      }
      defer { unsafe free(text) }
      unsafe (self.keymap, self.state) = (keymap, state)
      size = unsafe strlen(text) + 1
      memory = Descriptor(owning: linux_memory_create("keymap"))
      guard memory.number >= 0, unsafe write(memory.number, text, size) == size, linux_memory_seal(memory.number) == 0 else { return nil }
    }

    deinit {
      unsafe xkb_state_unref(state)
      unsafe xkb_keymap_unref(keymap)
    }

    /// A key goes down or up. Returns whether modifiers changed.
    func update(key: UInt32, isPressed: Bool) -> Bool {
      unsafe xkb_state_update_key(state, key &+ Keymap.offset, isPressed ? XKB_KEY_DOWN : XKB_KEY_UP).rawValue != 0
    }

    /// The modifiers now.
    var modifiers: Modifiers {
      unsafe Modifiers(
        depressed: xkb_state_serialize_mods(state, XKB_STATE_MODS_DEPRESSED),
        latched: xkb_state_serialize_mods(state, XKB_STATE_MODS_LATCHED), locked: xkb_state_serialize_mods(state, XKB_STATE_MODS_LOCKED),
        group: xkb_state_serialize_layout(state, XKB_STATE_LAYOUT_EFFECTIVE))
    }

    /// What a key types with the modifiers as they are; nil when Control, Alt or Super make it a command.
    func text(key: UInt32) -> String? {
      let isCommand = [XKB_MOD_NAME_CTRL, XKB_MOD_NAME_ALT, XKB_MOD_NAME_LOGO].contains { (name: String) in
        unsafe xkb_state_mod_name_is_active(state, name, XKB_STATE_MODS_EFFECTIVE) > 0
      }
      guard !isCommand else { return nil }
      return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
        let count = unsafe xkb_state_key_get_utf8(state, key &+ Keymap.offset, text.baseAddress, text.count)
        return unsafe (1..<Int32(text.count)).contains(count) ? String(cString: text.baseAddress!) : nil
      }
    }

    /// How each character is typed with one key, alone or with Shift: the evdev number, and whether Shift is needed.
    private(set) lazy var keys: [UInt32: (key: UInt32, isShifted: Bool)] = {
      var keys: [UInt32: (key: UInt32, isShifted: Bool)] = [:]
      // Keys beyond a byte are those of remote controls, which not every client understands.
      let codes = unsafe max(xkb_keymap_min_keycode(keymap), Keymap.offset)...max(Keymap.offset, min(xkb_keymap_max_keycode(keymap), 255))
      for level in UInt32(0)..<2 {
        for code in codes {
          guard unsafe level < xkb_keymap_num_levels_for_key(keymap, code, 0) else { continue }
          var symbols: UnsafePointer<xkb_keysym_t>?
          guard unsafe xkb_keymap_key_get_syms_by_level(keymap, code, 0, level, &symbols) == 1, let symbol = unsafe symbols?.pointee
          else { continue }
          let character = xkb_keysym_to_utf32(symbol)
          // The first is the plainest: main keys come before the number pad's.
          if character >= 32, keys[character] == nil { keys[character] = (code - Keymap.offset, level == 1) }
        }
      }
      return keys
    }()

    /// A map that has a key for each of the characters, at most 240: evdev numbers from 1.
    static func typing(_ characters: [Unicode.Scalar]) -> Keymap? {
      let codes = characters.indices.map { "<K\($0)> = \(UInt32($0) + 1 + offset);" }.joined(separator: " ")
      let symbols = zip(characters.indices, characters).map { index, character in
        "key <K\(index)> { [ U\(String(character.value, radix: 16)) ] };"
      }.joined(separator: " ")
      return Keymap(
        .text(
          """
          xkb_keymap {
          xkb_keycodes { minimum = 8; maximum = 255; \(codes) };
          xkb_types { include "complete" };
          xkb_compatibility { include "complete" };
          xkb_symbols { \(symbols) };
          };
          """))
    }
  }
}
