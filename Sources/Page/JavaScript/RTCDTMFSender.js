// https://w3c.github.io/webrtc-pc/#rtcdtmfsender

let makeToneSender;

/// The box plays the tones and says when each begins.
class ToneState {
  toneBuffer = "";

  constructor(sender) {
    this.sender = sender;
    this.object = new RTCDTMFSender(webidl.internal, this);
  }

  /// W3C section 7.2, "determine if DTMF can be sent".
  get canSend() {
    const { track, encodings, transceiver } = this.sender;
    return transceiver.connection.connectionState === "connected" && !transceiver.isStopping && track !== null
      && directionSends(transceiver.currentDirection) && encodings[0].active
      && transceiver.codecs.some(({ mimeType }) => mimeType.toLowerCase() === "audio/telephone-event");
  }
}

class RTCDTMFSender extends EventTarget {
  #state;

  constructor(token, state) {
    webidl.requireInternal(token);
    super();
    this.#state = state;
  }

  insertDTMF(tones, duration = 100, interToneGap = 70) {
    const state = this.#state;
    const text = webidl.convert.DOMString(tones).toUpperCase();
    const milliseconds = Math.min(Math.max(webidl.convert.unsignedLong(duration, "duration"), 40), 6000);
    const gap = Math.min(Math.max(webidl.convert.unsignedLong(interToneGap, "interToneGap"), 30), 6000);
    if (!state.canSend) throw new DOMException("Tones cannot be sent now.", "InvalidStateError");
    if (/[^0-9A-D#*,]/.test(text)) throw new DOMException(`"${tones}" holds what is no tone.`, "InvalidCharacterError");
    state.toneBuffer = text;
    state.sender.transceiver.post("sender.tones", { tones: text, duration: milliseconds, gap });
  }

  get canInsertDTMF() { return this.#state.canSend; }
  get toneBuffer() { return this.#state.toneBuffer; }

  static {
    makeToneSender = (sender) => new ToneState(sender);
    webidl.define(this, { is: (value) => #state in value, events: ["tonechange"] });
  }
}

Connection.on("connection.tone", (connection, { transceiver, tone, rest }) => {
  const state = connection.transceiver(transceiver)?.sender.dtmf;
  // A tone that the page replaced while its message was under way is void.
  if (!state || tone + rest !== state.toneBuffer) return;
  state.toneBuffer = rest;
  webidl.fire(state.object, new RTCDTMFToneChangeEvent("tonechange", { tone }));
});
