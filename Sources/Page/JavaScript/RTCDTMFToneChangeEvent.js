// https://w3c.github.io/webrtc-pc/#rtcdtmftonechangeevent

const convertToneChangeEventInit = webidl.convert.dictionary("RTCDTMFToneChangeEventInit", {
  tone: { type: webidl.convert.DOMString, default: "" },
});

class RTCDTMFToneChangeEvent extends Event {
  #tone;

  constructor(type, eventInitDict = {}) {
    webidl.requireArguments(arguments, 1, "RTCDTMFToneChangeEvent");
    const { tone } = convertToneChangeEventInit(eventInitDict, "RTCDTMFToneChangeEvent");
    super(type, eventInitDict);
    this.#tone = tone;
  }

  get tone() { return this.#tone; }

  static {
    webidl.define(this, { is: (value) => #tone in value, length: 1 });
  }
}
