// https://w3c.github.io/webrtc-pc/#rtcicecandidate-interface

const convertIceCandidateInit = webidl.convert.dictionary("RTCIceCandidateInit", {
  candidate: { type: webidl.convert.DOMString, default: "" },
  sdpMLineIndex: { type: webidl.convert.nullable(webidl.convert.unsignedShort), default: null },
  sdpMid: { type: webidl.convert.nullable(webidl.convert.DOMString), default: null },
  usernameFragment: { type: webidl.convert.nullable(webidl.convert.DOMString), default: null },
});

const convertLocalIceCandidateInit = webidl.convert.dictionary("RTCLocalIceCandidateInit", {
  relayProtocol: {
    type: webidl.convert.nullable(
      webidl.convert.enumeration("RTCIceServerTransportProtocol", ["udp", "tcp", "tls"])),
    default: null,
  },
  url: { type: webidl.convert.nullable(webidl.convert.USVString), default: null },
}, convertIceCandidateInit);

/// The fields of a candidate attribute (RFC 8839 section 5.1), or null when it does not follow the grammar.
function parseCandidateAttribute(text) {
  const words = text.replace(/^candidate:/, "").trim().split(/ +/);
  if (words.length < 8 || words[6] !== "typ") return null;
  const number = (word, limit) => (/^\d+$/.test(word) && +word <= limit ? +word : null);
  const component = { 1: "rtp", 2: "rtcp" }[words[1]];
  const protocol = words[2].toLowerCase();
  const priority = number(words[3], 0xffffffff);
  const port = number(words[5], 0xffff);
  const type = words[7];
  if (!component || !["udp", "tcp"].includes(protocol) || priority === null || port === null) return null;
  if (!["host", "srflx", "prflx", "relay"].includes(type)) return null;
  const fields = {
    foundation: words[0], component, priority, address: words[4], protocol, port, type,
    tcpType: null, relatedAddress: null, relatedPort: null, usernameFragment: null,
  };
  for (let index = 8; index + 1 < words.length; index += 2) {
    const value = words[index + 1];
    switch (words[index]) {
      case "raddr": fields.relatedAddress = value; break;
      case "rport":
        fields.relatedPort = number(value, 0xffff);
        if (fields.relatedPort === null) return null;
        break;
      case "tcptype":
        if (!["active", "passive", "so"].includes(value)) return null;
        if (protocol === "tcp") fields.tcpType = value;
        break;
      case "ufrag": fields.usernameFragment = value; break;
    }
  }
  return fields;
}

class RTCIceCandidate {
  #init;
  #fields;

  constructor(candidateInitDict = {}) {
    const init = convertLocalIceCandidateInit(candidateInitDict, "RTCIceCandidate");
    if (init.sdpMid === null && init.sdpMLineIndex === null) {
      throw new TypeError("RTCIceCandidate: sdpMid and sdpMLineIndex are both null.");
    }
    this.#init = init;
    this.#fields = parseCandidateAttribute(init.candidate);
  }

  get candidate() { return this.#init.candidate; }
  get sdpMid() { return this.#init.sdpMid; }
  get sdpMLineIndex() { return this.#init.sdpMLineIndex; }
  get foundation() { return this.#fields?.foundation ?? null; }
  get component() { return this.#fields?.component ?? null; }
  get priority() { return this.#fields?.priority ?? null; }
  get address() { return this.#fields?.address ?? null; }
  get protocol() { return this.#fields?.protocol ?? null; }
  get port() { return this.#fields?.port ?? null; }
  get type() { return this.#fields?.type ?? null; }
  get tcpType() { return this.#fields?.tcpType ?? null; }
  get relatedAddress() { return this.#fields?.relatedAddress ?? null; }
  get relatedPort() { return this.#fields?.relatedPort ?? null; }
  get usernameFragment() { return this.#init.usernameFragment; }
  get relayProtocol() { return this.#init.relayProtocol; }
  get url() { return this.#init.url; }

  toJSON() {
    const { candidate, sdpMid, sdpMLineIndex, usernameFragment } = this.#init;
    return { candidate, sdpMid, sdpMLineIndex, usernameFragment };
  }

  static {
    webidl.define(this, { is: (value) => #init in value });
  }
}
