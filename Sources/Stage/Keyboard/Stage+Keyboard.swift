import Base

/// The on-screen keyboard, whom it types for, and what it has typed for clients.
struct KeyboardDesk {
  var keyboard: OnScreenKeyboard
  /// The text field of a client.
  var clientField: FocusedField?
  /// What clients are still to be told.
  var actions: [KeyboardAction] = []
  /// Whether anybody has said if there is a real keyboard.
  var isAttachmentKnown = false
}

extension Stage {
  /// A keyboard was connected, or the last one is gone: without one, a keyboard on the screen comes up for text fields. From any thread.
  ///
  /// As long as nobody says, a headless stage has a keyboard, and a stage on a display has none.
  public func setKeyboardAttached(_ isAttached: Bool) {
    typing.withLock { typing in
      typing.isAttachmentKnown = true
      typing.keyboard.setKeyboardAttached(isAttached)
    }
    wake.signal()
  }

  /// Changes whose letters stand on the keys of the on-screen keyboard. From any thread.
  public func setKeyboardLanguage(_ language: KeyboardLanguage) {
    typing.withLock { $0.keyboard.setLanguage(language) }
    wake.signal()
  }

  /// Says which text field of a client is typed into; nil: none. The next `prepare` acts on it.
  func setFocusedField(_ field: FocusedField?) { typing.withLock { $0.clientField = field } }

  /// What the on-screen keyboard has typed for clients since this was asked last.
  func takeKeyboardActions() -> [KeyboardAction] {
    typing.withLock { typing in
      defer { typing.actions.removeAll(keepingCapacity: true) }
      return typing.actions
    }
  }

  /// Lets time pass for the keyboard, and brings it to the field that is typed into: a panel's while there is one, for it has all input.
  func updateKeyboard(now: Instant) {
    let (isPanel, panelField) = desk.withLock { ($0.isBusy, $0.focusedField) }
    let screen = Rectangle(x: 0, y: 0, width: width, height: height)
    let actions = typing.withLock { typing in
      let actions = typing.keyboard.advance(to: now)
      typing.keyboard.setScreen(screen)
      typing.keyboard.setField(isPanel ? panelField : typing.clientField)
      return actions
    }
    perform(actions)
  }

  /// Types for whoever has the input: a panel or a client.
  func perform(_ actions: [KeyboardAction]) {
    for action in actions {
      let (isTaken, reply) = desk.withLock { $0.take(action) }
      reply?.deliver()
      if !isTaken { typing.withLock { $0.actions.append(action) } }
    }
  }

  /// Where the keys of the on-screen keyboard stand; nil while there is none.
  var keyboardPlan: KeyboardPlan? { typing.withLock { $0.keyboard.plan } }
}
