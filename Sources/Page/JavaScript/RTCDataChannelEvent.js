// https://w3c.github.io/webrtc-pc/#rtcdatachannelevent

const convertDataChannelEventInit = webidl.convert.dictionary("RTCDataChannelEventInit", {
  channel: { type: webidl.convert.interface(RTCDataChannel), required: true },
});

class RTCDataChannelEvent extends Event {
  #channel;

  constructor(type, eventInitDict) {
    webidl.requireArguments(arguments, 2, "RTCDataChannelEvent");
    const { channel } = convertDataChannelEventInit(eventInitDict, "RTCDataChannelEvent");
    super(type, eventInitDict);
    this.#channel = channel;
  }

  get channel() { return this.#channel; }

  static {
    webidl.define(this, { is: (value) => #channel in value, length: 2 });
  }
}
