// What a page lets sound through a Web Audio context (ring tones, mixers, volume controls) is heard from the box: the web process has
// no output of its own. Whatever is connected to a context's destination is connected to a feed as well; silence is not sent.

{
  const { connect, disconnect } = AudioNode.prototype;
  const NativeContext = AudioContext;
  /// Context → its output.
  const outputs = new WeakMap();
  /// Blocks of silence after which the box's output is given back: two seconds.
  const longestSilence = 200;

  class Output {
    input;
    #track = 0;
    #element = bridge.identifier();
    #silence = longestSilence;

    constructor(context) {
      this.input = soundFeed(context, (block) => this.#take(block));
      context.addEventListener("statechange", () => {
        if (context.state === "closed" && this.#track !== 0) bridge.post("track.stop", { track: this.#track });
      });
    }

    #take(block) {
      const isSilent = block.every((sample) => sample === 0);
      if (isSilent && this.#silence >= longestSilence) return;
      if (!isSilent && this.#silence >= longestSilence) {
        if (this.#track === 0) {
          this.#track = bridge.identifier();
          bridge.post("track.make", { track: this.#track, trackId: crypto.randomUUID(), kind: "audio" });
        }
        this.#play([this.#track]);
      }
      this.#silence = isSilent ? this.#silence + 1 : 0;
      bridge.sendBinary(bridge.kinds.audio, this.#track, block.buffer);
      if (this.#silence >= longestSilence) this.#play([]);
    }

    #play(tracks) {
      bridge.post("audio.play", { element: this.#element, tracks, volume: 1, isMuted: false, sinkId: "" });
    }
  }

  /// The feed beside a destination, or null for what is none or belongs to an offline context.
  function feedBeside(node) {
    if (!(node instanceof AudioDestinationNode) || !(node.context instanceof NativeContext)) return null;
    let output = outputs.get(node.context);
    if (!output) outputs.set(node.context, (output = new Output(node.context)));
    return output.input;
  }

  // Files that media elements play (a ring tone) go the same way, through a context of ours, unless the page has put one of its own there.
  const { createMediaElementSource } = NativeContext.prototype;
  const taken = new WeakSet();
  let context = null;

  overlay.add(NativeContext.prototype, {
    createMediaElementSource(mediaElement) {
      const node = Reflect.apply(createMediaElementSource, this, arguments);
      taken.add(mediaElement);
      return node;
    },
  });

  function hear(element) {
    if (taken.has(element) || playbackOf(element)) return;
    taken.add(element);
    context ??= new NativeContext();
    try {
      Reflect.apply(connect, Reflect.apply(createMediaElementSource, context, [element]), [feedBeside(context.destination)]);
    } catch {
      // The engine has it in another context.
      return;
    }
    if (context.state !== "running") react(context.resume(), undefined, () => {});
  }
  addEventListener("play", ({ target, isTrusted }) => {
    if (isTrusted && target instanceof HTMLMediaElement) hear(target);
  }, { capture: true });
  const { play } = HTMLMediaElement.prototype;
  overlay.add(HTMLMediaElement.prototype, {
    play() {
      // One that is in no document has no event that comes by here.
      if (this instanceof HTMLMediaElement) hear(this);
      return Reflect.apply(play, this, []);
    },
  });

  overlay.add(AudioNode.prototype, {
    connect(destination, output = 0, input = 0) {
      const result = Reflect.apply(connect, this, arguments);
      const feed = feedBeside(destination);
      if (feed) Reflect.apply(connect, this, [feed, output]);
      return result;
    },
    disconnect(destination = undefined) {
      Reflect.apply(disconnect, this, arguments);
      const feed = feedBeside(destination);
      if (feed) Reflect.apply(disconnect, this, [feed]);
    },
  });
}
