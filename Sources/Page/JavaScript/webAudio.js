// Where streams meet Web Audio: https://www.w3.org/TR/webaudio/#MediaStreamAudioSourceNode and MediaStreamAudioDestinationNode.
// Sound crosses the bridge as frames of kind 3, ten milliseconds of mono at 48 kHz each. Script processors carry it: the page's
// content security policy cannot keep them from loading.

/// `soundFeed(context, emit)`: a node whose input comes to `emit` in blocks of the bridge (Int16Array), as long as the context runs.
let soundFeed;

{
  const boxRate = 48000;
  const blockLength = 480;
  const nativeBase = BaseAudioContext.prototype;
  const { createScriptProcessor, createGain } = nativeBase;
  const connect = AudioNode.prototype.connect;
  const bufferLength = 1024;

  /// Steps through samples of one rate at another, by straight lines between them.
  class Resampler {
    #step;
    #position = 0;
    #previous = 0;

    constructor(from, to) { this.#step = from / to; }

    /// Calls `emit` with each output sample.
    push(samples, emit) {
      let position = this.#position;
      const { length } = samples;
      while (position < length) {
        const index = Math.floor(position);
        const before = index === 0 ? this.#previous : samples[index - 1];
        emit(before + (samples[index] - before) * (position - index));
        position += this.#step;
      }
      this.#previous = samples[length - 1];
      this.#position = position - length;
    }
  }

  // ---- From a track into the page ----

  /// Tap → WeakRef of its source.
  const taps = new Map();
  bridge.onBinary(bridge.kinds.audio, (tap, payload) => taps.get(tap)?.deref()?.receive(payload));

  class TrackSource {
    #track;
    #context;
    #tap = 0;
    #resampler;
    /// Samples at the context's rate that wait to be played.
    #ring = new Float32Array(16384);
    #read = 0;
    #count = 0;
    #isPrimed = false;
    #lastAsked = 0;
    #timer = 0;

    constructor(track, context) {
      this.#track = track;
      this.#context = context;
      this.#resampler = new Resampler(boxRate, context.sampleRate);
    }

    receive(payload) {
      const samples = new Int16Array(payload);
      const ring = this.#ring;
      this.#resampler.push(samples, (value) => {
        if (this.#count === ring.length) {
          this.#read = (this.#read + 1) % ring.length;
          this.#count -= 1;
        }
        ring[(this.#read + this.#count) % ring.length] = value / 32768;
        this.#count += 1;
      });
      if (this.#count >= bufferLength * 2) this.#isPrimed = true;
      // What the context leaves lying is late: the newest sound wins.
      const most = bufferLength * 6;
      if (this.#count > most) {
        this.#read = (this.#read + this.#count - bufferLength * 2) % ring.length;
        this.#count = bufferLength * 2;
      }
    }

    /// Fills one block. Sound is asked of the box only while blocks are.
    fill(output) {
      this.#lastAsked = performance.now();
      this.#open();
      const ring = this.#ring;
      if (!this.#isPrimed || this.#count < output.length) {
        this.#isPrimed = false;
        output.fill(0);
        return;
      }
      for (let index = 0; index < output.length; index += 1) output[index] = ring[(this.#read + index) % ring.length];
      this.#read = (this.#read + output.length) % ring.length;
      this.#count -= output.length;
    }

    #open() {
      if (this.#tap !== 0 || isTrackEnded(this.#track)) return;
      this.#tap = bridge.identifier();
      taps.set(this.#tap, new WeakRef(this));
      bridge.post("audio.tap", { tap: this.#tap, track: trackNumber(this.#track) });
      this.#timer = setInterval(() => {
        if (isTrackEnded(this.#track) || this.#context.state === "closed" || performance.now() - this.#lastAsked > 2000) this.#close();
      }, 1000);
    }

    #close() {
      clearInterval(this.#timer);
      bridge.post("audio.untap", { tap: this.#tap });
      taps.delete(this.#tap);
      this.#tap = 0;
      this.#count = 0;
      this.#isPrimed = false;
    }
  }

  /// A node that counts as one of `Class` and plays the track.
  function sourceNode(context, track, Class) {
    const node = Reflect.apply(createScriptProcessor, context, [bufferLength, 0, 1]);
    const source = new TrackSource(track, context);
    node.addEventListener("audioprocess", ({ outputBuffer }) => source.fill(outputBuffer.getChannelData(0)));
    return Object.setPrototypeOf(node, Class.prototype);
  }

  /// Node → its stream.
  const streams = new WeakMap();

  function streamSource(context, stream) {
    if (!webidl.isObject(stream) || !webidl.is(MediaStream, stream)) throw new TypeError("The stream is not of type MediaStream.");
    const audio = tracksOfStream(stream).filter((track) => trackKind(track) === "audio")
      .sort((one, other) => (trackId(one) < trackId(other) ? -1 : 1));
    if (audio.length === 0) throw new DOMException("The stream has no audio track.", "InvalidStateError");
    const node = sourceNode(context, audio[0], MediaStreamAudioSourceNode);
    streams.set(node, stream);
    return node;
  }

  // ---- From the page into a track ----

  soundFeed = (context, emit) => {
    const input = Reflect.apply(createGain, context, []);
    const processor = Reflect.apply(createScriptProcessor, context, [bufferLength, 1, 1]);
    const resampler = new Resampler(context.sampleRate, boxRate);
    let block = new Int16Array(blockLength);
    let filled = 0;
    processor.addEventListener("audioprocess", ({ inputBuffer }) => {
      resampler.push(inputBuffer.getChannelData(0), (value) => {
        block[filled] = Math.max(-1, Math.min(1, value)) * 32767;
        filled += 1;
        if (filled < blockLength) return;
        emit(block);
        block = new Int16Array(blockLength);
        filled = 0;
      });
    });
    Reflect.apply(connect, input, [processor]);
    // A script processor runs only when it leads somewhere; its own output is silence.
    Reflect.apply(connect, processor, [context.destination]);
    return input;
  };

  function destination(context) {
    const number = bridge.identifier();
    const id = crypto.randomUUID();
    bridge.post("track.make", { track: number, trackId: id, kind: "audio" });
    const track = makeTrack({ number, id, kind: "audio", label: "MediaStreamAudioDestinationNode", source: "page", settings: { sampleRate: boxRate, channelCount: 1 } });
    const input = soundFeed(context, (block) => {
      if (!isTrackEnded(track)) bridge.sendBinary(bridge.kinds.audio, number, block.buffer);
    });
    streams.set(input, makeStream({ id: crypto.randomUUID(), tracks: [track] }));
    return Object.setPrototypeOf(input, MediaStreamAudioDestinationNode.prototype);
  }

  overlay.add(AudioContext.prototype, {
    createMediaStreamSource(mediaStream) {
      webidl.requireArguments(arguments, 1, "AudioContext.createMediaStreamSource");
      return streamSource(this, mediaStream);
    },
    createMediaStreamDestination() { return destination(this); },
  });

  /// Lets `new Class(context, options)` make nodes of ours.
  function constructible(name, make) {
    const Native = globalThis[name];
    if (!Native) return;
    const Class = new Proxy(Native, { construct: (_, [context, options]) => make(context, options) });
    Object.defineProperty(globalThis, name, { value: Class, writable: true, enumerable: false, configurable: true });
    Object.defineProperty(Native.prototype, "constructor", { value: Class, writable: true, enumerable: false, configurable: true });
  }
  constructible("MediaStreamAudioSourceNode", (context, options) => streamSource(context, options?.mediaStream));
  constructible("MediaStreamAudioDestinationNode", (context) => destination(context));

  /// https://www.w3.org/TR/webaudio/#MediaStreamTrackAudioSourceNode, which the engine does not have.
  if (!globalThis.MediaStreamTrackAudioSourceNode) {
    class MediaStreamTrackAudioSourceNode {
      constructor(context, options) { return trackSource(context, options?.mediaStreamTrack); }
    }
    Object.setPrototypeOf(MediaStreamTrackAudioSourceNode, AudioNode);
    Object.setPrototypeOf(MediaStreamTrackAudioSourceNode.prototype, AudioNode.prototype);
    Object.defineProperty(MediaStreamTrackAudioSourceNode.prototype, Symbol.toStringTag, { value: "MediaStreamTrackAudioSourceNode", configurable: true });
    Object.defineProperty(globalThis, "MediaStreamTrackAudioSourceNode", {
      value: MediaStreamTrackAudioSourceNode, writable: true, enumerable: false, configurable: true,
    });
  }
  function trackSource(context, track) {
    if (!webidl.isObject(track) || !webidl.is(MediaStreamTrack, track)) throw new TypeError("The track is not of type MediaStreamTrack.");
    if (trackKind(track) !== "audio") throw new DOMException("The track is no audio track.", "InvalidStateError");
    return sourceNode(context, track, globalThis.MediaStreamTrackAudioSourceNode);
  }
  overlay.add(AudioContext.prototype, {
    createMediaStreamTrackSource(mediaStreamTrack) {
      webidl.requireArguments(arguments, 1, "AudioContext.createMediaStreamTrackSource");
      return trackSource(this, mediaStreamTrack);
    },
  });

  const streamOf = (node) => streams.get(node);
  overlay.attributes(MediaStreamAudioSourceNode.prototype, streamOf, { mediaStream: { get: (stream) => stream } });
  overlay.attributes(MediaStreamAudioDestinationNode.prototype, streamOf, { stream: { get: (stream) => stream } });
}
