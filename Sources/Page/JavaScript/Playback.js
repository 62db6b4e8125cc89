// How a media element plays a stream of ours: the state that https://html.spec.whatwg.org/multipage/media.html keeps for an element
// whose media provider object is a MediaStream, and what https://w3c.github.io/mediacapture-main/#mediastreams-in-media-elements adds.
// Pictures go to the stage under a video identifier, sound to the box's output; neither passes through here.

/// Playbacks that have a picture to show; glass.js places them.
const shownPlaybacks = new Set();
/// Told whenever something about a shown playback changed; glass.js sets it.
let playbackChanged = () => {};
/// The same for all playbacks; HTMLMediaElement.js sets it.
let playbackUpdated = () => {};

class Playback {
  /// Number on the stage, of all documents: so at random.
  video = 0;
  /// Number of the element's sound on the bridge.
  number = bridge.identifier();
  stream = null;
  readyState = 0;
  networkState = 0;
  isPaused = true;
  isEnded = false;
  duration = NaN;
  width = 0;
  height = 0;
  sinkId = "";
  /// Whether it has played since the load: a poster is shown until then.
  hasPlayed = false;
  /// The track whose pictures are shown, and how many were presented as far as is known.
  videoTrack = null;
  presentedFrames = 0;

  #element;
  #isVideo;
  #isAutoplaying = true;
  /// Pending play promises.
  #plays = [];
  /// Tasks of an earlier load are void.
  #load = 0;
  /// Seconds played until `#since` (milliseconds), which is undefined while the time stands.
  #played = 0;
  #since;
  #isHeld = false;
  #soundSent = "";
  #onStream;
  #wasConnected = false;

  /// Video identifier → WeakRef of the playback.
  static #byVideo = new Map();
  /// Potentially playing ones → their elements, which live as long as they play.
  static #playing = new Map();
  static #timer = 0;
  static #natives = {
    muted: overlay.natives(HTMLMediaElement.prototype, "muted").get,
    volume: overlay.natives(HTMLMediaElement.prototype, "volume").get,
    autoplay: overlay.natives(HTMLMediaElement.prototype, "autoplay").get,
  };
  /// Gives back what an element that nobody can reach any more had in use.
  static #lost = new FinalizationRegistry((playback) => {
    Playback.#byVideo.delete(playback.video);
    playback.load(null);
  });

  /// Called four times a second while something plays.
  static onTick = () => {};
  /// Told of a playback whose track has just been sent to the box.
  static onTrack = () => {};
  static #tick = () => {
    for (const playback of Playback.#playing.keys()) playback.#fire("timeupdate");
    Playback.onTick();
  };

  /// HTML, "when a media element is removed from a document": what was taken out pauses.
  static connectionsChanged() {
    for (const [playback, element] of [...Playback.#playing]) {
      if (element.isConnected) playback.#wasConnected = true;
      else if (playback.#wasConnected) playback.pause();
    }
  }

  constructor(element) {
    this.#element = new WeakRef(element);
    this.#isVideo = element instanceof HTMLVideoElement;
    while (this.video === 0) [this.video] = crypto.getRandomValues(new Uint32Array(1));
    const reference = new WeakRef(this);
    this.#onStream = Playback.#streamListener(reference);
    Playback.#byVideo.set(this.video, reference);
    Playback.#lost.register(element, this);
    element.addEventListener("volumechange", () => reference.deref()?.update());
  }

  /// Made here since an arrow function in the constructor would keep `this`, and a stream would keep all elements that it ever played in.
  static #streamListener(reference) {
    return () => reference.deref()?.#streamChanged();
  }

  get element() { return this.#element.deref(); }
  static find(video) { return this.#byVideo.get(video)?.deref(); }

  /// Official playback position, seconds.
  get currentTime() {
    return this.#played + (this.#since === undefined ? 0 : (performance.now() - this.#since) / 1000);
  }

  get isPotentiallyPlaying() { return !this.isPaused && !this.isEnded && this.readyState >= 3; }

  /// HTML, "media element load algorithm" with a stream, or with null for none.
  load(stream) {
    this.#load += 1;
    const wasPlaying = this.currentTime > 0;
    this.#rejectPlays("The element loads another source.");
    if (this.networkState === 2 || this.networkState === 1) this.#queueEvent("abort");
    if (this.networkState !== 0) {
      this.#queueEvent("emptied");
      if (wasPlaying) this.#queueEvent("timeupdate");
    }
    if (this.stream) unwatchStream(this.stream, this.#onStream);
    this.stream = stream;
    this.readyState = 0;
    this.networkState = 0;
    this.isEnded = false;
    this.#isAutoplaying = true;
    this.duration = NaN;
    this.hasPlayed = false;
    this.width = this.height = 0;
    this.presentedFrames = 0;
    this.#played = 0;
    this.#since = undefined;
    this.isPaused = true;
    this.#showTrack(null);
    const element = this.element;
    if (element && this.#isVideo) posters.show(element);
    this.update();
    if (stream === null) return;
    watchStream(stream, this.#onStream);
    this.networkState = 3;
    const load = this.#load;
    queueMicrotask(() => {
      if (load !== this.#load) return;
      this.networkState = 2;
      this.#queueEvent("loadstart");
      this.#streamChanged();
    });
  }

  /// HTML, "play()": the promise.
  play() {
    return new Promise((resolve, reject) => {
      this.#plays.push({ resolve, reject });
      if (this.isPaused) {
        this.isPaused = false;
        this.#queueEvent("play");
        if (this.readyState >= 3) this.#notifyPlaying();
        else this.#queueEvent("waiting");
      } else if (this.readyState >= 3) {
        this.#resolvePlays();
      }
      this.#isAutoplaying = false;
      this.update();
    });
  }

  /// HTML, "internal pause steps".
  pause() {
    this.#isAutoplaying = false;
    if (this.isPaused) return;
    this.isPaused = true;
    this.update();
    const plays = this.#takePlays();
    this.#queue(() => {
      this.#fire("timeupdate");
      this.#fire("pause");
      Playback.#reject(plays, "The element was paused.");
    });
  }

  /// The first picture, or pictures of another size.
  resized(width, height) {
    if (!this.videoTrack) return;
    const isNew = width !== this.width || height !== this.height;
    this.width = width;
    this.height = height;
    if (this.element && !posters.isShown(this.element)) posters.replace(this.element, width, height);
    if (this.readyState === 0) this.#begin();
    else if (isNew) this.#queueEvent("resize");
    shownPlaybacks.add(this);
    this.update();
  }

  /// Tells the box and the clock what the state has become.
  update() {
    const isPlaying = this.isPotentiallyPlaying;
    this.#wasConnected ||= this.element?.isConnected ?? false;
    this.hasPlayed ||= isPlaying;
    if (isPlaying && this.#since === undefined) this.#since = performance.now();
    if (!isPlaying && this.#since !== undefined) {
      this.#played = this.currentTime;
      this.#since = undefined;
    }
    if (isPlaying) Playback.#playing.set(this, this.element);
    else Playback.#playing.delete(this);
    if (Playback.#playing.size > 0 && !Playback.#timer) {
      Playback.#timer = setInterval(Playback.#tick, 250);
    } else if (Playback.#playing.size === 0) {
      clearInterval(Playback.#timer);
      Playback.#timer = 0;
    }
    this.#updateSound(isPlaying);
    const isHeld = this.videoTrack !== null && !isTrackEnded(this.videoTrack) && this.width > 0 && !isPlaying;
    if (isHeld !== this.#isHeld) {
      this.#isHeld = isHeld;
      if (this.videoTrack) bridge.post("video.hold", { video: this.video, isHeld });
    }
    playbackUpdated(this);
    playbackChanged(this);
  }

  #updateSound(isPlaying) {
    const element = this.element;
    const tracks = !isPlaying || !this.stream ? []
      : tracksOfStream(this.stream).filter((track) => trackKind(track) === "audio" && !isTrackEnded(track)).map(trackNumber);
    if (tracks.length === 0 && (this.#soundSent === "" || this.#soundSent === "[]")) return;
    const sound = {
      element: this.number, tracks, sinkId: this.sinkId,
      volume: element ? Playback.#natives.volume(element) : 0, isMuted: element ? Playback.#natives.muted(element) : true,
    };
    const text = tracks.length === 0 ? "[]" : JSON.stringify(sound);
    if (text === this.#soundSent) return;
    this.#soundSent = text;
    bridge.post("audio.play", sound);
  }

  /// Tracks came, went or ended.
  #streamChanged() {
    if (!this.stream || this.networkState !== 2) return;
    const tracks = tracksOfStream(this.stream);
    const live = tracks.filter((track) => !isTrackEnded(track));
    if (this.#isVideo) {
      const track = live.find((candidate) => trackKind(candidate) === "video")
        ?? (tracks.includes(this.videoTrack) ? this.videoTrack : null);
      if (track !== this.videoTrack) this.#showTrack(track);
    }
    const isAudible = live.some((track) => trackKind(track) === "audio");
    const isActive = this.#isVideo ? live.length > 0 : isAudible;
    const load = this.#load;
    if (!isActive) {
      // HTML, "when the current playback position reaches the end of the media resource".
      if (this.readyState > 0 && !this.isEnded) this.#queue(() => this.#end());
    } else if (this.isEnded) {
      this.isEnded = false;
      this.duration = Infinity;
      this.#queueEvent("durationchange");
    } else if (this.readyState === 0 && isAudible && !this.videoTrack) {
      this.#queue(() => { if (load === this.#load && this.readyState === 0) this.#begin(); });
    }
    this.update();
  }

  #showTrack(track) {
    if (this.videoTrack === null && track === null) return;
    this.videoTrack = track;
    bridge.post("video.play", { video: this.video, track: track === null ? null : trackNumber(track) });
    this.#isHeld = false;
    if (track !== null) {
      Playback.onTrack(this);
      return;
    }
    shownPlaybacks.delete(this);
    if (this.width > 0 && this.readyState > 0) {
      this.width = this.height = 0;
      this.#queueEvent("resize");
    }
  }

  /// Metadata and the first data are there; both come at once with a live stream.
  #begin() {
    this.duration = Infinity;
    this.readyState = 4;
    this.#queueEvent("durationchange");
    if (this.width > 0) this.#queueEvent("resize");
    this.#queueEvent("loadedmetadata");
    this.#queueEvent("loadeddata");
    this.#queueEvent("canplay");
    const element = this.element;
    if (!this.isPaused) this.#notifyPlaying();
    else if (this.#isAutoplaying && element && Playback.#natives.autoplay(element)) {
      this.isPaused = false;
      this.#queueEvent("play");
      this.#notifyPlaying();
    }
    this.#queueEvent("canplaythrough");
    this.update();
  }

  #end() {
    const tracks = this.stream ? tracksOfStream(this.stream) : [];
    if (this.isEnded || tracks.some((track) => !isTrackEnded(track) && (this.#isVideo || trackKind(track) === "audio"))) return;
    this.isEnded = true;
    this.update();
    this.duration = this.currentTime;
    this.#fire("durationchange");
    this.#fire("timeupdate");
    if (!this.isPaused) {
      this.isPaused = true;
      this.#fire("pause");
      Playback.#reject(this.#takePlays(), "The stream ended.");
    }
    this.#fire("ended");
  }

  #notifyPlaying() {
    const plays = this.#takePlays();
    this.#queue(() => {
      this.#fire("playing");
      for (const { resolve } of plays) resolve();
    });
  }

  #resolvePlays() {
    const plays = this.#takePlays();
    queueTask(() => { for (const { resolve } of plays) resolve(); });
  }

  #rejectPlays(reason) {
    const plays = this.#takePlays();
    if (plays.length > 0) queueTask(() => Playback.#reject(plays, reason));
  }

  #takePlays() {
    const plays = this.#plays;
    this.#plays = [];
    return plays;
  }

  static #reject(plays, reason) {
    for (const { reject } of plays) reject(new DOMException(reason, "AbortError"));
  }

  #queue(task) {
    const load = this.#load;
    queueTask(() => { if (load === this.#load) task(); });
  }

  #queueEvent(type) { this.#queue(() => this.#fire(type)); }

  #fire(type) {
    const element = this.element;
    if (element) webidl.fire(element, type);
  }

  static {
    bridge.on("video.size", ({ video, width, height }) => this.find(video)?.resized(width, height));
  }
}
