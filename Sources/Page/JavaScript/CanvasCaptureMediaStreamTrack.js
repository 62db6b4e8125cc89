// HTMLCanvasElement.captureStream and CanvasCaptureMediaStreamTrack: https://w3c.github.io/mediacapture-fromelement/#html-canvas-element-media-capture-extensions
// Pictures go to the box as frames of kind 4, when the canvas has changed.

class CanvasCaptureMediaStreamTrack extends MediaStreamTrack {
  #capture;

  constructor(token, state) {
    super(token, state);
    this.#capture = state.capture;
    if (!state.isEnded) this.#capture.hold(this);
  }

  get canvas() { return this.#capture.canvas; }
  requestFrame() { this.#capture.request(); }

  static {
    webidl.define(this, { is: (value) => #capture in value });
  }
}

/// Reads a canvas and sends what it shows, for one track and its clones.
class CanvasCapture {
  canvas;
  #number;
  /// Milliseconds between pictures; Infinity: only on request.
  #interval;
  #lastTime = -Infinity;
  #last = null;
  #isRequested = false;
  #scratch = null;
  #live = 0;
  static #frame = requestAnimationFrame.bind(globalThis);
  static #mostOften = 30;

  constructor(canvas, number, rate) {
    this.canvas = canvas;
    this.#number = number;
    this.#interval = rate === 0 ? Infinity : 1000 / Math.min(rate ?? CanvasCapture.#mostOften, CanvasCapture.#mostOften);
  }

  /// Captures as long as one of the tracks lives.
  hold(track) {
    this.#live += 1;
    if (this.#live === 1) CanvasCapture.#frame(this.#step);
    watchTrack(track, () => { this.#live -= 1; });
  }

  request() { this.#isRequested = true; }

  #step = (now) => {
    if (this.#live === 0) return;
    CanvasCapture.#frame(this.#step);
    // A little early is in time: the animation frames do not fall on the interval.
    if (!this.#isRequested && now - this.#lastTime < this.#interval - 4) return;
    const { width, height } = this.canvas;
    if (width === 0 || height === 0) return;
    this.#scratch ??= new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    const { canvas } = this.#scratch;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    else this.#scratch.clearRect(0, 0, width, height);
    let pixels;
    try {
      this.#scratch.drawImage(this.canvas, 0, 0);
      pixels = this.#scratch.getImageData(0, 0, width, height).data;
    } catch {
      // The canvas has been tainted by another origin's picture: section 4.1 ends the capture of content.
      return;
    }
    if (!this.#isRequested && !this.#hasChanged(pixels, width, height)) return;
    this.#isRequested = false;
    this.#lastTime = now;
    const frame = new Uint8Array(8 + pixels.length);
    const header = new DataView(frame.buffer);
    header.setUint32(0, width);
    header.setUint32(4, height);
    frame.set(pixels, 8);
    bridge.sendBinary(bridge.kinds.video, this.#number, frame.buffer);
  };

  /// Compares with the picture sent last; a canvas that nothing was drawn on is no picture yet.
  #hasChanged(pixels, width, height) {
    const words = new Uint32Array(pixels.buffer);
    const last = this.#last;
    this.#last = { words, width, height };
    if (last && (last.width !== width || last.height !== height)) return true;
    for (let index = 0; index < words.length; index += 1) if (words[index] !== (last ? last.words[index] : 0)) return true;
    return false;
  }
}

overlay.add(HTMLCanvasElement.prototype, {
  captureStream(frameRequestRate = undefined) {
    if (!(this instanceof HTMLCanvasElement)) throw new TypeError("HTMLCanvasElement.captureStream: called on an object that is no canvas.");
    const rate = frameRequestRate === undefined ? undefined : webidl.convert.double(frameRequestRate, "frameRequestRate");
    if (rate < 0) throw new DOMException("The frame rate is negative.", "NotSupportedError");
    const probe = new OffscreenCanvas(1, 1).getContext("2d");
    if (this.width > 0 && this.height > 0) {
      probe.drawImage(this, 0, 0, 1, 1);
      probe.getImageData(0, 0, 1, 1);
    }
    const number = bridge.identifier();
    const id = crypto.randomUUID();
    bridge.post("track.make", { track: number, trackId: id, kind: "video" });
    const track = makeTrack({
      number, id, kind: "video", source: "page", Class: CanvasCaptureMediaStreamTrack, capture: new CanvasCapture(this, number, rate),
      settings: { width: this.width, height: this.height, frameRate: rate ?? 30 },
    });
    return makeStream({ id: crypto.randomUUID(), tracks: [track] });
  },
});
