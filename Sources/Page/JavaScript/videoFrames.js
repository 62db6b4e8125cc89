// requestVideoFrameCallback (https://wicg.github.io/video-rvfc/) and getVideoPlaybackQuality
// (https://w3c.github.io/media-playback-quality/) of elements that play a stream of ours.
// The box tells of single frames only while somebody asks.

{
  /// Playback → {callbacks: Map of handle → function, isWatched, last frame's message, isScheduled, askedAt}.
  const watches = new WeakMap();
  let lastHandle = 0;
  /// What to take from the box's monotonic milliseconds to get those of `performance.now()`.
  let clockOffset = 0;

  bridge.on("clock", ({ monotonic }) => { clockOffset = monotonic - performance.now(); });
  const local = (time) => (time === undefined || time === null ? undefined : time - clockOffset);

  function watchOf(playback) {
    let watch = watches.get(playback);
    if (!watch) watches.set(playback, (watch = { callbacks: new Map(), isWatched: false, frame: null, isScheduled: false, until: 0 }));
    return watch;
  }

  function setWatched(playback, watch, isWatched) {
    if (watch.isWatched === isWatched) return;
    watch.isWatched = isWatched;
    // Before its track is sent the box knows of no such video.
    if (playback.videoTrack) bridge.post("video.watch", { video: playback.video, isWatched });
  }

  Playback.onTrack = (playback) => {
    if (watches.get(playback)?.isWatched) bridge.post("video.watch", { video: playback.video, isWatched: true });
  };

  function metadata({ presentationTime, expectedDisplayTime, width, height, mediaTime, presentedFrames, ...more }) {
    const result = {
      presentationTime: local(presentationTime), expectedDisplayTime: local(expectedDisplayTime), width, height, mediaTime, presentedFrames,
    };
    for (const name of ["receiveTime", "captureTime"]) if (more[name] != null) result[name] = local(more[name]);
    for (const name of ["rtpTimestamp", "processingDuration"]) if (more[name] != null) result[name] = more[name];
    return result;
  }

  function deliver(playback, watch, now) {
    watch.isScheduled = false;
    const callbacks = [...watch.callbacks.values()];
    watch.callbacks.clear();
    const data = metadata(watch.frame);
    for (const callback of callbacks) webidl.invoke(callback, now, { ...data });
  }

  bridge.on("video.frame", (message) => {
    const playback = Playback.find(message.video);
    const watch = playback && watches.get(playback);
    if (!watch) return;
    playback.presentedFrames = message.presentedFrames;
    watch.frame = message;
    if (watch.callbacks.size === 0) {
      if (performance.now() > watch.until) setWatched(playback, watch, false);
    } else if (!watch.isScheduled) {
      // The specification runs the callbacks in the rendering update, before those of requestAnimationFrame.
      watch.isScheduled = true;
      requestAnimationFrame((now) => deliver(playback, watch, now));
    }
  });

  overlay.operations(HTMLVideoElement.prototype, playbackOf, {
    requestVideoFrameCallback: (playback, given) => {
      webidl.requireArguments(given, 1, "HTMLVideoElement.requestVideoFrameCallback");
      const watch = watchOf(playback);
      lastHandle += 1;
      watch.callbacks.set(lastHandle, webidl.convert.callback(given[0], "callback"));
      setWatched(playback, watch, true);
      return lastHandle;
    },
    cancelVideoFrameCallback: (playback, given) => {
      webidl.requireArguments(given, 1, "HTMLVideoElement.cancelVideoFrameCallback");
      watches.get(playback)?.callbacks.delete(webidl.convert.unsignedLong(given[0]));
    },
    getVideoPlaybackQuality: (playback) => {
      const watch = watchOf(playback);
      watch.until = performance.now() + 5000;
      setWatched(playback, watch, true);
      const quality = Object.create(VideoPlaybackQuality.prototype);
      qualities.set(quality, { time: performance.now(), frames: playback.presentedFrames });
      return quality;
    },
  });

  /// VideoPlaybackQuality of ours → {time, frames}.
  const qualities = new WeakMap();
  overlay.attributes(VideoPlaybackQuality.prototype, (quality) => qualities.get(quality), {
    creationTime: { get: ({ time }) => time },
    totalVideoFrames: { get: ({ frames }) => frames },
    droppedVideoFrames: { get: () => 0 },
    ...("corruptedVideoFrames" in VideoPlaybackQuality.prototype ? { corruptedVideoFrames: { get: () => 0 } } : {}),
  });
}
