// RTCPeerConnection's former interface of whole streams, which older pages and adapter.js still call.

function addStream(connection, stream) {
  connection.requireOpen();
  const sent = connection.senders.map((sender) => sender.track);
  connection.localStreams ??= new Set();
  connection.localStreams.add(stream);
  for (const track of tracksOfStream(stream)) {
    if (!sent.includes(track)) addTrack(connection, track, [stream.id]);
  }
}

function removeStream(connection, stream) {
  connection.requireOpen();
  connection.localStreams?.delete(stream);
  const tracks = tracksOfStream(stream);
  for (const sender of connection.senders) {
    if (tracks.includes(sender.track)) removeTrack(connection, sender);
  }
}

function localStreams(connection) {
  return [...connection.localStreams ?? []];
}

function remoteStreams(connection) {
  const streams = new Set();
  for (const { receiver, isStopped } of connection.transceivers) {
    if (!isStopped) receiver.streams.forEach((stream) => streams.add(stream));
  }
  return [...streams];
}

class MediaStreamEvent extends Event {
  #stream;

  constructor(type, eventInitDict = {}) {
    webidl.requireArguments(arguments, 1, "MediaStreamEvent");
    const { stream } = MediaStreamEvent.#convert(eventInitDict, "MediaStreamEvent");
    super(type, eventInitDict);
    this.#stream = stream;
  }

  get stream() { return this.#stream; }

  static #convert = webidl.convert.dictionary("MediaStreamEventInit", {
    stream: { type: webidl.convert.nullable(webidl.convert.interface(MediaStream)), default: null },
  });

  static {
    webidl.define(this, { is: (value) => #stream in value, length: 1 });
  }
}

/// After the track events: streams that a description brought, or of which it took the last track.
function fireStreamEvents(connection, fresh, removed) {
  for (const stream of fresh) connection.fire(new MediaStreamEvent("addstream", { stream }));
  for (const stream of new Set(removed.map(([stream]) => stream))) {
    if (tracksOfStream(stream).length === 0) connection.fire(new MediaStreamEvent("removestream", { stream }));
  }
}
