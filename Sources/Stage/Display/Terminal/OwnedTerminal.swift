/// A terminal to be owned, and what becomes of it at the end.
public struct OwnedTerminal: Sendable {
  /// The terminal.
  public var terminal: VirtualTerminal
  /// Whether it is left dark at the end, for the next one who owns it; else the console gets it back.
  public var staysDark: Bool

  /// A terminal that the console gets back at the end, or that `staysDark`.
  public init(_ terminal: VirtualTerminal, staysDark: Bool) { (self.terminal, self.staysDark) = (terminal, staysDark) }
}
