// https://w3c.github.io/webrtc-pc/#rtcicetransport

let makeIceTransport;

class RTCIceCandidatePair {
  #local;
  #remote;

  constructor(token, local, remote) {
    webidl.requireInternal(token);
    this.#local = local;
    this.#remote = remote;
  }

  get local() { return this.#local; }
  get remote() { return this.#remote; }

  static {
    webidl.define(this, { is: (value) => #local in value });
  }
}

class IceTransportState {
  role = "unknown";
  state = "new";
  gatheringState = "new";
  localCandidates = [];
  remoteCandidates = [];
  selectedPair = null;
  localParameters = null;
  remoteParameters = null;

  constructor() {
    this.object = new RTCIceTransport(webidl.internal, this);
  }

  setState(state) {
    if (this.state === state) return;
    this.state = state;
    webidl.fire(this.object, "statechange");
  }

  setGatheringState(state) {
    if (this.gatheringState === state) return;
    this.gatheringState = state;
    webidl.fire(this.object, "gatheringstatechange");
  }

  addLocalCandidate(candidate) {
    if (this.localCandidates.some((known) => known.candidate === candidate.candidate)) return;
    this.localCandidates.push(candidate);
  }

  addRemoteCandidate(candidate) {
    if (this.remoteCandidates.some((known) => known.candidate === candidate.candidate)) return;
    this.remoteCandidates.push(candidate);
  }

  /// Reads what a description that was just set says of this transport: the first section stands for the bundle.
  describe(connection, type, isRemote) {
    const { pendingLocal, currentLocal, pendingRemote, currentRemote } = connection.descriptions;
    const first = (description) => parseMediaSections(description).find((section) => !section.isRejected);
    const local = first(pendingLocal ?? currentLocal);
    const remote = first(pendingRemote ?? currentRemote);
    this.localParameters = local?.iceParameters ?? null;
    const before = this.remoteParameters?.usernameFragment;
    this.remoteParameters = remote?.iceParameters ?? null;
    if (before !== undefined && this.remoteParameters?.usernameFragment !== before) this.remoteCandidates = [];
    if (this.role === "unknown" && (type === "offer" || type === "answer" || type === "pranswer")) {
      const isOfferer = (type === "offer") !== isRemote;
      this.role = isOfferer || remote?.isLite ? "controlling" : "controlled";
    }
    if (!remote) return;
    for (const line of remote.lines) {
      if (!line.startsWith("a=candidate:")) continue;
      this.addRemoteCandidate(new RTCIceCandidate({
        candidate: line.slice(2), sdpMid: remote.mid ?? "", usernameFragment: this.remoteParameters?.usernameFragment,
      }));
    }
  }

  /// `{local, remote}` of candidate attributes. A peer-reflexive candidate is told in no other way.
  select({ local, remote }) {
    const find = (list, text) => {
      const wanted = parseCandidateAttribute(text);
      const isSame = (known) => wanted && known.protocol === wanted.protocol && known.address === wanted.address
        && known.port === wanted.port && known.type === wanted.type;
      return list.find((known) => known.candidate === text) ?? list.find(isSame)
        ?? new RTCIceCandidate({ candidate: text, sdpMid: list[0]?.sdpMid ?? "0" });
    };
    const [ours, theirs] = [find(this.localCandidates, local), find(this.remoteCandidates, remote)];
    const before = this.selectedPair;
    if (before?.local.candidate === ours.candidate && before.remote.candidate === theirs.candidate) return;
    this.selectedPair = new RTCIceCandidatePair(webidl.internal, ours, theirs);
    webidl.fire(this.object, "selectedcandidatepairchange");
  }

  close() {
    this.state = "closed";
  }
}

class RTCIceTransport extends EventTarget {
  #state;

  constructor(token, state) {
    webidl.requireInternal(token);
    super();
    this.#state = state;
  }

  get role() { return this.#state.role; }
  get component() { return this.#state && "rtp"; }
  get state() { return this.#state.state; }
  get gatheringState() { return this.#state.gatheringState; }

  getLocalCandidates() { return [...this.#state.localCandidates]; }
  getRemoteCandidates() { return [...this.#state.remoteCandidates]; }
  getSelectedCandidatePair() { return this.#state.selectedPair; }
  getLocalParameters() { return RTCIceTransport.#copy(this.#state.localParameters); }
  getRemoteParameters() { return RTCIceTransport.#copy(this.#state.remoteParameters); }

  static #copy(parameters) {
    return parameters ? { ...parameters } : null;
  }

  static {
    makeIceTransport = () => new IceTransportState();
    webidl.define(this, {
      is: (value) => #state in value, events: ["statechange", "gatheringstatechange", "selectedcandidatepairchange"],
    });
  }
}
