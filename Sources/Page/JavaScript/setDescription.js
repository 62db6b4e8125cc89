// https://w3c.github.io/webrtc-pc/#set-the-rtcsessiondescription and what follows from a description that was set.

/// W3C section 4.4.1.5: asks the box to apply a description, then takes over the state that came of it.
function setDescription(connection, isRemote, description) {
  const { signalingState } = connection;
  const { type } = description;
  const valid = {
    rollback: isRemote ? ["have-remote-offer"] : ["have-local-offer"],
    offer: isRemote ? ["stable", "have-remote-offer"] : ["stable", "have-local-offer"],
    pranswer: isRemote ? ["have-local-offer", "have-remote-pranswer"] : ["have-remote-offer", "have-local-pranswer"],
    answer: isRemote ? ["have-local-offer", "have-remote-pranswer"] : ["have-remote-offer", "have-local-pranswer"],
  }[type];
  if (!valid.includes(signalingState)) {
    const side = isRemote ? "remote" : "local";
    throw new DOMException(`A ${side} ${type} cannot be set in the state ${signalingState}.`, "InvalidStateError");
  }
  connection.keep();
  return askForDescription(connection, isRemote, description);
}

async function askForDescription(connection, isRemote, description) {
  const { type } = description;
  for (;;) {
    const newest = bridge.identifier();
    const request = isRemote ? "connection.setRemoteDescription" : "connection.setLocalDescription";
    const snapshot = await connection.request(request, { description });
    // What addTrack made meanwhile takes part in the offer, as if the box had known it: the offer is set once more.
    const isOvertaken = isRemote && type === "offer" && connection.transceivers.some((transceiver) =>
      transceiver.number > newest && transceiver.isAddedByTrack && !transceiver.isStopping);
    if (!isOvertaken) {
      applySnapshot(connection, snapshot, { type, isRemote, newest });
      return;
    }
    await connection.request(request, { description: { type: "rollback", sdp: "" } });
  }
}

/// The task that W3C queues when a description has been applied. `newest` tells transceivers that the box could not
/// yet know from those that it has dropped: identifiers only grow.
function applySnapshot(connection, snapshot, { type, isRemote, newest }) {
  const changes = { streamed: [], unstreamed: [], muted: [], ended: [], tracks: [] };
  connection.setDescriptions(snapshot);
  connection.canTrickleIceCandidates = snapshot.canTrickleIceCandidates ?? null;
  const previousState = connection.signalingState;
  connection.signalingState = snapshot.signalingState;
  if (snapshot.signalingState === "stable") connection.lastCreated = {};
  mergeTransceivers(connection, snapshot.transceivers, newest, changes);
  const { pendingLocal, currentLocal } = connection.descriptions;
  const described = [pendingLocal, currentLocal].flatMap(parseMediaSections).filter(({ isRejected }) => !isRejected);
  for (const entry of snapshot.transceivers) {
    const transceiver = connection.transceiver(entry.transceiver);
    transceiver.take(entry);
    transceiver.hasTransport = described.some(({ mid }) => mid !== null && mid === transceiver.mid);
    if (entry.isStopped) {
      if (transceiver.isStopped) continue;
      processRemoteTrack(connection, transceiver, false, [], changes);
      if (!transceiver.isStopping) changes.ended.push(transceiver.receiver.track);
      transceiver.markStopped();
    } else if (isRemote) {
      processRemoteTrack(connection, transceiver, entry.remoteIsSending, entry.remoteStreams ?? [], changes);
    } else if (type === "answer" || type === "pranswer") {
      if (!directionReceives(entry.currentDirection)) processRemoteTrack(connection, transceiver, false, [], changes);
      transceiver.hasFiredTrack = directionReceives(entry.currentDirection);
    }
  }
  takeLayers(connection, type, isRemote, previousState);
  takeTransports(connection, snapshot, type, isRemote);
  for (const { channel, identifier } of snapshot.channels ?? []) dataChannel(channel)?.setIdentifier(identifier);

  if (connection.signalingState === "stable") {
    connection.transceivers = connection.transceivers.filter((transceiver) => !transceiver.isStopped);
    const fragments = usernameFragments(connection.descriptions.currentLocal);
    if (!fragments.some((fragment) => connection.replacedFragments.has(fragment))) connection.replacedFragments.clear();
    connection.clearNegotiationNeeded();
    connection.updateNegotiationNeeded();
  }
  fireChanges(connection, previousState, changes);
}

/// Makes the transceivers that a remote description brought, and forgets those that it or a rollback removed.
function mergeTransceivers(connection, entries, newest, changes) {
  const merged = entries.map((entry) =>
    connection.transceiver(entry.transceiver) ?? TransceiverState.fromRemote(connection, entry));
  for (const transceiver of connection.transceivers) {
    if (merged.includes(transceiver)) continue;
    if (transceiver.number > newest) {
      merged.push(transceiver);
      continue;
    }
    processRemoteTrack(connection, transceiver, false, [], changes);
    if (!transceiver.isStopping) changes.ended.push(transceiver.receiver.track);
    transceiver.markStopped();
    transceiver.mid = null;
  }
  connection.transceivers = merged;
}

/// What the peer's wishes make of the senders' encodings, and a rollback unmakes (W3C section 4.4.1.5, [[SendEncodings]]).
function takeLayers(connection, type, isRemote, previousState) {
  const { pendingRemote, currentRemote } = connection.descriptions;
  // A new offer changes nothing of what was negotiated before its answer.
  const isAnswer = type === "answer" || type === "pranswer";
  const sections = isRemote || isAnswer ? parseMediaSections(pendingRemote ?? currentRemote) : [];
  for (const { sender, mid, currentDirection, kind } of connection.transceivers) {
    if (previousState === "stable") sender.stableEncodings = structuredClone(sender.encodings);
    if (type === "rollback" && sender.stableEncodings) sender.replaceEncodings(sender.stableEncodings);
    const section = type === "rollback" || mid === null ? undefined : sections.find((candidate) => candidate.mid === mid);
    if (!section || section.isRejected || kind !== "video") continue;
    const layers = receivedLayers(section);
    const { encodings } = sender;
    if (isAnswer && encodings.length > 1) {
      const wanted = encodings.filter(({ rid }) => layers.includes(rid));
      if (wanted.length < encodings.length) sender.replaceEncodings(wanted.length > 0 ? wanted : [encodings[0]]);
    } else if (type === "offer" && layers.length > 1 && encodings[0].rid === undefined && currentDirection === null) {
      sender.replaceEncodings(makeSendEncodings("video", layers.map((rid) => ({ rid, active: true, priority: "low" }))));
    }
  }
}

/// "Set the associated remote streams", "process remote tracks" (sections 4.4.1.5 and 5.1.1).
function processRemoteTrack(connection, transceiver, isReceiving, streamIds, changes) {
  const { receiver } = transceiver;
  const streams = [...new Set(isReceiving ? streamIds : [])].map((id) => {
    let stream = connection.remoteStreams.get(id)?.deref();
    if (!stream) {
      stream = makeStream({ id, tracks: [] });
      connection.remoteStreams.set(id, new WeakRef(stream));
    }
    return stream;
  });
  let isAdded = false;
  for (const stream of receiver.streams) {
    if (!streams.includes(stream)) changes.unstreamed.push([stream, receiver.track]);
  }
  for (const stream of streams) {
    if (receiver.streams.includes(stream)) continue;
    changes.streamed.push([stream, receiver.track]);
    isAdded = true;
  }
  receiver.streams = streams;
  if (isReceiving && (!transceiver.hasFiredTrack || isAdded)) {
    changes.tracks.push({ transceiver, streams });
  } else if (!isReceiving && transceiver.hasFiredTrack) {
    changes.muted.push(receiver.track);
  }
  transceiver.hasFiredTrack = isReceiving;
}

function takeTransports(connection, snapshot, type, isRemote) {
  const { pendingLocal, pendingRemote } = connection.descriptions;
  const isOffered = [pendingLocal, pendingRemote].flatMap(parseMediaSections)
    .some(({ kind, isRejected }) => kind === "application" && !isRejected);
  const hasChannels = snapshot.sctp || isOffered;
  if (connection.transceivers.some((transceiver) => transceiver.hasTransport) || hasChannels) {
    connection.transport.ice.describe(connection, type, isRemote);
  }
  if (hasChannels) {
    // With an offer already, as in other engines, though the specification waits for the answer.
    connection.sctp ??= makeSctpTransport(connection);
    if (snapshot.sctp) connection.sctp.update(snapshot.sctp);
  } else {
    connection.sctp = null;
  }
}

/// The events, in the order of the specification.
function fireChanges(connection, previousState, changes) {
  if (connection.signalingState !== previousState) connection.fire("signalingstatechange");
  for (const track of changes.ended) queueTask(() => endTrack(track));
  for (const track of changes.muted) setTrackMuted(track, true);
  for (const [stream, track] of changes.unstreamed) removeTrackFromStream(stream, track, { fires: true });
  const fresh = new Set();
  for (const [stream, track] of changes.streamed) {
    if (stream.getTracks().length === 0) fresh.add(stream);
    addTrackToStream(stream, track, { fires: true });
  }
  for (const { transceiver, streams } of changes.tracks) {
    connection.fire(new RTCTrackEvent("track", {
      receiver: transceiver.receiver.object, track: transceiver.receiver.track, streams, transceiver: transceiver.object,
    }));
  }
  fireStreamEvents(connection, fresh, changes.unstreamed);
}
