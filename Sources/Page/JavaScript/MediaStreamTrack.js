// MediaStreamTrack: https://w3c.github.io/mediacapture-main/#mediastreamtrack
// The object is a handle on a track of the box: media comes into the page only where a page asks for it.

/// Makes a track of `{number, id, kind, label, isMuted, settings, capabilities, constraints, source: "device"|"remote"|"page", Class}`;
/// what is left out has a default.
let makeTrack;
/// The track's number on the bridge.
let trackNumber;
let trackId;
let trackKind;
/// What `clone()` does, whatever the page made of the prototype.
let cloneTrack;
let isTrackEnded;
/// Section 4.3.1, "set a track's muted state": fires `mute` or `unmute`.
let setTrackMuted;
/// Section 4.3.1, "track ends for any reason other than stop()": fires `ended`, unless `{fires: false}` is given.
let endTrack;
/// `watchTrack(track, callback)`: calls back when the track has ended, also by stop(). `unwatchTrack` takes it back.
let watchTrack;
let unwatchTrack;

class MediaStreamTrack extends EventTarget {
  #state;

  /// Number → WeakRef of the track, of those that have not ended.
  static #live = new Map();
  /// A track that nobody can reach any more gives its device back.
  static #lost = new FinalizationRegistry((state) => {
    if (state.isEnded) return;
    MediaStreamTrack.#live.delete(state.number);
    bridge.post("track.stop", { track: state.number });
  });

  constructor(token, state) {
    webidl.requireInternal(token);
    super();
    this.#state = state;
    MediaStreamTrack.#live.set(state.number, new WeakRef(this));
    MediaStreamTrack.#lost.register(this, state);
  }

  get kind() { return this.#state.kind; }
  get id() { return this.#state.id; }
  get label() { return this.#state.label; }

  get enabled() { return this.#state.isEnabled; }
  set enabled(value) {
    const state = this.#state;
    const isEnabled = !!value;
    if (state.isEnabled === isEnabled) return;
    state.isEnabled = isEnabled;
    if (!state.isEnded) bridge.post("track.enable", { track: state.number, isEnabled });
  }

  get muted() { return this.#state.isMuted; }
  get readyState() { return this.#state.isEnded ? "ended" : "live"; }

  /// https://w3c.github.io/mst-content-hint/
  get contentHint() { return this.#state.contentHint; }
  set contentHint(value) {
    const state = this.#state;
    const text = `${value}`;
    const allowed = state.kind === "audio" ? ["", "speech", "speech-recognition", "music"] : ["", "motion", "detail", "text"];
    if (allowed.includes(text)) state.contentHint = text;
  }

  clone() { return cloneTrack(this); }

  #clone() {
    const state = this.#state;
    const number = bridge.identifier();
    const id = crypto.randomUUID();
    if (!state.isEnded) {
      bridge.post("track.clone", { track: number, from: state.number, trackId: id });
      if (!state.isEnabled) bridge.post("track.enable", { track: number, isEnabled: false });
    }
    const copy = makeTrack({ ...state, number, id, settings: { ...state.settings } });
    if (state.isEnded) MediaStreamTrack.#live.delete(number);
    return copy;
  }

  stop() {
    if (this.#state.isEnded) return;
    bridge.post("track.stop", { track: this.#state.number });
    this.#finish();
  }

  getCapabilities() { return structuredClone(this.#state.capabilities); }
  getConstraints() { return structuredClone(this.#state.constraints); }
  getSettings() { return { ...this.#state.settings }; }

  /// Section 4.3.8.1.5. Several calls take effect one after the other.
  applyConstraints(constraints = {}) {
    const wanted = trackConstraints(constraints);
    const state = this.#state;
    const result = state.applying.then(async () => {
      if (state.isEnded) {
        state.constraints = wanted;
        return;
      }
      const settings = selectSettings(wanted, state.capabilities, state.kind, state.settings);
      if (state.source === "device") {
        const answer = await bridge.request("track.apply", { track: state.number, settings });
        Object.assign(state.settings, settings, answer.settings);
      }
      state.constraints = wanted;
    });
    state.applying = result.catch(() => {});
    return result;
  }

  #finish() {
    const state = this.#state;
    state.isEnded = true;
    MediaStreamTrack.#live.delete(state.number);
    for (const watcher of [...state.watchers]) watcher(this);
  }

  static {
    makeTrack = (fields) => {
      const { Class = MediaStreamTrack } = fields;
      return new Class(webidl.internal, {
        label: "", isMuted: false, source: "remote", capabilities: {}, constraints: {}, settings: {},
        isEnabled: true, isEnded: false, contentHint: "",
        ...fields,
        applying: Promise.resolve(), watchers: new Set(),
      });
    };
    trackNumber = (track) => track.#state.number;
    trackId = (track) => track.#state.id;
    cloneTrack = (track) => track.#clone();
    trackKind = (track) => track.#state.kind;
    isTrackEnded = (track) => track.#state.isEnded;
    setTrackMuted = (track, isMuted) => {
      const state = track.#state;
      if (state.isMuted === isMuted || state.isEnded) return;
      state.isMuted = isMuted;
      webidl.fire(track, isMuted ? "mute" : "unmute");
    };
    endTrack = (track, { fires = true } = {}) => {
      if (track.#state.isEnded) return;
      track.#finish();
      if (fires) webidl.fire(track, "ended");
    };
    watchTrack = (track, callback) => void track.#state.watchers.add(callback);
    unwatchTrack = (track, callback) => void track.#state.watchers.delete(callback);

    const find = (number) => this.#live.get(number)?.deref();
    bridge.on("track.muted", ({ track, isMuted, settings, capabilities }) => {
      const found = find(track);
      if (!found) return;
      // A device that comes back may be another one.
      const state = found.#state;
      if (settings) Object.assign(state.settings, settings);
      if (capabilities) state.capabilities = { ...state.capabilities, ...capabilities };
      setTrackMuted(found, isMuted);
    });
    bridge.on("track.ended", ({ track }) => {
      const found = find(track);
      if (found) endTrack(found);
    });
    webidl.define(this, {
      is: (value) => #state in value, promises: ["applyConstraints"], events: ["mute", "unmute", "ended"],
    });
  }
}
