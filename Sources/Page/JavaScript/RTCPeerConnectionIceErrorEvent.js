// https://w3c.github.io/webrtc-pc/#rtcpeerconnectioniceerrorevent

const convertIceErrorEventInit = webidl.convert.dictionary("RTCPeerConnectionIceErrorEventInit", {
  address: { type: webidl.convert.nullable(webidl.convert.DOMString), default: null },
  errorCode: { type: webidl.convert.unsignedShort, required: true },
  errorText: { type: webidl.convert.USVString, default: "" },
  port: { type: webidl.convert.nullable(webidl.convert.unsignedShort), default: null },
  url: { type: webidl.convert.USVString, default: "" },
});

class RTCPeerConnectionIceErrorEvent extends Event {
  #init;

  constructor(type, eventInitDict) {
    webidl.requireArguments(arguments, 2, "RTCPeerConnectionIceErrorEvent");
    const init = convertIceErrorEventInit(eventInitDict, "RTCPeerConnectionIceErrorEvent");
    super(type, eventInitDict);
    this.#init = init;
  }

  get address() { return this.#init.address; }
  get port() { return this.#init.port; }
  get url() { return this.#init.url; }
  get errorCode() { return this.#init.errorCode; }
  get errorText() { return this.#init.errorText; }

  static {
    webidl.define(this, { is: (value) => #init in value, length: 2 });
  }
}
