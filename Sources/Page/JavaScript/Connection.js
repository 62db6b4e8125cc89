// The state of an RTCPeerConnection (its internal slots in the specification's words) and its place on the bridge.

/// Number → WeakRef of a connection that is not closed.
const connections = new Map();

/// Those that events can reach: W3C section 4.8 keeps them while that is so, whether the page holds them or not.
const reachableConnections = new Set();

const lostConnections = new FinalizationRegistry((connection) => {
  connections.delete(connection);
  bridge.post("connection.close", { connection });
});

class Connection {
  number = bridge.identifier();
  isClosed = false;
  signalingState = "stable";
  iceGatheringState = "new";
  iceConnectionState = "new";
  connectionState = "new";
  canTrickleIceCandidates = null;
  /// RTCSessionDescription objects or null, replaced when their content changes.
  descriptions = { pendingLocal: null, currentLocal: null, pendingRemote: null, currentRemote: null };
  /// Type → the last description created, `{sdp, modifications}`.
  lastCreated = {};
  /// Transceiver states, in the order of their creation.
  transceivers = [];
  /// Remote streams by their id, as long as someone has them.
  remoteStreams = new Map();
  /// Data channel states that are not closed.
  channels = new Set();
  hasCreatedChannel = false;
  sctp = null;
  dtls = null;
  /// ICE user name fragments that a restart has to replace ([[LocalIceCredentialsToReplace]]).
  replacedFragments = new Set();
  /// Counts what may change the next offer or answer: `createOffer` looks whether it was overtaken.
  modifications = 0;

  #operations = [];
  #isNegotiationNeeded = false;
  #updatesNegotiationNeededOnEmptyChain = false;

  constructor(peer, configuration) {
    this.peer = peer;
    this.configuration = configuration;
    connections.set(this.number, new WeakRef(this));
    lostConnections.register(this, this.number, this);
    this.post("connection.create", { configuration: bridgedConfiguration(configuration) });
  }

  post(type, fields) {
    bridge.post(type, { connection: this.number, ...fields });
  }

  /// A request whose promise never settles once the connection is closed, as the specification's queued tasks ask.
  request(type, fields) {
    return new Promise((resolve, reject) => {
      const unlessClosed = (settle) => (value) => {
        if (!this.isClosed) settle(value);
      };
      react(bridge.request(type, { connection: this.number, ...fields }), unlessClosed(resolve), unlessClosed(reject));
    });
  }

  fire(event) {
    webidl.fire(this.peer, event);
  }

  /// From now on events can come, so the connection stays until it is closed.
  keep() {
    reachableConnections.add(this);
  }

  requireOpen() {
    if (this.isClosed) throw new DOMException("The connection is closed.", "InvalidStateError");
  }

  /// W3C section 4.4.1.2, "chain": `operation` returns a promise, and runs when those before it have settled.
  chain(operation) {
    if (this.isClosed) return Promise.reject(new DOMException("The connection is closed.", "InvalidStateError"));
    const { promise, resolve, reject } = Promise.withResolvers();
    const run = () => {
      let result;
      try {
        result = operation();
      } catch (error) {
        result = Promise.reject(error);
      }
      react(result, (value) => this.isClosed || resolve(value), (error) => this.isClosed || reject(error));
    };
    const next = () => {
      if (this.isClosed) return;
      this.#operations.shift();
      if (this.#operations.length > 0) {
        this.#operations[0]();
      } else if (this.#updatesNegotiationNeededOnEmptyChain) {
        this.#updatesNegotiationNeededOnEmptyChain = false;
        this.updateNegotiationNeeded();
      }
    };
    react(promise, next, next);
    this.#operations.push(run);
    if (this.#operations.length === 1) run();
    return promise;
  }

  /// W3C section 4.7.3, "update the negotiation-needed flag".
  updateNegotiationNeeded() {
    this.modifications += 1;
    if (this.#operations.length > 0) {
      this.#updatesNegotiationNeededOnEmptyChain = true;
      return;
    }
    queueTask(() => {
      if (this.isClosed) return;
      if (this.#operations.length > 0) {
        this.#updatesNegotiationNeededOnEmptyChain = true;
        return;
      }
      if (this.signalingState !== "stable") return;
      if (!isNegotiationNeeded(this)) {
        this.#isNegotiationNeeded = false;
        return;
      }
      if (this.#isNegotiationNeeded) return;
      this.#isNegotiationNeeded = true;
      this.fire("negotiationneeded");
    });
  }

  clearNegotiationNeeded() {
    this.#isNegotiationNeeded = false;
  }

  transceiver(number) {
    return this.transceivers.find((transceiver) => transceiver.number === number);
  }

  get senders() {
    return this.transceivers.filter((transceiver) => !transceiver.isStopped).map((transceiver) => transceiver.sender);
  }

  /// The one DTLS transport: all media sections are bundled.
  get transport() {
    this.dtls ??= makeDtlsTransport(this);
    return this.dtls;
  }

  /// Takes over descriptions from the box; a description that stayed the same stays the same object.
  setDescriptions(values) {
    for (const name of Object.keys(this.descriptions)) {
      const value = values[name];
      if (value === undefined) continue;
      const old = this.descriptions[name];
      if (value && old && old.type === value.type && old.sdp === value.sdp) continue;
      this.descriptions[name] = value ? new RTCSessionDescription(value) : null;
    }
  }

  /// W3C section 4.4.1.4, "close the connection".
  close() {
    if (this.isClosed) return;
    this.isClosed = true;
    this.signalingState = "closed";
    for (const transceiver of this.transceivers) transceiver.stopForGood();
    for (const channel of this.channels) channel.abandon();
    this.channels.clear();
    this.sctp?.close();
    this.dtls?.close();
    this.iceConnectionState = "closed";
    this.connectionState = "closed";
    this.#operations = [];
    connections.delete(this.number);
    reachableConnections.delete(this);
    lostConnections.unregister(this);
    this.post("connection.close");
  }

  /// Names the handler of a message that concerns one connection. Messages that a closed one had under way are void.
  static on(type, handler) {
    bridge.on(type, (message) => {
      const connection = connections.get(message.connection)?.deref();
      if (connection) handler(connection, message);
    });
  }
}

Connection.on("connection.icecandidate", (connection, { candidate, localDescriptions }) => {
  if (localDescriptions) connection.setDescriptions(localDescriptions);
  const object = candidate ? new RTCIceCandidate(candidate) : null;
  if (object && candidate.candidate) connection.transport.ice.addLocalCandidate(object);
  connection.fire(new RTCPeerConnectionIceEvent("icecandidate", { candidate: object, url: candidate?.url ?? null }));
});

Connection.on("connection.icecandidateerror", (connection, { address, port, url, errorCode, errorText }) => {
  connection.fire(
    new RTCPeerConnectionIceErrorEvent("icecandidateerror", { address, port, url, errorCode, errorText }));
});

// W3C section 5.6.2: the transport's event comes before the connection's.
Connection.on("connection.icegatheringstate", (connection, { state, localDescriptions }) => {
  if (localDescriptions) connection.setDescriptions(localDescriptions);
  if (connection.iceGatheringState === state) return;
  connection.iceGatheringState = state;
  if (connection.dtls) connection.dtls.ice.setGatheringState(state);
  if (!connection.isClosed) connection.fire("icegatheringstatechange");
});

Connection.on("connection.iceconnectionstate", (connection, { state }) => {
  if (connection.iceConnectionState === state) return;
  connection.iceConnectionState = state;
  connection.transport.ice.setState(state);
  if (!connection.isClosed) connection.fire("iceconnectionstatechange");
});

Connection.on("connection.connectionstate", (connection, { state }) => {
  if (connection.connectionState === state) return;
  connection.connectionState = state;
  connection.fire("connectionstatechange");
});

Connection.on("connection.dtlsstate", (connection, message) => connection.transport.update(message));

Connection.on("connection.sctpstate", (connection, message) => connection.sctp?.update(message));

// The page's own check decides, since only the page knows what it has done meanwhile.
Connection.on("connection.negotiationneeded", (connection) => connection.updateNegotiationNeeded());
