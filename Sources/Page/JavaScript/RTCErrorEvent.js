// https://w3c.github.io/webrtc-pc/#rtcerrorevent-interface

const convertErrorEventInit = webidl.convert.dictionary("RTCErrorEventInit", {
  error: { required: true, type: webidl.convert.interface(RTCError) },
});

class RTCErrorEvent extends Event {
  #error;

  constructor(type, eventInitDict) {
    webidl.requireArguments(arguments, 2, "RTCErrorEvent");
    const { error } = convertErrorEventInit(eventInitDict, "RTCErrorEvent");
    super(type, eventInitDict);
    this.#error = error;
  }

  get error() { return this.#error; }

  static {
    webidl.define(this, { is: (value) => #error in value, length: 2 });
  }
}
