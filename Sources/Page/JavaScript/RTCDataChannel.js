// https://w3c.github.io/webrtc-pc/#rtcdatachannel

/// The state of the channel with that number on the bridge, or undefined.
let dataChannel;
let createDataChannel;

const convertDataChannelInit = webidl.convert.dictionary("RTCDataChannelInit", {
  id: webidl.convert.enforceRange.unsignedShort,
  maxPacketLifeTime: webidl.convert.enforceRange.unsignedShort,
  maxRetransmits: webidl.convert.enforceRange.unsignedShort,
  negotiated: { type: webidl.convert.boolean, default: false },
  ordered: { type: webidl.convert.boolean, default: true },
  priority: { type: convertPriority, default: "low" },
  protocol: { type: webidl.convert.USVString, default: "" },
});

const encodeText = (() => {
  const encoder = new TextEncoder();
  return (text) => encoder.encode(text);
})();

/// Number → WeakRef of a channel's state: what is not closed is held by its connection.
const dataChannels = new Map();

class DataChannelState {
  readyState = "connecting";
  bufferedAmount = 0;
  bufferedAmountLowThreshold = 0;
  binaryType = "arraybuffer";
  /// Settles when the Blobs sent so far have been read: what comes after them waits. Null when there are none.
  #blobs = null;

  constructor(connection, number, { label, ordered, maxPacketLifeTime, maxRetransmits, protocol, negotiated, identifier, priority }) {
    this.connection = connection;
    this.number = number;
    this.label = label;
    this.ordered = ordered;
    this.maxPacketLifeTime = maxPacketLifeTime ?? null;
    this.maxRetransmits = maxRetransmits ?? null;
    this.protocol = protocol;
    this.negotiated = negotiated;
    this.identifier = identifier ?? null;
    this.priority = priority ?? "low";
    this.object = new RTCDataChannel(webidl.internal, this);
    dataChannels.set(number, new WeakRef(this));
    connection.channels.add(this);
    connection.keep();
  }

  setIdentifier(identifier) {
    this.identifier ??= identifier;
  }

  fire(event) {
    webidl.fire(this.object, event);
  }

  /// W3C section 6.1.1.1, "announce the data channel as open".
  announceOpen() {
    if (this.readyState === "closing" || this.readyState === "closed") return;
    this.readyState = "open";
    this.fire("open");
  }

  /// The peer, or the association's end, began to close it.
  announceClosing() {
    if (this.readyState === "closing" || this.readyState === "closed") return;
    this.readyState = "closing";
    this.fire("closing");
  }

  /// W3C section 6.2.5: closed, with an error if it was not closed by hand.
  announceClosed(error) {
    if (this.readyState === "closed") return;
    // The peer closed it: the page is told of both steps.
    if (!error) this.announceClosing();
    if (this.readyState === "closed") return;
    this.readyState = "closed";
    this.forget();
    if (error) {
      const { errorDetail = "sctp-failure", sctpCauseCode, receivedAlert, message = "" } = error;
      this.fire(new RTCErrorEvent("error", {
        error: new RTCError({ errorDetail, sctpCauseCode: sctpCauseCode ?? undefined, receivedAlert: receivedAlert ?? undefined }, message),
      }));
    }
    this.fire("close");
  }

  /// With its connection: no event is fired.
  abandon() {
    this.readyState = "closed";
    dataChannels.delete(this.number);
  }

  forget() {
    dataChannels.delete(this.number);
    this.connection.channels.delete(this);
  }

  close() {
    if (this.readyState === "closing" || this.readyState === "closed") return;
    this.readyState = "closing";
    this.#afterBlobs(() => bridge.post("channel.close", { channel: this.number }));
  }

  receive(data) {
    if (this.readyState === "closed") return;
    const value = typeof data !== "string" && this.binaryType === "blob" ? new Blob([data]) : data;
    this.fire(new MessageEvent("message", { data: value, origin: self.origin }));
  }

  /// W3C section 6.2, "send() algorithm": `size` in bytes; `payload` is a view, or a Blob.
  send(kind, payload, size) {
    if (this.readyState !== "open") {
      throw new DOMException(`The data channel is ${this.readyState}.`, "InvalidStateError");
    }
    const most = this.connection.sctp?.maxMessageSize ?? Infinity;
    if (size > most) throw new TypeError(`A message of ${size} bytes is longer than the peer takes (${most}).`);
    if (this.bufferedAmount + size > DataChannelState.#bufferLimit) {
      throw new DOMException("The send buffer of the data channel is full.", "OperationError");
    }
    this.bufferedAmount += size;
    if (payload instanceof Blob) {
      const reading = payload.arrayBuffer();
      const before = this.#blobs ?? Promise.resolve();
      this.#hold(before.then(async () => this.#deliver(kind, await reading)));
    } else if (this.#blobs) {
      const copy = payload.slice(0);
      this.#afterBlobs(() => this.#deliver(kind, copy));
    } else {
      this.#deliver(kind, payload);
    }
  }

  #deliver(kind, payload) {
    if (this.readyState !== "closed") bridge.sendBinary(kind, this.number, payload);
  }

  #afterBlobs(steps) {
    if (this.#blobs) this.#hold(this.#blobs.then(steps));
    else steps();
  }

  /// A Blob that cannot be read is an error of the channel: what follows it could no longer be in order.
  #hold(promise) {
    const held = promise.catch(({ message }) => {
      bridge.post("channel.close", { channel: this.number });
      this.announceClosed({ errorDetail: "data-channel-failure", message });
    });
    this.#blobs = held;
    react(held, () => {
      if (this.#blobs === held) this.#blobs = null;
    });
  }

  drained(bytes) {
    const before = this.bufferedAmount;
    this.bufferedAmount = Math.max(0, before - bytes);
    const threshold = this.bufferedAmountLowThreshold;
    if (before > threshold && this.bufferedAmount <= threshold) this.fire("bufferedamountlow");
  }

  /// Bytes, as in Chromium: beyond them a page is told to wait instead of filling the memory.
  static #bufferLimit = 16 * 1024 * 1024;
}

class RTCDataChannel extends EventTarget {
  #state;

  constructor(token, state) {
    webidl.requireInternal(token);
    super();
    this.#state = state;
  }

  get label() { return this.#state.label; }
  get ordered() { return this.#state.ordered; }
  get maxPacketLifeTime() { return this.#state.maxPacketLifeTime; }
  get maxRetransmits() { return this.#state.maxRetransmits; }
  get protocol() { return this.#state.protocol; }
  get negotiated() { return this.#state.negotiated; }
  get id() { return this.#state.identifier; }
  get priority() { return this.#state.priority; }
  get readyState() { return this.#state.readyState; }
  get bufferedAmount() { return this.#state.bufferedAmount; }

  get bufferedAmountLowThreshold() { return this.#state.bufferedAmountLowThreshold; }
  set bufferedAmountLowThreshold(value) {
    this.#state.bufferedAmountLowThreshold =
      webidl.convert.enforceRange.unsignedLong(value, "bufferedAmountLowThreshold");
  }

  get binaryType() { return this.#state.binaryType; }
  set binaryType(value) {
    const state = this.#state;
    const type = `${value}`;
    if (type === "blob" || type === "arraybuffer") state.binaryType = type;
  }

  send(data) {
    const state = this.#state;
    if (data instanceof Blob) {
      state.send(bridge.kinds.binary, data, data.size);
    } else if (data instanceof ArrayBuffer) {
      state.send(bridge.kinds.binary, new Uint8Array(data), data.byteLength);
    } else if (ArrayBuffer.isView(data)) {
      state.send(bridge.kinds.binary, new Uint8Array(data.buffer, data.byteOffset, data.byteLength), data.byteLength);
    } else {
      const bytes = encodeText(`${data}`);
      state.send(bridge.kinds.text, bytes, bytes.byteLength);
    }
  }

  close() {
    this.#state.close();
  }

  static {
    dataChannel = (number) => dataChannels.get(number)?.deref();
    webidl.define(this, {
      is: (value) => #state in value, events: ["open", "bufferedamountlow", "error", "closing", "close", "message"],
    });
  }
}

/// W3C section 6.1, createDataChannel, for an open connection.
createDataChannel = (connection, label, init) => {
  if (encodeText(label).byteLength > 65535) throw new TypeError("The label is longer than 65535 bytes.");
  if (init.maxPacketLifeTime !== undefined && init.maxRetransmits !== undefined) {
    throw new TypeError("maxPacketLifeTime and maxRetransmits exclude each other.");
  }
  if (encodeText(init.protocol).byteLength > 65535) throw new TypeError("The protocol is longer than 65535 bytes.");
  const { id, ...rest } = init;
  const identifier = init.negotiated ? id : undefined;
  if (init.negotiated && identifier === undefined) throw new TypeError("A negotiated channel needs an id.");
  if (identifier === 65535) throw new TypeError("The id 65535 is not allowed.");
  const most = connection.sctp?.maxChannels ?? 65535;
  const isUsed = [...connection.channels].some((channel) => channel.identifier === identifier);
  if (identifier !== undefined && (isUsed || identifier >= most)) {
    throw new DOMException(`The id ${identifier} is not free.`, "OperationError");
  }
  const channel = new DataChannelState(connection, bridge.identifier(), { label, identifier, ...rest });
  if (identifier === undefined && connection.sctp) channel.identifier = freeChannelIdentifier(connection, most);
  connection.post("channel.create", { channel: channel.number, label, ...rest, identifier: channel.identifier ?? undefined });
  connection.hasCreatedChannel = true;
  connection.updateNegotiationNeeded();
  return channel.object;
};

/// RFC 8832 section 6: the DTLS client takes even numbers, the server odd ones. Null while the roles are open.
function freeChannelIdentifier(connection, most) {
  const setup = (description) => /^a=setup:(active|passive)/m.exec(description?.sdp ?? "")?.[1];
  const { currentLocal, currentRemote } = connection.descriptions;
  const local = setup(currentLocal);
  const remote = setup(currentRemote);
  if (!local && !remote) return null;
  const isClient = local ? local === "active" : remote === "passive";
  const used = new Set([...connection.channels].map((channel) => channel.identifier));
  for (let identifier = isClient ? 0 : 1; identifier < most; identifier += 2) {
    if (!used.has(identifier)) return identifier;
  }
  throw new DOMException("No channel is left.", "OperationError");
}

Connection.on("connection.channel", (connection, { channel, ...init }) => {
  const state = new DataChannelState(connection, channel, init);
  state.readyState = "open";
  connection.fire(new RTCDataChannelEvent("datachannel", { channel: state.object }));
  state.announceOpen();
});

bridge.on("channel.state", ({ channel, state, identifier, error }) => {
  const found = dataChannel(channel);
  if (!found) return;
  if (identifier !== undefined && identifier !== null) found.identifier = identifier;
  if (state === "open" && found.readyState === "connecting") found.announceOpen();
  else if (state === "closing") found.announceClosing();
  else if (state === "closed") found.announceClosed(error);
});

bridge.on("channel.drained", ({ channel, bytes }) => dataChannel(channel)?.drained(bytes));

bridge.onBinary(bridge.kinds.text, (channel, text) => dataChannel(channel)?.receive(text));
bridge.onBinary(bridge.kinds.binary, (channel, bytes) => dataChannel(channel)?.receive(bytes));
