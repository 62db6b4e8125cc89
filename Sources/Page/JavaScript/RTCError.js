// https://w3c.github.io/webrtc-pc/#rtcerror-interface

const convertErrorInit = webidl.convert.dictionary("RTCErrorInit", {
  errorDetail: {
    required: true,
    type: webidl.convert.enumeration("RTCErrorDetailType", [
      "data-channel-failure", "dtls-failure", "fingerprint-failure", "sctp-failure", "sdp-syntax-error",
      "hardware-encoder-not-available", "hardware-encoder-error",
    ]),
  },
  sdpLineNumber: webidl.convert.long,
  sctpCauseCode: webidl.convert.long,
  receivedAlert: webidl.convert.unsignedLong,
  sentAlert: webidl.convert.unsignedLong,
});

class RTCError extends DOMException {
  #fields;

  constructor(init, message = "") {
    webidl.requireArguments(arguments, 1, "RTCError");
    const fields = convertErrorInit(init, "RTCError");
    super(message, "OperationError");
    this.#fields = fields;
  }

  get errorDetail() { return this.#fields.errorDetail; }
  get sdpLineNumber() { return this.#fields.sdpLineNumber ?? null; }
  get sctpCauseCode() { return this.#fields.sctpCauseCode ?? null; }
  get receivedAlert() { return this.#fields.receivedAlert ?? null; }
  get sentAlert() { return this.#fields.sentAlert ?? null; }

  static {
    webidl.define(this, { is: (value) => #fields in value, length: 1 });
  }
}
