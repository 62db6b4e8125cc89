/// A button that is wired to a line of a GPIO chip.
public struct GPIOLine: Sendable, Equatable {
  /// What holds the line while the button is open.
  public enum Bias: String, Sendable, CaseIterable {
    /// As the machine set it up.
    case asIs = "as-is"
    /// A resistor to the supply, for a button to ground.
    case pullUp = "pull-up"
    /// A resistor to ground, for a button to the supply.
    case pullDown = "pull-down"
    /// Nothing: the board has a resistor of its own.
    case off
  }

  /// The chip's device, such as `/dev/gpiochip0`.
  public var chip: String
  /// The line's number on the chip, from 0.
  public var line: UInt32
  /// Whether the button pulls the line down when it is pressed.
  public var isActiveLow: Bool
  /// What holds the line while the button is open.
  public var bias: Bias

  /// The button on `line` of `chip`.
  public init(chip: String, line: UInt32, isActiveLow: Bool = false, bias: Bias = .asIs) {
    (self.chip, self.line, self.isActiveLow, self.bias) = (chip, line, isActiveLow, bias)
  }
}
