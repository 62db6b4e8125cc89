// https://w3c.github.io/webrtc-pc/#rtcdtlstransport-interface

let makeDtlsTransport;

class DtlsTransportState {
  state = "new";
  /// Certificates as ArrayBuffers of DER.
  remoteCertificates = [];
  ice = makeIceTransport();

  constructor() {
    this.object = new RTCDtlsTransport(webidl.internal, this);
  }

  update({ state, remoteCertificates, selectedPair }) {
    if (selectedPair) this.ice.select(selectedPair);
    if (remoteCertificates) {
      this.remoteCertificates = remoteCertificates.map((text) =>
        Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
    }
    if (!state || state === this.state || this.state === "closed") return;
    this.state = state;
    webidl.fire(this.object, "statechange");
  }

  close() {
    this.state = "closed";
    this.ice.close();
  }
}

class RTCDtlsTransport extends EventTarget {
  #state;

  constructor(token, state) {
    webidl.requireInternal(token);
    super();
    this.#state = state;
  }

  get iceTransport() { return this.#state.ice.object; }
  get state() { return this.#state.state; }

  getRemoteCertificates() {
    return this.#state.remoteCertificates.map((certificate) => certificate.slice(0));
  }

  static {
    makeDtlsTransport = () => new DtlsTransportState();
    webidl.define(this, { is: (value) => #state in value, events: ["statechange", "error"] });
  }
}
