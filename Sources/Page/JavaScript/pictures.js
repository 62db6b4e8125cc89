// Pictures of a playing video in the page: drawImage, createPattern, createImageBitmap, texImage2D, VideoFrame. The stage has the
// pictures; the newest one is fetched over the bridge, only for those who ask, into a canvas that stands in for the element.

/// Replaces a playing element by a canvas with its newest picture; anything else, or an element without one, stays.
const pictureOf = (() => {
  /// Playback → {canvas, context, time}.
  const scratches = new WeakMap();
  /// A picture serves for this long: several draws of one animation frame take the same one.
  const freshness = 8;

  return (source) => {
    if (!(source instanceof HTMLVideoElement)) return source;
    const playback = playbackOf(source);
    if (!playback?.videoTrack || playback.readyState < 2) return source;
    let scratch = scratches.get(playback);
    const now = performance.now();
    if (scratch && now - scratch.time < freshness) return scratch.canvas;
    const answer = bridge.call("frame.grab", { track: trackNumber(playback.videoTrack) });
    const header = answer === null ? null : new DataView(answer);
    const width = header?.getUint32(0) ?? 0;
    const height = header?.getUint32(4) ?? 0;
    if (width === 0 || height === 0) return scratch?.canvas ?? source;
    if (!scratch) {
      const canvas = new OffscreenCanvas(width, height);
      scratch = { canvas, context: canvas.getContext("2d"), time: 0 };
      scratches.set(playback, scratch);
    }
    if (scratch.canvas.width !== width || scratch.canvas.height !== height) Object.assign(scratch.canvas, { width, height });
    scratch.context.putImageData(new ImageData(new Uint8ClampedArray(answer, 8, width * height * 4), width, height), 0, 0);
    scratch.time = now;
    return scratch.canvas;
  };
})();

{
  /// Makes operations take the picture in place of an element; `positions` of the arguments that may be one.
  function standIn(prototype, names) {
    for (const name of names) {
      const native = prototype[name];
      if (!native) continue;
      const own = { [name](...given) { return Reflect.apply(native, this, given.map(pictureOf)); } }[name];
      Object.defineProperty(own, "length", { value: native.length, configurable: true });
      Object.defineProperty(prototype, name, { value: own, writable: true, enumerable: true, configurable: true });
    }
  }

  for (const Context of [CanvasRenderingContext2D, globalThis.OffscreenCanvasRenderingContext2D]) {
    if (Context) standIn(Context.prototype, ["drawImage", "createPattern"]);
  }
  for (const Context of [globalThis.WebGLRenderingContext, globalThis.WebGL2RenderingContext]) {
    if (Context) standIn(Context.prototype, ["texImage2D", "texSubImage2D", "texImage3D", "texSubImage3D"]);
  }
  standIn(globalThis, ["createImageBitmap"]);

  if (globalThis.VideoFrame) {
    const Native = VideoFrame;
    globalThis.VideoFrame = new Proxy(Native, {
      construct(target, given, newTarget) {
        const picture = pictureOf(given[0]);
        if (picture !== given[0]) given = [picture, { timestamp: Math.round(given[0].currentTime * 1e6), ...given[1] }];
        return Reflect.construct(target, given, newTarget === globalThis.VideoFrame ? target : newTarget);
      },
    });
    Object.defineProperty(globalThis, "VideoFrame", { enumerable: false });
    Native.prototype.constructor = globalThis.VideoFrame;
  }
}
