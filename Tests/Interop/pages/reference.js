// Chromium's own figures: two peer connections of one page call each other.

const socket = new WebSocket(`ws://${location.host}/control`);
const send = (message) => socket.send(JSON.stringify(message));
socket.onopen = () => send({ type: "ready" });
socket.onmessage = async (event) => {
  const { options } = JSON.parse(event.data);
  try {
    const stream = await navigator.mediaDevices.getUserMedia({ video: { width: 640, height: 360, frameRate: 30 }, audio: true });
    const calls = [];
    for (let i = 0; i < options.calls; i++) calls.push(await call(stream, options.codec));
    stream.getTracks().forEach((track) => track.stop());
    const data_mbit_per_s = options.seconds > 0 ? await throughput(options.seconds) : null;
    send({ type: "result", calls, data_mbit_per_s });
  } catch (error) {
    send({ type: "error", text: String(error?.stack ?? error) });
  }
};

function pair() {
  const peers = [0, 1].map(() => new RTCPeerConnection({ bundlePolicy: "max-bundle" }));
  const [caller, callee] = peers;
  caller.onicecandidate = (event) => callee.addIceCandidate(event.candidate);
  callee.onicecandidate = (event) => caller.addIceCandidate(event.candidate);
  const connected = peers.map((peer) => new Promise((resolve) => {
    peer.onconnectionstatechange = () => peer.connectionState === "connected" && resolve(performance.now());
  }));
  return { caller, callee, connected: Promise.all(connected) };
}

async function negotiate({ caller, callee }) {
  await caller.setLocalDescription(await caller.createOffer());
  await callee.setRemoteDescription(caller.localDescription);
  await callee.setLocalDescription(await callee.createAnswer());
  await caller.setRemoteDescription(callee.localDescription);
}

// Connect time: from createOffer until both say "connected". First frame: from there until the first picture is presented.
async function call(stream, codec) {
  const peers = pair();
  const { caller, callee, connected } = peers;
  const video = document.createElement("video");
  video.autoplay = video.muted = true;
  document.body.append(video);
  const shown = new Promise((resolve) => {
    callee.ontrack = ({ track }) => {
      if (track.kind !== "video") return;
      video.srcObject = new MediaStream([track]);
      video.requestVideoFrameCallback((now) => resolve(now));
    };
  });
  for (const track of stream.getTracks()) {
    const transceiver = caller.addTransceiver(track, { direction: "sendonly" });
    if (track.kind === "audio") continue;
    const codecs = RTCRtpReceiver.getCapabilities("video").codecs;
    transceiver.setCodecPreferences(codecs.filter(({ mimeType }) => [`video/${codec}`, "video/rtx"].includes(mimeType.toLowerCase())));
  }
  const started = performance.now();
  await negotiate(peers);
  const connect_ms = Math.max(...(await connected)) - started;
  const first_frame_ms = (await shown) - started;
  caller.close();
  callee.close();
  video.remove();
  return { connect_ms, first_frame_ms };
}

// Messages of 16 KiB as fast as they go, over a connection without media; counted where they arrive.
async function throughput(seconds) {
  const peers = pair();
  const sender = peers.caller.createDataChannel("load");
  const arrived = new Promise((resolve) => (peers.callee.ondatachannel = (event) => resolve(event.channel)));
  const opened = new Promise((resolve) => (sender.onopen = resolve));
  await negotiate(peers);
  await opened;
  const receiver = await arrived;
  let bytes = 0;
  receiver.binaryType = "arraybuffer";
  receiver.onmessage = ({ data }) => (bytes += data.byteLength);
  const message = new Uint8Array(16384);
  sender.bufferedAmountLowThreshold = 1 << 18;
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1000;
  while (elapsed() < seconds) {
    while (sender.bufferedAmount < 1 << 20) sender.send(message);
    await new Promise((resolve) => (sender.onbufferedamountlow = resolve));
  }
  const rate = (bytes * 8) / 1e6 / elapsed();
  peers.caller.close();
  peers.callee.close();
  return rate;
}
