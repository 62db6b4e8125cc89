// Web IDL as pages see it.

const interfaces = {
  RTCPeerConnection: 0, RTCSessionDescription: 1, RTCIceCandidate: 0, RTCPeerConnectionIceEvent: 1,
  RTCPeerConnectionIceErrorEvent: 2, RTCCertificate: 0, RTCRtpSender: 0, RTCRtpReceiver: 0, RTCRtpTransceiver: 0,
  RTCDtlsTransport: 0, RTCIceTransport: 0, RTCIceCandidatePair: 0, RTCTrackEvent: 2, RTCSctpTransport: 0, RTCDataChannel: 0,
  RTCDataChannelEvent: 2, RTCDTMFSender: 0, RTCDTMFToneChangeEvent: 1, RTCStatsReport: 0, RTCError: 1, RTCErrorEvent: 2,
};

check("interface objects", async () => {
  for (const [name, length] of Object.entries(interfaces)) {
    const property = Object.getOwnPropertyDescriptor(globalThis, name);
    equal([property.writable, property.enumerable, property.configurable], [true, false, true], name);
    const Class = property.value;
    equal([Class.name, Class.length], [name, length]);
    equal(Object.prototype.toString.call(Class.prototype), `[object ${name}]`);
    await throws("TypeError", async () => Class());
  }
  await throws("TypeError", async () => new RTCRtpSender());
  equal(new RTCError({ errorDetail: "dtls-failure" }) instanceof DOMException, true);
});

check("attributes and operations", async () => {
  const { prototype } = RTCPeerConnection;
  const attribute = Object.getOwnPropertyDescriptor(prototype, "signalingState");
  equal([attribute.enumerable, attribute.get.name, attribute.set === undefined], [true, "get signalingState", true]);
  const operation = Object.getOwnPropertyDescriptor(prototype, "addTrack");
  equal([operation.enumerable, operation.writable, operation.value.name, operation.value.length], [true, true, "addTrack", 1]);
  equal("prototype" in operation.value, false);
  equal(prototype.createOffer.length, 0);
  equal(prototype.setRemoteDescription.length, 1);
  const own = Reflect.ownKeys(new RTCPeerConnection());
  equal(own, [], "own properties of a connection");
  await throws("TypeError", async () => attribute.get.call({}));
});

check("event handler attributes", async () => {
  const peer = new RTCPeerConnection();
  const order = [];
  peer.onnegotiationneeded = () => order.push("first handler");
  peer.addEventListener("negotiationneeded", () => order.push("listener"));
  peer.onnegotiationneeded = () => order.push("handler");
  peer.ontrack = 5;
  equal(peer.ontrack, null);
  peer.dispatchEvent(new Event("negotiationneeded"));
  equal(order, ["handler", "listener"]);
  peer.onnegotiationneeded = null;
  equal(peer.onnegotiationneeded, null);
  peer.close();
});

check("conversions of a configuration", async () => {
  const make = (configuration) => async () => new RTCPeerConnection(configuration).close();
  await throws("TypeError", make(5));
  await throws("TypeError", make({ iceTransportPolicy: "none" }));
  await throws("TypeError", make({ iceCandidatePoolSize: 256 }));
  await throws("TypeError", make({ iceServers: [{}] }));
  await throws("SyntaxError", make({ iceServers: [{ urls: "http://example.org" }] }));
  await throws("SyntaxError", make({ iceServers: [{ urls: [] }] }));
  await throws("InvalidAccessError", make({ iceServers: [{ urls: "turn:example.org" }] }));
  const peer = new RTCPeerConnection({ iceServers: [{ urls: "stun:example.org:3478" }] });
  equal(peer.getConfiguration().iceServers, [{ urls: ["stun:example.org:3478"] }]);
  await throws("InvalidModificationError", async () => peer.setConfiguration({ bundlePolicy: "max-bundle" }));
  peer.close();
});

check("candidates", async () => {
  const candidate = new RTCIceCandidate({
    candidate: "candidate:7 1 tcp 1518280447 192.0.2.1 9 typ srflx raddr 10.0.0.1 rport 8 tcptype active", sdpMid: "0",
  });
  const { foundation, component, protocol, priority, address, port, type, tcpType, relatedAddress, relatedPort } = candidate;
  equal(
    [foundation, component, protocol, priority, address, port, type, tcpType, relatedAddress, relatedPort],
    ["7", "rtp", "tcp", 1518280447, "192.0.2.1", 9, "srflx", "active", "10.0.0.1", 8]);
  equal(candidate.toJSON().sdpMLineIndex, null);
  equal(new RTCIceCandidate({ candidate: "nonsense", sdpMid: "0" }).foundation, null);
  await throws("TypeError", async () => new RTCIceCandidate({ candidate: "" }));
});

check("parameters of senders", async () => {
  const peer = new RTCPeerConnection();
  const { sender } = peer.addTransceiver("video", { sendEncodings: [{ rid: "a" }, { rid: "b", maxBitrate: 5 }] });
  const parameters = sender.getParameters();
  equal(parameters.encodings.map(({ rid, scaleResolutionDownBy }) => [rid, scaleResolutionDownBy]), [["a", 2], ["b", 1]]);
  parameters.encodings[1].maxBitrate = 7;
  await sender.setParameters(parameters);
  await throws("InvalidStateError", () => sender.setParameters(parameters));
  const next = sender.getParameters();
  equal(next.encodings[1].maxBitrate, 7);
  next.encodings.pop();
  await throws("InvalidModificationError", () => sender.setParameters(next));
  await throws("TypeError", async () => peer.addTransceiver("video", { sendEncodings: [{ rid: "a" }, { rid: "a" }] }));
  await throws("RangeError", async () => peer.addTransceiver("video", { sendEncodings: [{ scaleResolutionDownBy: 0.5 }] }));
  await throws("TypeError", async () => peer.addTransceiver("text"));
  equal(RTCRtpSender.getCapabilities("text"), null);
  equal(RTCRtpSender.getCapabilities("audio").codecs.length, 2);
  peer.close();
});

check("certificates", async () => {
  const certificate = await RTCPeerConnection.generateCertificate({ name: "ECDSA", namedCurve: "P-256" });
  equal(certificate.getFingerprints()[0].algorithm, "sha-256");
  equal(certificate.expires > Date.now(), true);
  await throws("NotSupportedError", () => RTCPeerConnection.generateCertificate("nonsense"));
  await throws("TypeError", () => RTCPeerConnection.generateCertificate({}));
  const peer = new RTCPeerConnection({ certificates: [certificate] });
  equal(typeof box.received("connection.create").at(-1).configuration.certificate, "number");
  peer.close();
});

check("statistics", async () => {
  const peer = new RTCPeerConnection();
  const report = await peer.getStats();
  equal([...report.keys()], ["P"]);
  equal(report.get("P").type, "peer-connection");
  equal(RTCStatsReport.prototype[Symbol.iterator] === RTCStatsReport.prototype.entries, true);
  const { track } = new RTCPeerConnection().addTransceiver("audio").receiver;
  await throws("InvalidAccessError", () => peer.getStats(track));
  peer.close();
});
