extension Stage {
  /// Shows a question behind those that wait, one at a time; nil takes all away, each answered `dismissed`.
  ///
  /// `answer` is called once, from whichever thread input or time came on, and must be brief. While a panel is shown, all input is its own.
  public func setPanel(_ panel: Panel?, answer: @escaping @Sendable (Panel.Answer) -> Void = { _ in }) {
    let replies = desk.withLock { desk in
      guard let panel else { return desk.removeAll() }
      return desk.add(panel, receiver: answer).map { [$0] } ?? []
    }
    for reply in replies { reply.deliver() }
    wake.signal()
  }

  /// Hands the on-screen keyboard or a panel what a person did. True when one of them took it, so that clients must not get it.
  ///
  /// What was pressed before a panel came is released for the client; what was pressed on a panel is released for it, even when it is gone.
  public func input(_ event: StageInput) -> Bool {
    let (isKeyboards, actions) = typing.withLock { $0.keyboard.input(event) }
    perform(actions)
    if isKeyboards {
      wake.signal()
      return true
    }
    let (isTaken, reply) = desk.withLock { $0.input(event) }
    reply?.deliver()
    if isTaken { wake.signal() }
    return isTaken
  }
}
