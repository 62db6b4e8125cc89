import Testing

@testable import Stage

@Suite struct TextInputTests {
  /// A client with a window, a keyboard and a text input.
  private struct Field {
    let client: TestClient
    let window: TestClient.Window
    let keyboard: UInt32
    let input: UInt32

    init(_ compositor: Wayland.Compositor) {
      client = TestClient(compositor)
      window = client.window(200, 100, 0xFFFF_0000)
      keyboard = client.make(client.seat, 1)
      input = client.make(client.bind("zwp_text_input_manager_v3"), 1, .uint(client.seat))
    }

    func enable() { client.request(input, 1) }
    func disable() { client.request(input, 2) }
    func setSurroundingText(_ text: String, caret: Int) { client.request(input, 3, .string(text), .int(caret), .int(caret)) }
    func setContentType(hints: UInt32, purpose: UInt32) { client.request(input, 5, .uint(hints), .uint(purpose)) }
    func setCursorRectangle(_ x: Int, _ y: Int, _ width: Int, _ height: Int) {
      client.request(input, 6, .int(x), .int(y), .int(width), .int(height))
    }
    func commit() { client.request(input, 7) }

    /// Opcodes of the text input's events, in order.
    var events: [UInt16] { client.take(input).map(\.opcode) }
    /// The keys that were pressed and let go.
    var keys: [[UInt32]] { client.take(keyboard, 3).map { Array($0.words[2...]) } }
  }

  @Test func focusGoesWithTheKeyboard() {
    let compositor = TestClient.compositor()
    let first = Field(compositor)
    #expect(first.client.take(first.input).map { [UInt32($0.opcode)] + $0.words } == [[0, first.window.surface]])
    let second = Field(compositor)
    #expect(first.client.take(first.input).map { [UInt32($0.opcode)] + $0.words } == [[1, first.window.surface]])
    #expect(second.events == [0])
    compositor.disconnect(second.client.client, reason: "test", now: TestClient.start)
    #expect(first.events == [0])
    // A surface that is gone is not named.
    first.client.request(first.window.toplevel, 0)
    first.client.request(first.window.shellSurface, 0)
    #expect(first.events == [1])
    #expect(first.client.error == nil)
  }

  @Test func stateCountsOnceItIsCommitted() throws {
    let compositor = TestClient.compositor()
    let field = Field(compositor)
    field.enable()
    field.setContentType(hints: 0x80 | 0x40, purpose: 8)
    field.setCursorRectangle(10, 20, 2, 16)
    #expect(compositor.focusedField == nil)
    field.commit()
    var state = try #require(compositor.focusedField)
    #expect(state.purpose == .password && state.isSecret && state.caret == Rectangle(x: 10, y: 20, width: 2, height: 16))
    // What is not said again stays, and only the caret moves.
    field.setCursorRectangle(30, 20, 2, 16)
    field.commit()
    var next = try #require(compositor.focusedField)
    #expect(next.caret?.x == 30 && next.purpose == .password && next.activation == state.activation)
    // Whoever enables again begins anew.
    field.enable()
    field.commit()
    next = try #require(compositor.focusedField)
    #expect(next.purpose == .normal && next.caret == nil && next.activation != state.activation && !next.isSecret)
    state = next
    field.disable()
    #expect(compositor.focusedField == state)
    field.commit()
    #expect(compositor.focusedField == nil)
    // Of a field that is not enabled nothing counts.
    field.setContentType(hints: 0, purpose: 2)
    field.commit()
    #expect(compositor.focusedField == nil)
  }

  @Test func purposesThatNobodyKnowsAreText() throws {
    let compositor = TestClient.compositor()
    let field = Field(compositor)
    for (number, purpose) in [(2, .digits), (4, .phone), (9, .pin), (13, .terminal), (14, .normal), (.max, .normal)]
      as [(UInt32, FocusedField.Purpose)]
    {
      field.enable()
      field.setContentType(hints: .max, purpose: number)
      field.commit()
      #expect(compositor.focusedField?.purpose == purpose)
    }
    #expect(field.client.error == nil)
  }

  @Test func caretLiesWhereTheWindowLies() throws {
    let compositor = TestClient.compositor()
    let parent = TestClient(compositor).window(200, 100, 0xFF00_00FF)
    _ = parent
    let client = TestClient(compositor)
    // Smaller than the screen, and so in its middle.
    let window = client.window(100, 50, 0xFFFF_0000)
    let input = client.make(client.bind("zwp_text_input_manager_v3"), 1, .uint(client.seat))
    client.request(input, 1)
    client.request(input, 6, .int(5), .int(6), .int(1), .int(10))
    client.request(input, 7)
    #expect(compositor.focusedField?.caret == Rectangle(x: 55, y: 31, width: 1, height: 10))
    _ = window
  }

  @Test func pressesOnTheClientAreKnown() {
    let compositor = TestClient.compositor()
    let field = Field(compositor)
    field.enable()
    field.setCursorRectangle(0, 38, 0, 0)
    field.commit()
    #expect(compositor.focusedField?.pressCount == 0 && compositor.focusedField?.press == nil && compositor.focusedField?.caret == nil)
    compositor.send(.touchDown(id: 0, x: 30, y: 40), now: TestClient.start)
    #expect(compositor.focusedField?.pressCount == 1)
    #expect(compositor.focusedField?.press == Rectangle(x: 30, y: 40, width: 1, height: 1))
    compositor.send(.pointerMotion(x: 5, y: 6), now: TestClient.start)
    compositor.send(.pointerButton(code: 0x110, isPressed: true), now: TestClient.start)
    #expect(compositor.focusedField?.pressCount == 2)
    #expect(compositor.focusedField?.press == Rectangle(x: 5, y: 6, width: 1, height: 1))
    // Those on another client are not.
    let other = Field(compositor)
    other.enable()
    other.commit()
    #expect(compositor.focusedField != nil && compositor.focusedField?.pressCount == 0)
  }

  @Test func sentenceStartIsSeenInTheText() {
    let compositor = TestClient.compositor()
    let field = Field(compositor)
    let cases: [(String, Int, Bool)] = [
      ("", 0, true), ("Hello", 5, false), ("Hello. ", 7, true), ("Hello.", 6, false), ("Wer? ", 5, true), ("a b ", 4, false),
      ("a\n", 2, true),
      ("Hello", 0, true), ("Hello", 99, false), ("Hello", -1, false),
    ]
    for (text, caret, isStart) in cases {
      field.enable()
      field.setSurroundingText(text, caret: caret)
      field.commit()
      #expect(compositor.focusedField?.isAtSentenceStart == isStart, "\(text), \(caret)")
    }
  }

  @Test func keyboardOnTheScreenTypesWithKeys() {
    let compositor = TestClient.compositor()
    let field = Field(compositor)
    field.enable()
    field.commit()
    _ = (field.events, field.client.take(field.keyboard))
    for action in [KeyboardAction.text("A"), .key(KeyCode.backspace), .text("ß")] { compositor.perform(action, now: TestClient.start) }
    let keys = field.client.take(field.keyboard)
    // Shift and the key; backspace; a keymap that has the letter, its key, and the usual keymap again.
    #expect(
      keys.filter { $0.opcode == 3 }.map { Array($0.words[2...]) } == [
        [42, 1], [30, 1], [30, 0], [42, 0], [14, 1], [14, 0], [1, 1], [1, 0],
      ])
    #expect(keys.filter { $0.opcode == 0 }.count == 2 && field.events == [])
  }

  @Test func textGoesIntoTheFieldOfAClientWithoutAKeyboard() throws {
    let compositor = TestClient.compositor()
    let field = Field(compositor)
    field.client.request(field.keyboard, 0)
    field.enable()
    field.commit()
    field.setCursorRectangle(1, 1, 1, 1)
    field.commit()
    _ = field.events
    compositor.perform(.text("ß"), now: TestClient.start)
    let events = field.client.take(field.input)
    #expect(events.map(\.opcode) == [3, 5])
    var text = EventReader(try #require(events.first).body)
    #expect(text.string() == "ß" && events[1].words == [2], "with the number of commits that came")
    field.disable()
    field.commit()
    compositor.perform(.text("ß"), now: TestClient.start)
    #expect(field.events == [] && field.client.error == nil)
  }

  @Test func secondFieldWaitsUntilTheFirstIsDisabled() throws {
    let compositor = TestClient.compositor()
    let field = Field(compositor)
    let other = field.client.make(field.client.bind("zwp_text_input_manager_v3"), 1, .uint(field.client.seat))
    field.enable()
    field.setContentType(hints: 0, purpose: 5)
    field.commit()
    field.client.request(other, 1)
    field.client.request(other, 5, .uint(0), .uint(6))
    field.client.request(other, 7)
    #expect(compositor.focusedField?.purpose == .url)
    field.client.request(field.input, 0)
    #expect(compositor.focusedField == nil)
    field.client.request(other, 1)
    field.client.request(other, 5, .uint(0), .uint(6))
    field.client.request(other, 7)
    #expect(compositor.focusedField?.purpose == .email)
    #expect(field.client.error == nil)
  }

  @Test func whatWasSentBeforeTheFocusWentIsVoid() {
    let compositor = TestClient.compositor()
    let field = Field(compositor)
    field.enable()
    field.commit()
    field.enable()
    let other = Field(compositor)
    #expect(compositor.focusedField == nil)
    field.commit()
    #expect(compositor.focusedField == nil)
    compositor.disconnect(other.client.client, reason: "test", now: TestClient.start)
    field.commit()
    #expect(compositor.focusedField == nil)
    field.enable()
    field.commit()
    #expect(compositor.focusedField != nil)
    compositor.disconnect(field.client.client, reason: "test", now: TestClient.start)
    _ = compositor.takeLayers()
    compositor.presented(at: TestClient.start, refresh: .zero, sequence: 1)
    #expect(compositor.focusedField == nil && compositor.isIdle)
  }
}
