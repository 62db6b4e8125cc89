// https://w3c.github.io/webrtc-pc/#rtcrtptransceiver-interface

let makeTransceiver;

const convertTransceiverDirection = webidl.convert.enumeration(
  "RTCRtpTransceiverDirection", ["sendrecv", "sendonly", "recvonly", "inactive", "stopped"]);

const convertTransceiverInit = webidl.convert.dictionary("RTCRtpTransceiverInit", {
  direction: { type: convertTransceiverDirection, default: "sendrecv" },
  sendEncodings: { type: webidl.convert.sequence(convertEncodingParameters), default: () => [] },
  streams: { type: webidl.convert.sequence(webidl.convert.interface(MediaStream)), default: () => [] },
});

const convertCodecs = webidl.convert.sequence(convertRtpCodec);

class RTCRtpTransceiver {
  #state;

  constructor(token, state) {
    webidl.requireInternal(token);
    this.#state = state;
  }

  get mid() { return this.#state.mid; }
  get sender() { return this.#state.sender.object; }
  get receiver() { return this.#state.receiver.object; }

  get direction() {
    return this.#state.isStopping ? "stopped" : this.#state.direction;
  }
  set direction(value) {
    const state = this.#state;
    const direction = `${value}`;
    if (!convertTransceiverDirection.accepts(direction)) return;
    if (state.isStopping) throw new DOMException("The transceiver is stopped.", "InvalidStateError");
    if (direction === state.direction) return;
    if (direction === "stopped") throw new TypeError("A transceiver is stopped by stop().");
    state.setDirection(direction);
    state.connection.updateNegotiationNeeded();
  }

  get currentDirection() {
    return this.#state.isStopped ? "stopped" : this.#state.currentDirection;
  }

  /// Superseded by the direction "stopped"; engines still have it.
  get stopped() { return this.#state.isStopped; }

  stop() {
    const state = this.#state;
    state.connection.requireOpen();
    if (state.isStopping) return;
    state.stop();
    state.connection.updateNegotiationNeeded();
  }

  setCodecPreferences(codecs) {
    const state = this.#state;
    const wanted = [];
    for (const codec of convertCodecs(codecs, "codecs")) {
      if (!wanted.some((known) => isSameCodec(known, codec))) wanted.push(codec);
    }
    const known = wanted.length > 0 ? rtpCapabilities(state.kind)?.codecs ?? [] : [];
    for (const codec of wanted) {
      if (!known.some((candidate) => isSameCodec(candidate, codec))) {
        throw new DOMException(`The codec ${codec.mimeType} is not supported as given.`, "InvalidModificationError");
      }
    }
    if (wanted.length > 0 && wanted.every(({ mimeType }) => /\/(rtx|red|ulpfec|flexfec-03|cn)$/i.test(mimeType))) {
      throw new DOMException("The list holds no codec for media.", "InvalidModificationError");
    }
    state.codecPreferences = wanted;
    state.post("transceiver.set", { codecs: wanted });
    state.connection.modifications += 1;
  }

  static {
    makeTransceiver = (state) => new RTCRtpTransceiver(webidl.internal, state);
    webidl.define(this, { is: (value) => #state in value });
  }
}
