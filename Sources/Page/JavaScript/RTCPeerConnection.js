// https://w3c.github.io/webrtc-pc/#rtcpeerconnection-interface

let connectionOf;

const convertAnswerOptions = webidl.convert.dictionary("RTCAnswerOptions", {});

const convertOfferOptions = webidl.convert.dictionary("RTCOfferOptions", {
  iceRestart: { type: webidl.convert.boolean, default: false },
  offerToReceiveAudio: webidl.convert.boolean,
  offerToReceiveVideo: webidl.convert.boolean,
});

const convertTrack = webidl.convert.interface(MediaStreamTrack);
const convertStream = webidl.convert.interface(MediaStream);

/// W3C section 4.4.3, legacy overloads: what `begin` promises settles through callbacks; the promise returned means nothing.
function callBack(success, failure, begin) {
  const succeed = webidl.convert.callback(success, "successCallback");
  const fail = webidl.convert.callback(failure, "failureCallback");
  react(begin(), (value) => webidl.invoke(succeed, value), (error) => webidl.invoke(fail, error));
  return Promise.resolve();
}

class RTCPeerConnection extends EventTarget {
  #connection;

  constructor(configuration = {}) {
    super();
    this.#connection = new Connection(this, makeConfiguration(configuration, null));
  }

  get localDescription() {
    const { pendingLocal, currentLocal } = this.#connection.descriptions;
    return pendingLocal ?? currentLocal;
  }
  get currentLocalDescription() { return this.#connection.descriptions.currentLocal; }
  get pendingLocalDescription() { return this.#connection.descriptions.pendingLocal; }
  get remoteDescription() {
    const { pendingRemote, currentRemote } = this.#connection.descriptions;
    return pendingRemote ?? currentRemote;
  }
  get currentRemoteDescription() { return this.#connection.descriptions.currentRemote; }
  get pendingRemoteDescription() { return this.#connection.descriptions.pendingRemote; }
  get signalingState() { return this.#connection.signalingState; }
  get iceGatheringState() { return this.#connection.iceGatheringState; }
  get iceConnectionState() { return this.#connection.iceConnectionState; }
  get connectionState() { return this.#connection.connectionState; }
  get canTrickleIceCandidates() { return this.#connection.canTrickleIceCandidates; }
  get sctp() { return this.#connection.sctp?.object ?? null; }

  createOffer(...given) {
    if (given.length > 1) {
      const [success, failure, options] = given;
      return callBack(success, failure, () => RTCPeerConnection.#createOffer(this.#connection, options));
    }
    return RTCPeerConnection.#createOffer(this.#connection, given[0]);
  }

  static #createOffer(connection, options) {
    const wanted = convertOfferOptions(options, "options");
    if (connection.isClosed) throw new DOMException("The connection is closed.", "InvalidStateError");
    offerToReceive(connection, "audio", wanted.offerToReceiveAudio);
    offerToReceive(connection, "video", wanted.offerToReceiveVideo);
    return connection.chain(() => createDescription(connection, "offer", { iceRestart: wanted.iceRestart }));
  }

  createAnswer(...given) {
    const connection = this.#connection;
    const create = () => connection.chain(() => createDescription(connection, "answer"));
    if (given.length > 1) {
      const [success, failure] = given;
      return callBack(success, failure, create);
    }
    convertAnswerOptions(given[0], "options");
    return create();
  }

  setLocalDescription(...given) {
    const connection = this.#connection;
    const description = convertLocalSessionDescriptionInit(given[0], "description");
    const set = () => connection.chain(() => setLocalDescription(connection, description));
    return given.length < 3 ? set() : callBack(given[1], given[2], set);
  }

  setRemoteDescription(description, ...callbacks) {
    const connection = this.#connection;
    const { type, sdp } = convertSessionDescriptionInit(description, "description");
    const set = () => connection.chain(() => setRemoteDescription(connection, { type, sdp }));
    return callbacks.length < 2 ? set() : callBack(callbacks[0], callbacks[1], set);
  }

  addIceCandidate(...given) {
    const add = () => addIceCandidate(this.#connection, given[0]);
    return given.length < 3 ? add() : callBack(given[1], given[2], add);
  }

  restartIce() {
    const connection = this.#connection;
    if (connection.isClosed) return;
    const { currentLocal, pendingLocal } = connection.descriptions;
    if (!currentLocal && !pendingLocal) return;
    connection.replacedFragments = new Set(usernameFragments(currentLocal, pendingLocal));
    connection.post("connection.restartIce");
    connection.updateNegotiationNeeded();
  }

  getConfiguration() { return copyConfiguration(this.#connection.configuration); }

  setConfiguration(configuration = {}) {
    const connection = this.#connection;
    connection.requireOpen();
    const { configuration: current, descriptions } = connection;
    const wanted = makeConfiguration(configuration, current);
    const isLocalSet = descriptions.currentLocal || descriptions.pendingLocal;
    if (isLocalSet && wanted.iceCandidatePoolSize !== current.iceCandidatePoolSize) {
      throw new DOMException("The candidate pool's size cannot be changed any more.", "InvalidModificationError");
    }
    connection.configuration = wanted;
    // What could be wrong has been found above, so the answer tells nothing that a page would wait for.
    react(connection.request("connection.configure", { configuration: bridgedConfiguration(wanted) }), () => {}, reportError);
  }

  close() { this.#connection.close(); }

  getSenders() { return this.#connection.senders.map((sender) => sender.object); }

  getReceivers() {
    return this.#connection.transceivers.filter((transceiver) => !transceiver.isStopped)
      .map((transceiver) => transceiver.receiver.object);
  }

  getTransceivers() { return this.#connection.transceivers.map((transceiver) => transceiver.object); }

  addTrack(track, ...streams) {
    const connection = this.#connection;
    convertTrack(track, "track");
    const ids = streams.map((stream, index) => convertStream(stream, `Argument ${index + 2} of addTrack`).id);
    connection.requireOpen();
    return addTrack(connection, track, ids).object;
  }

  removeTrack(sender) {
    const connection = this.#connection;
    const state = senderState(webidl.convert.interface(RTCRtpSender)(sender, "sender"));
    connection.requireOpen();
    removeTrack(connection, state);
  }

  addTransceiver(trackOrKind, init = {}) {
    const connection = this.#connection;
    const track = webidl.is(MediaStreamTrack, trackOrKind) ? trackOrKind : null;
    const kind = track ? trackKind(track) : webidl.convert.DOMString(trackOrKind);
    const { direction, sendEncodings, streams } = convertTransceiverInit(init, "init");
    if (kind !== "audio" && kind !== "video") throw new TypeError(`"${kind}" is no kind of a track.`);
    if (direction === "stopped") throw new TypeError("A transceiver cannot begin stopped.");
    const encodings = makeSendEncodings(kind, sendEncodings);
    connection.requireOpen();
    const streamIds = streams.map((stream) => stream.id);
    const transceiver = TransceiverState.create(connection, kind, direction, { track, streamIds, encodings });
    connection.updateNegotiationNeeded();
    return transceiver.object;
  }

  createDataChannel(label, dataChannelDict = {}) {
    const connection = this.#connection;
    const text = webidl.convert.USVString(label);
    const init = convertDataChannelInit(dataChannelDict, "dataChannelDict");
    connection.requireOpen();
    return createDataChannel(connection, text, init);
  }

  getStats(selector = null) {
    const connection = this.#connection;
    if (selector === null || selector === undefined) return requestStats(connection, {});
    const track = convertTrack(selector, "selector");
    const found = [];
    for (const transceiver of connection.transceivers) {
      if (transceiver.isStopped && !connection.isClosed) continue;
      if (transceiver.sender.track === track) found.push({ transceiver: transceiver.number, side: "sender" });
      if (transceiver.receiver.track === track) found.push({ transceiver: transceiver.number, side: "receiver" });
    }
    if (found.length !== 1) {
      throw new DOMException(`The track belongs to ${found.length} senders and receivers.`, "InvalidAccessError");
    }
    return requestStats(connection, found[0]);
  }

  static generateCertificate(keygenAlgorithm) { return generateCertificate(keygenAlgorithm); }

  // Superseded, but pages still use them: streams as Chromium has them, deduced from senders and receivers.
  addStream(stream) { addStream(this.#connection, convertStream(stream, "stream")); }
  removeStream(stream) { removeStream(this.#connection, convertStream(stream, "stream")); }
  getLocalStreams() { return localStreams(this.#connection); }
  getRemoteStreams() { return remoteStreams(this.#connection); }

  static {
    connectionOf = (peer) => peer.#connection;
    webidl.define(this, {
      is: (value) => #connection in value,
      promises: [
        "createOffer", "createAnswer", "setLocalDescription", "setRemoteDescription", "addIceCandidate", "getStats",
        "generateCertificate",
      ],
      events: [
        "negotiationneeded", "icecandidate", "icecandidateerror", "signalingstatechange", "iceconnectionstatechange",
        "icegatheringstatechange", "connectionstatechange", "track", "datachannel", "addstream", "removestream",
      ],
    });
  }
}
