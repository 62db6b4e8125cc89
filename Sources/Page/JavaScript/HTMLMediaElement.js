// What pages see of an element that plays a stream of ours. All other elements stay the engine's.

/// The playback of an element whose source is a stream of ours, or undefined.
let playbackOf;

{
  /// Element → its playback, kept for the element's whole life once it has had a stream of ours.
  const playbacks = new WeakMap();
  playbackOf = (element) => {
    const playback = playbacks.get(element);
    return playback?.stream ? playback : undefined;
  };
  const prototype = HTMLMediaElement.prototype;
  const source = overlay.natives(prototype, "srcObject");
  const paused = overlay.natives(prototype, "paused");
  const { load: nativeLoad, pause: nativePause, play: nativePlay } = prototype;

  function setSource(element, value) {
    const current = playbackOf(element);
    if (webidl.isObject(value) && webidl.is(MediaStream, value)) {
      if (!current && (!paused.get(element) || source.get(element) !== null || element.hasAttribute("src"))) {
        // The engine lets go of what it played: a stream comes before any `src`.
        Reflect.apply(nativePause, element, []);
        if (source.get(element) !== null) source.set(element, null);
        if (element.hasAttribute("src")) {
          element.removeAttribute("src");
          Reflect.apply(nativeLoad, element, []);
        }
      }
      let playback = playbacks.get(element);
      if (!playback) playbacks.set(element, (playback = new Playback(element)));
      playback.load(value);
      return;
    }
    current?.load(null);
    source.set(element, value);
  }

  overlay.add(prototype, {
    get srcObject() {
      const playback = playbackOf(this);
      return playback ? playback.stream : source.get(this);
    },
    set srcObject(value) {
      source.get(this);
      setSource(this, value);
    },
  });

  overlay.attributes(prototype, playbackOf, {
    readyState: { get: ({ readyState }) => readyState },
    networkState: { get: ({ networkState }) => networkState },
    paused: { get: ({ isPaused }) => isPaused },
    ended: { get: ({ isEnded }) => isEnded },
    duration: { get: ({ duration }) => duration },
    currentTime: { get: ({ currentTime }) => currentTime, set: (_, value) => void webidl.convert.double(value, "currentTime") },
    seeking: { get: () => false },
    error: { get: () => null },
    currentSrc: { get: () => "" },
    played: { get: ({ currentTime }) => timeRanges(currentTime > 0 ? [[0, currentTime]] : []) },
    buffered: { get: () => timeRanges([]) },
    seekable: { get: () => timeRanges([]) },
    // https://w3c.github.io/mediacapture-main/#mediastreams-in-media-elements: fixed while a stream plays, as they were afterwards.
    preload: { get: () => "none", set: () => {} },
    playbackRate: { get: () => 1, set: (_, value) => void webidl.convert.double(value, "playbackRate") },
    defaultPlaybackRate: { get: () => 1, set: (_, value) => void webidl.convert.double(value, "defaultPlaybackRate") },
  });

  overlay.attributes(HTMLVideoElement.prototype, playbackOf, {
    videoWidth: { get: ({ width }) => width },
    videoHeight: { get: ({ height }) => height },
  });

  overlay.operations(prototype, playbackOf, {
    play: (playback) => playback.play(),
    pause: (playback) => playback.pause(),
    load: (playback) => playback.load(playback.stream),
    fastSeek: () => undefined,
  });

  // The engine's own controls (shown for `controls` and in full screen) know the engine's state only, in which these elements have no
  // source. That state is made to follow; its events are for the controls alone, and a person's press of a button comes as one of them.
  playbackUpdated = (playback) => {
    const { element } = playback;
    if (!element || (!element.controls && element !== document.fullscreenElement)) return;
    if (paused.get(element) === playback.isPaused) return;
    if (playback.isPaused) Reflect.apply(nativePause, element, []);
    else react(Reflect.apply(nativePlay, element, []), undefined, () => {});
  };
  const followControls = (event) => {
    const playback = event.isTrusted && event.target instanceof HTMLMediaElement ? playbackOf(event.target) : undefined;
    if (!playback) return;
    event.stopImmediatePropagation();
    if (event.type === "play" && playback.isPaused) react(playback.play(), undefined, () => {});
    else if (event.type === "pause" && !playback.isPaused) playback.pause();
  };
  for (const type of ["play", "playing", "waiting", "pause", "emptied", "abort", "timeupdate", "seeking", "seeked", "ended"]) {
    addEventListener(type, followControls, { capture: true });
  }
  addEventListener("fullscreenchange", () => {
    const playback = document.fullscreenElement ? playbackOf(document.fullscreenElement) : undefined;
    if (playback) playbackUpdated(playback);
  }, { capture: true });

  /// TimeRanges of ours → list of [start, end].
  const rangesOf = new WeakMap();
  function timeRanges(list) {
    const ranges = Object.create(TimeRanges.prototype);
    rangesOf.set(ranges, list);
    return ranges;
  }
  function bound(list, given, side) {
    webidl.requireArguments(given, 1, "TimeRanges");
    const index = webidl.convert.unsignedLong(given[0]);
    if (index >= list.length) throw new DOMException("There is no such range.", "IndexSizeError");
    return list[index][side];
  }
  overlay.attributes(TimeRanges.prototype, (ranges) => rangesOf.get(ranges), { length: { get: (list) => list.length } });
  overlay.operations(TimeRanges.prototype, (ranges) => rangesOf.get(ranges), {
    start: (list, given) => bound(list, given, 0),
    end: (list, given) => bound(list, given, 1),
  });

  /// Sinks that pages chose, also for elements without a stream of ours, which have the box's only output.
  const sinks = new WeakMap();
  overlay.add(prototype, {
    /// https://w3c.github.io/mediacapture-output/#htmlmediaelement-extensions
    get sinkId() {
      source.get(this);
      return sinks.get(this) ?? "";
    },
    async setSinkId(sinkId) {
      webidl.requireArguments(arguments, 1, "HTMLMediaElement.setSinkId");
      source.get(this);
      const id = `${sinkId}`;
      if (id !== (sinks.get(this) ?? "")) {
        const { devices } = await listDevices();
        const isKnown = id === "" || devices.some((device) => device.kind === "audiooutput" && device.deviceId === id);
        if (!isKnown) throw new DOMException("There is no such audio output.", "NotFoundError");
      }
      sinks.set(this, id);
      const playback = playbacks.get(this);
      if (!playback) return;
      playback.sinkId = id;
      playback.update();
    },
    /// https://w3c.github.io/mediacapture-fromelement/: of a stream, its own tracks anew; the engine's own media stay with it.
    captureStream() {
      source.get(this);
      const playback = playbackOf(this);
      if (!playback) throw new DOMException("Only elements that play a stream can be captured.", "NotSupportedError");
      const tracks = tracksOfStream(playback.stream).filter((track) => !isTrackEnded(track));
      return makeStream({ id: crypto.randomUUID(), tracks: tracks.map(cloneTrack) });
    },
  });
}
