// https://w3c.github.io/webrtc-pc/#rtcrtpsender-interface

let makeSender;
let senderState;

class RTCRtpSender {
  #state;

  constructor(token, state) {
    webidl.requireInternal(token);
    this.#state = state;
  }

  get track() { return this.#state.track; }
  get transport() { return this.#state.transceiver.transport; }
  get dtmf() { return this.#state.dtmf?.object ?? null; }

  static getCapabilities(kind) {
    return rtpCapabilities(webidl.convert.DOMString(kind));
  }

  getParameters() {
    const state = this.#state;
    const { transceiver } = state;
    if (!state.lastParameters) {
      const { connection } = transceiver;
      const local = parseMediaSections(connection.descriptions.currentLocal ?? connection.descriptions.pendingLocal)
        .find((section) => section.mid !== null && section.mid === transceiver.mid);
      const cname = local?.lines.find((line) => /^a=ssrc:\d+ cname:/.test(line))?.split(" cname:")[1];
      state.lastParameters = {
        transactionId: crypto.randomUUID(),
        encodings: state.encodings,
        headerExtensions: transceiver.headerExtensions,
        rtcp: { cname: cname ?? "", reducedSize: local?.lines.includes("a=rtcp-rsize") ?? false },
        codecs: transceiver.codecs,
        ...(state.degradationPreference ? { degradationPreference: state.degradationPreference } : {}),
      };
      queueTask(() => {
        state.lastParameters = null;
      });
    }
    return structuredClone(state.lastParameters);
  }

  async setParameters(parameters, setParameterOptions = {}) {
    const state = this.#state;
    const { transceiver } = state;
    const { connection, kind } = transceiver;
    const given = convertSendParameters(parameters, "parameters");
    const { encodingOptions } = convertSetParameterOptions(setParameterOptions, "setParameterOptions");
    if (transceiver.isStopping) throw new DOMException("The transceiver is stopped.", "InvalidStateError");
    const last = state.lastParameters;
    if (!last) {
      throw new DOMException("Parameters have to be those that getParameters() returned just now.", "InvalidStateError");
    }
    const { encodings } = given;
    const modified = findModification(given, last);
    if (encodingOptions.length > 0 && encodingOptions.length !== encodings.length) {
      throw new DOMException("encodingOptions and encodings differ in their number.", "InvalidModificationError");
    }
    if (modified) throw new DOMException(`${modified} cannot be changed.`, "InvalidModificationError");
    checkEncodings(kind, encodings);
    for (const encoding of encodings) {
      if (kind === "video") encoding.scaleResolutionDownBy ??= 1;
      const { codec } = encoding;
      const preferred = transceiver.codecPreferences;
      const choices = transceiver.codecs.length > 0
        ? transceiver.codecs : preferred.length > 0 ? preferred : codec ? rtpCapabilities(kind)?.codecs ?? [] : [];
      if (codec && !choices.some((known) => isCodecCompatible(codec, known))) {
        throw new DOMException(`The codec ${codec.mimeType} was not negotiated.`, "InvalidModificationError");
      }
    }
    const { degradationPreference } = given;
    const keyFrames = encodingOptions.map(({ keyFrame }) => keyFrame);
    await transceiver.request("sender.setParameters", { encodings, degradationPreference, keyFrames });
    state.lastParameters = null;
    state.encodings = encodings;
    state.degradationPreference = degradationPreference;
  }

  replaceTrack(withTrack) {
    const state = this.#state;
    const { transceiver } = state;
    const track = webidl.convert.nullable(webidl.convert.interface(MediaStreamTrack))(withTrack, "withTrack");
    if (track && trackKind(track) !== transceiver.kind) {
      throw new TypeError(`A track of kind ${trackKind(track)} cannot replace one of kind ${transceiver.kind}.`);
    }
    return transceiver.connection.chain(async () => {
      if (transceiver.isStopping) throw new DOMException("The transceiver is stopped.", "InvalidStateError");
      await transceiver.request("sender.setTrack", { track: track ? trackNumber(track) : null, isReplacing: true });
      state.track = track;
    });
  }

  setStreams(...streams) {
    const state = this.#state;
    const { transceiver } = state;
    const ids = streams.map((stream, index) =>
      webidl.convert.interface(MediaStream)(stream, `Argument ${index + 1} of setStreams`).id);
    transceiver.connection.requireOpen();
    state.streamIds = [...new Set(ids)];
    transceiver.post("transceiver.set", { streams: state.streamIds });
    transceiver.connection.updateNegotiationNeeded();
  }

  getStats() {
    const { transceiver } = this.#state;
    return requestStats(transceiver.connection, { transceiver: transceiver.number, side: "sender" });
  }

  static {
    makeSender = (state) => new RTCRtpSender(webidl.internal, state);
    senderState = (sender) => sender.#state;
    webidl.define(this, { is: (value) => #state in value, promises: ["setParameters", "replaceTrack", "getStats"] });
  }
}
