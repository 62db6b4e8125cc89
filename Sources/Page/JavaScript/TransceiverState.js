// The internal slots of RTCRtpTransceiver with its RTCRtpSender and RTCRtpReceiver (W3C sections 5.2 to 5.4).

class SenderState {
  /// What `getParameters` returned in this task.
  lastParameters = null;
  degradationPreference = undefined;
  dtmf = null;
  /// The encodings before an offer that is under way.
  stableEncodings = null;

  constructor(transceiver, track, streamIds, encodings) {
    this.transceiver = transceiver;
    this.track = track;
    this.streamIds = [...new Set(streamIds)];
    this.encodings = encodings;
    this.object = makeSender(this);
    if (transceiver.kind === "audio") this.dtmf = makeToneSender(this);
  }

  /// By a description: what `getParameters` returned before can no longer be set.
  replaceEncodings(encodings) {
    this.encodings = encodings;
    this.lastParameters = null;
  }
}

class ReceiverState {
  /// The remote streams that its track is in.
  streams = [];
  jitterBufferTarget = null;

  constructor(transceiver, { track, trackId }) {
    this.transceiver = transceiver;
    this.track = makeTrack({
      number: track, id: trackId, kind: transceiver.kind, label: `remote ${transceiver.kind}`, isMuted: true,
      settings: {}, capabilities: {}, source: "remote",
    });
    this.object = makeReceiver(this);
  }
}

class TransceiverState {
  mid = null;
  currentDirection = null;
  isStopping = false;
  isStopped = false;
  /// Whether the last direction fired was one that receives ([[FiredDirection]]).
  hasFiredTrack = false;
  /// Whether it was ever negotiated to send: `addTrack` does not use such a sender again.
  hasSent = false;
  /// From the moment that a local description has its media section.
  hasTransport = false;
  isAddedByTrack = false;
  codecs = [];
  headerExtensions = [];
  codecPreferences = [];

  constructor(connection, number, kind, direction, receivingTrack, { track = null, streamIds = [], encodings } = {}) {
    this.connection = connection;
    this.number = number;
    this.kind = kind;
    this.direction = direction;
    this.sender = new SenderState(this, track, streamIds, encodings ?? makeSendEncodings(kind, []));
    this.receiver = new ReceiverState(this, receivingTrack);
    this.object = makeTransceiver(this);
  }

  /// A transceiver that the page makes: adds it to the connection and tells the box.
  static create(connection, kind, direction, { track = null, streamIds = [], encodings, isAddedByTrack = false } = {}) {
    const receivingTrack = { track: bridge.identifier(), trackId: crypto.randomUUID() };
    const transceiver = new TransceiverState(
      connection, bridge.identifier(), kind, direction, receivingTrack, { track, streamIds, encodings });
    transceiver.isAddedByTrack = isAddedByTrack;
    connection.transceivers.push(transceiver);
    connection.keep();
    transceiver.post("transceiver.add", {
      kind, direction, streams: transceiver.sender.streamIds, isAddedByTrack, receivingTrack,
      ...(track ? { track: trackNumber(track), trackId: trackId(track) } : {}),
      encodings: transceiver.sender.encodings,
    });
    return transceiver;
  }

  /// A transceiver that a remote description made, in a snapshot.
  static fromRemote(connection, entry) {
    return new TransceiverState(
      connection, entry.transceiver, entry.kind, entry.direction ?? "recvonly", entry.receivingTrack,
      { encodings: entry.encodings });
  }

  post(type, fields) {
    this.connection.post(type, { transceiver: this.number, ...fields });
  }

  request(type, fields) {
    return this.connection.request(type, { transceiver: this.number, ...fields });
  }

  /// Takes over what a snapshot says. The direction is the page's own matter.
  take(entry) {
    this.mid = entry.mid ?? null;
    this.currentDirection = entry.currentDirection ?? null;
    // SDP leaves out that sound has one channel.
    this.codecs = (entry.codecs ?? []).map((codec) => (this.kind === "audio" ? { channels: 1, ...codec } : codec));
    this.headerExtensions = entry.headerExtensions ?? [];
    if (directionSends(this.currentDirection)) this.hasSent = true;
    if (entry.encodings) this.sender.encodings = entry.encodings;
    if (this.codecs.length > 0) {
      for (const encoding of this.sender.encodings) {
        const { codec } = encoding;
        if (codec && !this.codecs.some((known) => isCodecCompatible(codec, known))) delete encoding.codec;
      }
    }
  }

  get transport() {
    return this.hasTransport ? this.connection.transport.object : null;
  }

  setDirection(direction) {
    this.direction = direction;
    this.post("transceiver.set", { direction });
  }

  /// W3C section 5.4, "stop sending and receiving", by the page.
  stop() {
    this.isStopping = true;
    this.direction = "inactive";
    this.post("transceiver.stop");
    const { track } = this.receiver;
    queueTask(() => endTrack(track));
  }

  markStopped() {
    this.isStopping = true;
    this.isStopped = true;
    this.direction = "inactive";
    this.currentDirection = null;
    this.hasTransport = false;
  }

  /// When the connection closes: nothing is fired.
  stopForGood() {
    const hadTransport = this.hasTransport;
    this.markStopped();
    this.hasTransport = hadTransport;
    endTrack(this.receiver.track, { fires: false });
  }
}

// Media began or ceased to arrive.
Connection.on("connection.receiving", (connection, { track, isMuted }) => {
  for (const { receiver } of connection.transceivers) {
    if (trackNumber(receiver.track) === track) setTrackMuted(receiver.track, isMuted);
  }
});
