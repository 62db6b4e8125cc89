// https://w3c.github.io/webrtc-pc/#rtcpeerconnectioniceevent

const convertIceEventInit = webidl.convert.dictionary("RTCPeerConnectionIceEventInit", {
  candidate: { type: webidl.convert.nullable(webidl.convert.interface(RTCIceCandidate)), default: null },
  url: { type: webidl.convert.nullable(webidl.convert.USVString), default: null },
});

class RTCPeerConnectionIceEvent extends Event {
  #init;

  constructor(type, eventInitDict = {}) {
    webidl.requireArguments(arguments, 1, "RTCPeerConnectionIceEvent");
    const init = convertIceEventInit(eventInitDict, "RTCPeerConnectionIceEvent");
    super(type, eventInitDict);
    this.#init = init;
  }

  get candidate() { return this.#init.candidate; }
  get url() { return this.#init.url; }

  static {
    webidl.define(this, { is: (value) => #init in value, length: 1 });
  }
}
