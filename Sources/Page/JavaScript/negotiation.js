// The steps behind RTCPeerConnection's operations that negotiate (W3C sections 4.4.1 and 4.4.2), on a connection's state.

/// Asks for an offer or an answer, again if the page changed meanwhile what it would say.
async function createDescription(connection, type, options = {}) {
  const { signalingState } = connection;
  const isValid = type === "offer"
    ? signalingState === "stable" || signalingState === "have-local-offer"
    : signalingState === "have-remote-offer" || signalingState === "have-local-pranswer";
  if (!isValid) {
    throw new DOMException(`An ${type} cannot be created in the state ${signalingState}.`, "InvalidStateError");
  }
  connection.keep();
  for (;;) {
    const { modifications } = connection;
    const request = type === "offer" ? "connection.createOffer" : "connection.createAnswer";
    const { sdp } = await connection.request(request, type === "offer" ? { options } : {});
    if (connection.modifications !== modifications) continue;
    connection.lastCreated[type] = { sdp, modifications };
    return { type, sdp };
  }
}

/// A description without the lines that tell the peer how to send, and nothing of us. W3C has altered descriptions refused, but
/// engines have never done so and pages rely on it: they set limits of bit rates or format parameters, or bring the codecs
/// of an offer into another order, and give the result to the peer. We then set what we had created ourselves.
function withoutTuning(sdp, kind) {
  const tuning = kind === "offer"
    ? /^(b=|a=(fmtp|rtcp-fb|rtpmap|ptime|maxptime|extmap|ssrc|ssrc-group|msid):)/
    : /^(b=|a=(fmtp|rtcp-fb|ptime|maxptime|ssrc|ssrc-group|msid):)/;
  return sdp.split(/\r?\n/).filter((line) => line !== "" && !tuning.test(line))
    .map((line) => (kind === "offer" ? line.replace(/^(m=(?:audio|video) \S+ \S+) .*/, "$1") : line)).join("\n");
}

/// W3C setLocalDescription: without a type or content it means what was created last, or what would be created now.
async function setLocalDescription(connection, { type: given, sdp }) {
  const { signalingState } = connection;
  const type = given
    ?? (["stable", "have-local-offer", "have-remote-pranswer"].includes(signalingState) ? "offer" : "answer");
  const kind = type === "offer" ? "offer" : "answer";
  const last = connection.lastCreated[kind];
  if (type === "rollback" || sdp !== "") {
    const isTuned = last && sdp !== last.sdp && withoutTuning(sdp, kind) === withoutTuning(last.sdp, kind);
    return setDescription(connection, false, { type, sdp: isTuned ? last.sdp : sdp });
  }
  if (last?.modifications === connection.modifications) {
    return setDescription(connection, false, { type, sdp: last.sdp });
  }
  const created = await createDescription(connection, kind);
  return setDescription(connection, false, { type, sdp: created.sdp });
}

/// W3C setRemoteDescription: an offer that comes across our own takes ours back first.
async function setRemoteDescription(connection, description) {
  const isOurs = connection.signalingState !== "stable" && connection.signalingState !== "have-remote-offer";
  if (description.type === "offer" && isOurs) {
    await setDescription(connection, false, { type: "rollback", sdp: "" });
  }
  return setDescription(connection, true, description);
}

/// W3C section 4.4.2, addIceCandidate.
function addIceCandidate(connection, value) {
  const candidate = convertIceCandidateInit(value, "candidate");
  if (candidate.candidate !== "" && candidate.sdpMid === null && candidate.sdpMLineIndex === null) {
    throw new TypeError("The candidate has neither sdpMid nor sdpMLineIndex.");
  }
  return connection.chain(async () => {
    const { pendingRemote, currentRemote } = connection.descriptions;
    if (!pendingRemote && !currentRemote) {
      throw new DOMException("There is no remote description.", "InvalidStateError");
    }
    const isEnd = candidate.candidate === "" && candidate.sdpMid === null && candidate.sdpMLineIndex === null;
    const snapshot = await connection.request("connection.addIceCandidate", isEnd ? {} : { candidate });
    connection.setDescriptions(snapshot);
    if (candidate.candidate !== "" && connection.dtls) {
      const { mid } = parseMediaSections(pendingRemote ?? currentRemote)[candidate.sdpMLineIndex ?? 0] ?? {};
      connection.dtls.ice.addRemoteCandidate(new RTCIceCandidate({ ...candidate, sdpMid: candidate.sdpMid ?? mid ?? "0" }));
    }
  });
}

/// W3C section 4.4.3.2: `offerToReceiveAudio` and `offerToReceiveVideo` of old pages.
function offerToReceive(connection, kind, isWanted) {
  if (isWanted === undefined) return;
  const open = connection.transceivers.filter((transceiver) => transceiver.kind === kind && !transceiver.isStopping);
  if (!isWanted) {
    for (const transceiver of open) {
      const direction = { sendrecv: "sendonly", recvonly: "inactive" }[transceiver.direction];
      if (direction) transceiver.setDirection(direction);
    }
  } else if (!open.some((transceiver) => directionReceives(transceiver.direction))) {
    TransceiverState.create(connection, kind, "recvonly");
  }
  connection.modifications += 1;
}

/// W3C section 5.1, addTrack: a sender that never sent is used, or a transceiver is made.
function addTrack(connection, track, streamIds) {
  if (connection.senders.some((sender) => sender.track === track)) {
    throw new DOMException("The track is being sent already.", "InvalidAccessError");
  }
  const free = connection.senders.find(({ track: used, transceiver }) =>
    used === null && transceiver.kind === trackKind(track) && !transceiver.isStopping && !transceiver.hasSent);
  if (!free) {
    const options = { track, streamIds, isAddedByTrack: true };
    const { sender } = TransceiverState.create(connection, trackKind(track), "sendrecv", options);
    connection.updateNegotiationNeeded();
    return sender;
  }
  const { transceiver } = free;
  setTrack(free, track);
  free.streamIds = [...new Set(streamIds)];
  transceiver.direction = makeDirection(true, directionReceives(transceiver.direction));
  transceiver.post("transceiver.set", {
    direction: transceiver.direction, streams: free.streamIds, isAddedByTrack: true,
  });
  connection.updateNegotiationNeeded();
  return free;
}

/// W3C section 5.1, removeTrack.
function removeTrack(connection, sender) {
  const { transceiver } = sender;
  if (transceiver.connection !== connection) {
    throw new DOMException("The sender belongs to another connection.", "InvalidAccessError");
  }
  if (!connection.senders.includes(sender) || transceiver.isStopping || sender.track === null) return;
  setTrack(sender, null);
  transceiver.setDirection(makeDirection(false, directionReceives(transceiver.direction)));
  connection.updateNegotiationNeeded();
}

/// At once for the page; the box follows. It can refuse only what the page has already excluded.
function setTrack(sender, track) {
  sender.track = track;
  const fields = track ? { track: trackNumber(track), trackId: trackId(track) } : { track: null };
  react(sender.transceiver.request("sender.setTrack", { ...fields, isReplacing: false }), () => {}, reportError);
}
