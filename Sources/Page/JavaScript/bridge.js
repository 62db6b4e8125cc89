// The document's end of the bridge: control messages as JSON, binary frames as they are. BRIDGE.md has the protocol.
// Each message that arrives is a task of its own, so a handler may fire events and settle promises directly.

const bridge = (() => {
  const { send, call } = native;
  const { parse, stringify } = JSON;

  /// Frame kinds, as in BRIDGE.md.
  const kinds = Object.freeze({ control: 0, text: 1, binary: 2, audio: 3, video: 4 });

  let lastIdentifier = -1;
  /// Request number → {resolve, reject}.
  const pending = new Map();
  /// Message type → handler.
  const handlers = new Map();
  /// Frame kind → handler.
  const binaryHandlers = new Map();

  /// The page takes odd numbers, `run` even ones.
  function identifier() {
    lastIdentifier += 2;
    return lastIdentifier;
  }

  function post(type, fields) {
    send(kinds.control, 0, stringify({ type, ...fields }));
  }

  function request(type, fields) {
    return new Promise((resolve, reject) => {
      const id = identifier();
      pending.set(id, { resolve, reject });
      post(type, { id, ...fields });
    });
  }

  /// The exception that an answer's `error` stands for.
  function exception(error) {
    const message = error.message ?? "";
    if (error.errorDetail !== undefined) return new RTCError(error, message);
    switch (error.name) {
      case "TypeError": return new TypeError(message);
      case "RangeError": return new RangeError(message);
      case "OverconstrainedError": return new OverconstrainedError(error.constraint ?? "", message);
      default: return new DOMException(message, error.name);
    }
  }

  function receiveControl(message) {
    if (message.type === "reply") {
      const waiting = pending.get(message.id);
      pending.delete(message.id);
      if (message.error) waiting.reject(exception(message.error));
      else waiting.resolve(message.value);
      return;
    }
    const handler = handlers.get(message.type);
    if (!handler) throw new Error(`No handler for the message ${message.type}.`);
    handler(message);
  }

  // Promises settle before the next message is taken, and tasks that the page queued come before it.
  native.receive((kind, target, payload) => {
    runQueuedTasks();
    try {
      if (kind === kinds.control) receiveControl(parse(payload));
      else binaryHandlers.get(kind)?.(target, payload);
    } finally {
      runMicrotasks();
    }
  });

  return Object.freeze({
    kinds,
    identifier,
    /// Sends a message that has no answer.
    post,
    /// Sends a message and returns a promise of its answer's value; it rejects with the exception the answer names.
    request,
    exception,
    /// Names the one handler of a message type.
    on: (type, handler) => void handlers.set(type, handler),
    /// Names the one handler of a frame kind: `handler(target, payload)`.
    onBinary: (kind, handler) => void binaryHandlers.set(kind, handler),
    sendBinary: (kind, target, payload) => void send(kind, target, payload),
    /// Sends a call and waits for its answer: an ArrayBuffer, or null.
    call: (type, fields) => call(stringify({ type, ...fields })),
  });
})();
