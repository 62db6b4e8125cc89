// https://w3c.github.io/webrtc-pc/#rtcsctptransport-interface

let makeSctpTransport;

class SctpTransportState {
  state = "connecting";
  maxMessageSize = Infinity;
  maxChannels = null;

  constructor(connection) {
    this.transport = connection.transport.object;
    this.object = new RTCSctpTransport(webidl.internal, this);
  }

  update({ state, maxMessageSize, maxChannels }) {
    if (maxMessageSize !== undefined) this.maxMessageSize = maxMessageSize === null || maxMessageSize === 0 ? Infinity : maxMessageSize;
    if (maxChannels !== undefined) this.maxChannels = maxChannels;
    if (!state || state === this.state || this.state === "closed") return;
    this.state = state;
    webidl.fire(this.object, "statechange");
  }

  /// With its connection. Engines fire this event, other than those of the transports below.
  close() {
    if (this.state === "closed") return;
    this.state = "closed";
    queueTask(() => webidl.fire(this.object, "statechange"));
  }
}

class RTCSctpTransport extends EventTarget {
  #state;

  constructor(token, state) {
    webidl.requireInternal(token);
    super();
    this.#state = state;
  }

  get transport() { return this.#state.transport; }
  get state() { return this.#state.state; }
  get maxMessageSize() { return this.#state.maxMessageSize; }
  get maxChannels() { return this.#state.maxChannels; }

  static {
    makeSctpTransport = (connection) => new SctpTransportState(connection);
    webidl.define(this, { is: (value) => #state in value, events: ["statechange"] });
  }
}
