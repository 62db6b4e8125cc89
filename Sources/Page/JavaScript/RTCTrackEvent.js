// https://w3c.github.io/webrtc-pc/#rtctrackevent

const convertTrackEventInit = webidl.convert.dictionary("RTCTrackEventInit", {
  receiver: { type: webidl.convert.interface(RTCRtpReceiver), required: true },
  streams: { type: webidl.convert.sequence(webidl.convert.interface(MediaStream)), default: () => [] },
  track: { type: webidl.convert.interface(MediaStreamTrack), required: true },
  transceiver: { type: webidl.convert.interface(RTCRtpTransceiver), required: true },
});

class RTCTrackEvent extends Event {
  #init;

  constructor(type, eventInitDict) {
    webidl.requireArguments(arguments, 2, "RTCTrackEvent");
    const init = convertTrackEventInit(eventInitDict, "RTCTrackEvent");
    super(type, eventInitDict);
    this.#init = { ...init, streams: Object.freeze(init.streams) };
  }

  get receiver() { return this.#init.receiver; }
  get track() { return this.#init.track; }
  get streams() { return this.#init.streams; }
  get transceiver() { return this.#init.transceiver; }

  static {
    webidl.define(this, { is: (value) => #init in value, length: 2 });
  }
}
