// https://w3c.github.io/webrtc-pc/#rtcsessiondescription-class

const convertSdpType = webidl.convert.enumeration("RTCSdpType", ["offer", "pranswer", "answer", "rollback"]);

const convertSessionDescriptionInit = webidl.convert.dictionary("RTCSessionDescriptionInit", {
  sdp: { type: webidl.convert.DOMString, default: "" },
  type: { type: convertSdpType, required: true },
});

const convertLocalSessionDescriptionInit = webidl.convert.dictionary("RTCLocalSessionDescriptionInit", {
  sdp: { type: webidl.convert.DOMString, default: "" },
  type: convertSdpType,
});

class RTCSessionDescription {
  #type;
  #sdp;

  constructor(descriptionInitDict) {
    webidl.requireArguments(arguments, 1, "RTCSessionDescription");
    const init = convertSessionDescriptionInit(descriptionInitDict, "RTCSessionDescription");
    this.#type = init.type;
    this.#sdp = init.sdp;
  }

  get type() { return this.#type; }
  get sdp() { return this.#sdp; }

  toJSON() {
    return { type: this.#type, sdp: this.#sdp };
  }

  static {
    webidl.define(this, { is: (value) => #type in value, length: 1 });
  }
}
