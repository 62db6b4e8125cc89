// MediaStreamTrackEvent: https://w3c.github.io/mediacapture-main/#mediastreamtrackevent

class MediaStreamTrackEvent extends Event {
  #track;

  static #Init = webidl.convert.dictionary("MediaStreamTrackEventInit", {
    track: { type: webidl.convert.interface(MediaStreamTrack), required: true },
  });

  constructor(type, init) {
    webidl.requireArguments(arguments, 2, "MediaStreamTrackEvent");
    const { track } = MediaStreamTrackEvent.#Init(init);
    super(type, init);
    this.#track = track;
  }

  get track() { return this.#track; }

  static {
    webidl.define(this, { is: (value) => #track in value, length: 2 });
  }
}
