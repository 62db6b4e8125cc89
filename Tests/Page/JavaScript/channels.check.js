const text = (payload) => new TextDecoder().decode(payload);

async function openChannel(init) {
  const peer = new RTCPeerConnection();
  const channel = peer.createDataChannel("label", init);
  const { channel: number } = box.received("channel.create").at(-1);
  await peer.setLocalDescription();
  box.tell({ type: "channel.state", channel: number, state: "open", identifier: 1 });
  await new Promise((resolve) => { channel.onopen = resolve; });
  return { peer, channel, number };
}

check("a channel opens, sends in order and drains", async () => {
  const { peer, channel, number } = await openChannel();
  equal([channel.readyState, channel.id, channel.label, channel.binaryType], ["open", 1, "label", "arraybuffer"]);
  const before = box.received("binary").length;
  channel.send(new Blob(["blob"]));
  channel.send("世界");
  channel.send(Uint8Array.of(1, 2, 3).subarray(1));
  channel.send(new ArrayBuffer(0));
  equal(channel.bufferedAmount, 4 + 6 + 2);
  await later(50);
  const sent = box.received("binary").slice(before);
  equal(sent.map(({ kind, target }) => [kind, target === number]), [[2, true], [1, true], [2, true], [2, true]]);
  equal(text(sent[0].payload), "blob");
  equal(text(sent[1].payload), "世界");
  equal([...sent[2].payload], [2, 3]);
  const events = [];
  channel.bufferedAmountLowThreshold = 5;
  channel.onbufferedamountlow = () => events.push(channel.bufferedAmount);
  box.tell({ type: "channel.drained", channel: number, bytes: 6 });
  box.tell({ type: "channel.drained", channel: number, bytes: 6 });
  await later(20);
  equal(events, [0]);
  peer.close();
  equal(channel.readyState, "closed");
});

check("messages arrive as text, buffers and Blobs", async () => {
  const { peer, channel, number } = await openChannel();
  const received = [];
  channel.onmessage = ({ data, origin }) => received.push([data, origin]);
  box.binary(1, number, "hello");
  box.binary(2, number, Uint8Array.of(7).buffer);
  await later(20);
  channel.binaryType = "blob";
  channel.binaryType = "nonsense";
  box.binary(2, number, Uint8Array.of(8).buffer);
  await later(20);
  equal(received[0], ["hello", location.origin]);
  equal(received[1][0] instanceof ArrayBuffer, true);
  equal(received[2][0] instanceof Blob, true);
  equal(received[2][0].size, 1);
  peer.close();
});

check("closing by either side, and by an error", async () => {
  const events = [];
  const one = await openChannel();
  const note = (event) => events.push(event.type);
  for (const type of ["closing", "close", "error"]) one.channel[`on${type}`] = note;
  one.channel.close();
  equal(one.channel.readyState, "closing");
  equal(box.received("channel.close").at(-1).channel, one.number);
  box.tell({ type: "channel.state", channel: one.number, state: "closed" });
  await later(20);
  equal(events, ["close"]);

  const two = await openChannel();
  for (const type of ["closing", "close", "error"]) two.channel[`on${type}`] = note;
  box.tell({ type: "channel.state", channel: two.number, state: "closing" });
  box.tell({
    type: "channel.state", channel: two.number, state: "closed",
    error: { name: "OperationError", message: "gone", errorDetail: "sctp-failure", sctpCauseCode: 12 },
  });
  await later(20);
  equal(events, ["close", "closing", "error", "close"]);
  await throws("InvalidStateError", async () => two.channel.send("x"));
  one.peer.close();
  two.peer.close();
});

check("the peer's channel is announced before it opens", async () => {
  const peer = new RTCPeerConnection();
  const connection = box.received("connection.create").at(-1).connection;
  const events = [];
  peer.ondatachannel = ({ channel }) => {
    events.push(["datachannel", channel.readyState, channel.label, channel.maxRetransmits]);
    channel.onopen = () => events.push("open");
    channel.send("early");
  };
  box.tell({
    type: "connection.channel", connection, channel: 1000, label: "theirs", ordered: false, maxPacketLifeTime: null,
    maxRetransmits: 3, protocol: "", negotiated: false, identifier: 4,
  });
  box.tell({ type: "channel.state", channel: 1000, state: "open", identifier: 4 });
  await later(20);
  equal(events, [["datachannel", "open", "theirs", 3], "open"]);
  peer.close();
});

check("wrong arguments of createDataChannel", async () => {
  const peer = new RTCPeerConnection();
  const make = (...given) => async () => peer.createDataChannel(...given);
  await throws("TypeError", make());
  await throws("TypeError", make("x".repeat(65536)));
  await throws("TypeError", make("x", { maxPacketLifeTime: 1, maxRetransmits: 1 }));
  await throws("TypeError", make("x", { negotiated: true }));
  await throws("TypeError", make("x", { negotiated: true, id: 65535 }));
  await throws("TypeError", make("x", { maxRetransmits: 65536 }));
  peer.createDataChannel("x", { negotiated: true, id: 3 });
  await throws("OperationError", make("x", { negotiated: true, id: 3 }));
  await throws("InvalidStateError", async () => peer.createDataChannel("y").send("early"));
  peer.close();
  await throws("InvalidStateError", make("x"));
});
