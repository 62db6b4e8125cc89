// OverconstrainedError: https://w3c.github.io/mediacapture-main/#overconstrainederror-interface

/// Why no device, or no setting of one, can meet the constraints.
class OverconstrainedError extends DOMException {
  #constraint;

  constructor(constraint, message = "") {
    webidl.requireArguments(arguments, 1, "OverconstrainedError");
    super(`${message}`, "OverconstrainedError");
    this.#constraint = `${constraint}`;
  }

  get constraint() { return this.#constraint; }

  static {
    webidl.define(this, { is: (value) => #constraint in value, length: 1 });
  }
}
