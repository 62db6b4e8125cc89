// MediaStream: https://w3c.github.io/mediacapture-main/#mediastream

/// Makes a stream of `{id, tracks}`.
let makeStream;
/// Section 4.2, "add a track" and "remove a track" of the user agent; with `{fires: true}` the event is fired as well.
let addTrackToStream;
let removeTrackFromStream;
/// Calls back whenever the stream's tracks change or one of them ends; `unwatchStream` takes it back.
let watchStream;
let unwatchStream;
/// The stream's tracks, without a copy that pages could have tampered with.
let tracksOfStream;

class MediaStream extends EventTarget {
  #id;
  /// Id → track, in the order of adding.
  #tracks = new Map();
  #watchers = new Set();
  /// One function for all tracks, so that it can be taken back.
  #trackEnded = () => this.#changed();

  constructor(source = undefined, ...rest) {
    super();
    this.#id = crypto.randomUUID();
    if (source === webidl.internal) {
      this.#id = rest[0];
      for (const track of rest[1]) this.#add(track);
      return;
    }
    if (source === undefined) return;
    if (webidl.isObject(source) && #tracks in source) {
      for (const track of source.#tracks.values()) this.#add(track);
      return;
    }
    for (const track of MediaStream.#convertTracks(source, "The first argument")) this.#add(track);
  }

  static #convertTracks = webidl.convert.sequence(webidl.convert.interface(MediaStreamTrack));
  static #convertTrack = webidl.convert.interface(MediaStreamTrack);

  get id() { return this.#id; }

  get active() {
    for (const track of this.#tracks.values()) {
      if (!isTrackEnded(track)) return true;
    }
    return false;
  }

  getAudioTracks() { return this.#ofKind("audio"); }
  getVideoTracks() { return this.#ofKind("video"); }
  getTracks() { return [...this.#tracks.values()]; }
  getTrackById(trackId) { return this.#tracks.get(`${trackId}`) ?? null; }

  addTrack(track) {
    if (this.#add(MediaStream.#convertTrack(track, "track"))) this.#changed();
  }

  removeTrack(track) {
    if (this.#remove(MediaStream.#convertTrack(track, "track"))) this.#changed();
  }

  clone() {
    return makeStream({ id: crypto.randomUUID(), tracks: [...this.#tracks.values()].map((track) => cloneTrack(track)) });
  }

  #ofKind(kind) {
    return [...this.#tracks.values()].filter((track) => trackKind(track) === kind);
  }

  #add(track) {
    const id = trackId(track);
    if (this.#tracks.has(id)) return false;
    this.#tracks.set(id, track);
    if (this.#watchers.size > 0) watchTrack(track, this.#trackEnded);
    return true;
  }

  #remove(track) {
    if (!this.#tracks.delete(trackId(track))) return false;
    unwatchTrack(track, this.#trackEnded);
    return true;
  }

  #changed() {
    for (const watcher of [...this.#watchers]) watcher(this);
  }

  static {
    const fire = (stream, type, track) => {
      webidl.fire(stream, new MediaStreamTrackEvent(type, { track }));
    };
    makeStream = ({ id, tracks }) => new MediaStream(webidl.internal, id, tracks);
    addTrackToStream = (stream, track, { fires = false } = {}) => {
      if (!stream.#add(track)) return;
      stream.#changed();
      if (fires) fire(stream, "addtrack", track);
    };
    removeTrackFromStream = (stream, track, { fires = false } = {}) => {
      if (!stream.#remove(track)) return;
      stream.#changed();
      if (fires) fire(stream, "removetrack", track);
    };
    // Tracks are watched only while somebody watches the stream, so that a stream can go when its last holder does.
    watchStream = (stream, callback) => {
      if (stream.#watchers.size === 0) {
        for (const track of stream.#tracks.values()) watchTrack(track, stream.#trackEnded);
      }
      stream.#watchers.add(callback);
    };
    unwatchStream = (stream, callback) => {
      stream.#watchers.delete(callback);
      if (stream.#watchers.size > 0) return;
      for (const track of stream.#tracks.values()) unwatchTrack(track, stream.#trackEnded);
    };
    tracksOfStream = (stream) => [...stream.#tracks.values()];
    webidl.define(this, { is: (value) => #id in value, events: ["addtrack", "removetrack"] });
  }
}
