// What a page has lost does not stay: the engine's collector runs when memory is used, so the checks use some until it has run.

async function collect(isDone) {
  for (let round = 0; round < 1000 && !isDone(); round += 1) {
    // A reference that was looked at holds its object for the rest of the task.
    await later(2);
    Array.from({ length: 2000 }, () => ({ buffer: new ArrayBuffer(20000), numbers: [1, 2, 3] }));
  }
  return isDone();
}

/// How many of the objects that `make` returned are gone, in the end: some may still lie on the stack.
async function lost(count, make) {
  const references = [];
  for (let index = 0; index < count; index += 1) references.push(new WeakRef(await make()));
  return collect(() => references.filter((reference) => reference.deref() === undefined).length > count * 0.9);
}

check("closed connections are collected with all their objects", async () => {
  const make = async () => {
    const peer = new RTCPeerConnection();
    const channel = peer.createDataChannel("x");
    const { receiver } = peer.addTransceiver("video");
    peer.ontrack = () => peer;
    receiver.track.onmute = () => peer;
    channel.onopen = () => channel;
    await peer.setLocalDescription();
    peer.close();
    return peer;
  };
  equal(await lost(100, make), true);
});

check("a connection that did nothing is collected, and the box is told", async () => {
  const before = box.received("connection.close").length;
  equal(await lost(100, async () => new RTCPeerConnection()), true);
  equal(await collect(() => box.received("connection.close").length - before > 90), true);
});

check("a connection that events can reach stays, though the page has lost it", async () => {
  const references = [];
  for (let index = 0; index < 20; index += 1) {
    const peer = new RTCPeerConnection();
    peer.createDataChannel("x");
    await peer.setLocalDescription();
    references.push(new WeakRef(peer));
  }
  await lost(100, async () => new RTCPeerConnection());
  equal(references.every((reference) => reference.deref() !== undefined), true);
});

check("certificates that the page has lost are released", async () => {
  const before = box.received("certificate.release").length;
  for (let index = 0; index < 50; index += 1) await RTCPeerConnection.generateCertificate({ name: "ECDSA", namedCurve: "P-256" });
  equal(await collect(() => box.received("certificate.release").length - before > 40), true);
});
