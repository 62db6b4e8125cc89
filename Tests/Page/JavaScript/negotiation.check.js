async function exchange(caller, callee) {
  await caller.setLocalDescription();
  await callee.setRemoteDescription(caller.localDescription);
  await callee.setLocalDescription();
  await caller.setRemoteDescription(callee.localDescription);
}

function pageTrack(kind = "video") {
  return new RTCPeerConnection().addTransceiver(kind).receiver.track;
}

check("two connections negotiate a track", async () => {
  const [caller, callee] = [new RTCPeerConnection(), new RTCPeerConnection()];
  const stream = new MediaStream();
  const events = [];
  callee.onsignalingstatechange = () => events.push(callee.signalingState);
  callee.ontrack = ({ track, streams, transceiver }) => {
    events.push("track");
    equal(track.kind, "video");
    equal(track.muted, true);
    equal(streams.length, 1);
    equal(streams[0].id, stream.id);
    equal(streams[0].getTracks().includes(track), true);
    equal(transceiver.direction, "recvonly");
  };
  const sender = caller.addTrack(pageTrack(), stream);
  await caller.setLocalDescription();
  equal(caller.signalingState, "have-local-offer");
  const set = callee.setRemoteDescription(caller.localDescription).then(() => events.push("resolved"));
  await set;
  equal(events, ["have-remote-offer", "track", "resolved"]);
  await callee.setLocalDescription();
  await caller.setRemoteDescription(callee.localDescription);
  equal(caller.signalingState, "stable");
  equal(caller.getTransceivers()[0].currentDirection, "sendonly");
  equal(caller.getTransceivers()[0].mid, "0");
  equal(sender.transport.state, "new");
  equal(sender.transport.iceTransport.role, "controlling");
  caller.close();
  callee.close();
  equal(sender.transport.state, "closed");
});

check("negotiationneeded comes once, as a task, and not after it was settled", async () => {
  const [caller, callee] = [new RTCPeerConnection(), new RTCPeerConnection()];
  let count = 0;
  caller.onnegotiationneeded = () => { count += 1; };
  caller.addTransceiver("audio");
  caller.addTransceiver("video");
  equal(count, 0);
  await later(20);
  equal(count, 1);
  await exchange(caller, callee);
  await later(20);
  equal(count, 1);
  caller.getTransceivers()[0].direction = "inactive";
  await later(20);
  equal(count, 2);
  await exchange(caller, callee);
  caller.createDataChannel("late");
  await later(20);
  equal(count, 3);
  caller.close();
});

check("removing a track mutes and removes it at the other end", async () => {
  const [caller, callee] = [new RTCPeerConnection(), new RTCPeerConnection()];
  const sender = caller.addTrack(pageTrack(), new MediaStream());
  await exchange(caller, callee);
  const { track } = callee.getReceivers()[0];
  const [stream] = callee.getRemoteStreams();
  const [connection, far] = [...box.connections].findLast(([, { transceivers }]) => transceivers[0]?.remoteIsSending);
  box.tell({ type: "connection.receiving", connection, track: far.transceivers[0].receivingTrack.track, isMuted: false });
  await later(10);
  equal(track.muted, false);
  const events = [];
  track.onmute = () => events.push("mute");
  stream.onremovetrack = (event) => events.push(event.track === track);
  caller.removeTrack(sender);
  await exchange(caller, callee);
  equal(events, ["mute", true]);
  caller.close();
  callee.close();
});

check("an offer across our own rolls ours back", async () => {
  const [polite, other] = [new RTCPeerConnection(), new RTCPeerConnection()];
  const states = [];
  polite.onsignalingstatechange = () => states.push(polite.signalingState);
  polite.addTransceiver("audio");
  other.addTransceiver("video");
  await polite.setLocalDescription();
  await other.setLocalDescription();
  await polite.setRemoteDescription(other.localDescription);
  equal(states, ["have-local-offer", "stable", "have-remote-offer"]);
  await polite.setLocalDescription();
  equal(polite.getTransceivers().length, 2);
  polite.close();
  other.close();
});

check("operations wait for one another, and never settle after close", async () => {
  const peer = new RTCPeerConnection();
  const order = [];
  peer.addTransceiver("audio");
  const first = peer.createOffer().then(() => order.push("offer"));
  const second = peer.setLocalDescription().then(() => order.push("local"));
  await Promise.all([first, second]);
  equal(order, ["offer", "local"]);
  let settled = false;
  peer.createOffer().then(() => { settled = true; }, () => { settled = true; });
  peer.close();
  await later(20);
  equal(settled, false);
  await throws("InvalidStateError", () => peer.createOffer());
});

check("limits that a page writes into its offer are no obstacle, other changes reach the box", async () => {
  const peer = new RTCPeerConnection();
  peer.addTransceiver("video");
  const offer = await peer.createOffer();
  const sent = () => box.received("connection.setLocalDescription").at(-1).description.sdp;
  await peer.setLocalDescription({ type: "offer", sdp: `${offer.sdp.replace(" 96", " 97 96")}b=AS:500\r\na=fmtp:96 x=1\r\n` });
  equal(sent(), offer.sdp);
  const other = `${offer.sdp}a=unknown\r\n`;
  await peer.setLocalDescription({ type: "offer", sdp: other });
  equal(sent(), other);
  peer.close();
});

check("wrong states reject at once", async () => {
  const peer = new RTCPeerConnection();
  await throws("InvalidStateError", () => peer.createAnswer());
  await throws("InvalidStateError", () => peer.setLocalDescription({ type: "rollback" }));
  await throws("InvalidStateError", () => peer.addIceCandidate());
  await throws("TypeError", () => peer.addIceCandidate({ candidate: "candidate:1 1 udp 1 1.1.1.1 1 typ host" }));
  await throws("TypeError", () => peer.setRemoteDescription());
  await throws("TypeError", () => peer.setRemoteDescription({ type: "nonsense" }));
  await throws("TypeError", () => RTCPeerConnection.prototype.createOffer.call({}));
  await throws("TypeError", async () => RTCPeerConnection.prototype.signalingState);
  peer.close();
});

check("a stopped transceiver ends its track and goes", async () => {
  const [caller, callee] = [new RTCPeerConnection(), new RTCPeerConnection()];
  caller.addTransceiver("audio");
  await exchange(caller, callee);
  const transceiver = caller.getTransceivers()[0];
  const far = callee.getTransceivers()[0];
  const ended = new Promise((resolve) => { far.receiver.track.onended = resolve; });
  transceiver.stop();
  equal(transceiver.direction, "stopped");
  equal(transceiver.currentDirection, "sendonly");
  await exchange(caller, callee);
  await ended;
  equal(far.currentDirection, "stopped");
  equal(transceiver.currentDirection, "stopped");
  caller.close();
  callee.close();
});

check("events of the box reach the right objects", async () => {
  const peer = new RTCPeerConnection();
  peer.addTransceiver("audio");
  await peer.setLocalDescription();
  const [connection] = [...box.connections.keys()].slice(-1);
  const events = [];
  for (const type of ["icecandidate", "icegatheringstatechange", "iceconnectionstatechange", "connectionstatechange", "icecandidateerror"]) {
    peer[`on${type}`] = (event) => events.push([event.type, event.candidate?.candidate ?? event.errorCode ?? null]);
  }
  const { iceTransport } = peer.getSenders()[0].transport;
  const candidate = "candidate:1 1 udp 2113937151 192.0.2.1 5000 typ host";
  const localDescriptions = { pendingLocal: { type: "offer", sdp: "v=0\r\nm=audio 9 X 0\r\na=mid:0\r\na=" + candidate }, currentLocal: null };
  box.tell({ type: "connection.icegatheringstate", connection, state: "gathering" });
  box.tell({ type: "connection.icecandidate", connection, candidate: { candidate, sdpMid: "0", sdpMLineIndex: 0, usernameFragment: "u" }, localDescriptions });
  box.tell({ type: "connection.icecandidateerror", connection, address: null, port: null, url: "stun:x", errorCode: 701, errorText: "" });
  box.tell({ type: "connection.iceconnectionstate", connection, state: "checking" });
  box.tell({ type: "connection.connectionstate", connection, state: "connecting" });
  box.tell({ type: "connection.icegatheringstate", connection, state: "complete" });
  box.tell({ type: "connection.icecandidate", connection, candidate: null });
  await later(50);
  equal(events, [
    ["icegatheringstatechange", null], ["icecandidate", candidate], ["icecandidateerror", 701],
    ["iceconnectionstatechange", null], ["connectionstatechange", null], ["icegatheringstatechange", null], ["icecandidate", null],
  ]);
  equal(iceTransport.state, "checking");
  equal(iceTransport.getLocalCandidates()[0].port, 5000);
  equal(peer.localDescription.sdp.includes(candidate), true);
  peer.close();
});

check("nothing of a thousand connections stays", async () => {
  const before = box.connections.size;
  for (let index = 0; index < 1000; index += 1) {
    const peer = new RTCPeerConnection();
    peer.addTransceiver("video");
    peer.createDataChannel("x");
    peer.close();
  }
  equal(box.connections.size, before);
});
