// https://w3c.github.io/webrtc-pc/#rtcrtpreceiver-interface

let makeReceiver;

const convertJitterBufferTarget = webidl.convert.nullable(webidl.convert.double);

class RTCRtpReceiver {
  #state;

  constructor(token, state) {
    webidl.requireInternal(token);
    this.#state = state;
  }

  get track() { return this.#state.track; }
  get transport() { return this.#state.transceiver.transport; }

  static getCapabilities(kind) {
    return rtpCapabilities(webidl.convert.DOMString(kind));
  }

  getParameters() {
    const { transceiver } = this.#state;
    const { descriptions } = transceiver.connection;
    const remote = parseMediaSections(descriptions.currentRemote ?? descriptions.pendingRemote)
      .find((section) => section.mid !== null && section.mid === transceiver.mid);
    return structuredClone({
      headerExtensions: transceiver.headerExtensions,
      rtcp: { reducedSize: remote?.lines.includes("a=rtcp-rsize") ?? false },
      codecs: transceiver.codecs,
    });
  }

  getContributingSources() { return RTCRtpReceiver.#sources(this.#state, "contributing"); }
  getSynchronizationSources() { return RTCRtpReceiver.#sources(this.#state, "synchronization"); }

  getStats() {
    const { transceiver } = this.#state;
    return requestStats(transceiver.connection, { transceiver: transceiver.number, side: "receiver" });
  }

  get jitterBufferTarget() { return this.#state.jitterBufferTarget; }
  set jitterBufferTarget(value) {
    const state = this.#state;
    const target = convertJitterBufferTarget(value, "jitterBufferTarget");
    if (target < 0 || target > 4000) throw new RangeError("jitterBufferTarget is outside the range 0 to 4000.");
    state.jitterBufferTarget = target;
    state.transceiver.post("transceiver.set", { jitterBufferTarget: target });
  }

  /// Values stay the same within a task, so one look-up serves both kinds.
  static #sources(state, kind) {
    const { transceiver } = state;
    const { connection } = transceiver;
    if (connection.isClosed || !transceiver.hasTransport) return [];
    if (!state.sources) {
      const answer = bridge.call("receiver.sources", { connection: connection.number, transceiver: transceiver.number });
      if (!answer) return [];
      state.sources = JSON.parse(new TextDecoder().decode(answer));
      queueTask(() => {
        state.sources = null;
      });
      const now = performance.timeOrigin + performance.now();
      for (const source of [...state.sources.synchronization, ...state.sources.contributing]) {
        source.timestamp = now - source.age;
        delete source.age;
      }
    }
    return structuredClone(state.sources[kind]);
  }

  static {
    makeReceiver = (state) => new RTCRtpReceiver(webidl.internal, state);
    webidl.define(this, { is: (value) => #state in value, promises: ["getStats"] });
  }
}
