// One page for both programs that are compared: it calls itself, and tells the benchmark where it is, which then looks at the processes.
// ?job=call: a call with picture and sound. ?job=bridge: what calls of the API and data channels cost. &seconds: of each measurement.

const options = new URLSearchParams(location.search);
const seconds = Number(options.get("seconds"));
const sleep = (duration) => new Promise((resolve) => setTimeout(resolve, duration * 1000));

/// Returns once the benchmark has looked.
async function tell(step, figures = {}) {
  await fetch("/tell", { method: "POST", body: JSON.stringify({ step, figures }) });
}

function pair() {
  const [caller, callee] = [0, 1].map(() => new RTCPeerConnection({ bundlePolicy: "max-bundle" }));
  caller.onicecandidate = ({ candidate }) => callee.addIceCandidate(candidate);
  callee.onicecandidate = ({ candidate }) => caller.addIceCandidate(candidate);
  const connected = Promise.all([caller, callee].map((peer) => new Promise((resolve, reject) => {
    peer.onconnectionstatechange = () => {
      if (peer.connectionState === "connected") resolve();
      if (peer.connectionState === "failed") reject(new Error("the connection failed"));
    };
  })));
  return { caller, callee, connected };
}

async function negotiate({ caller, callee }) {
  await caller.setLocalDescription(await caller.createOffer());
  await callee.setRemoteDescription(caller.localDescription);
  await callee.setLocalDescription(await callee.createAnswer());
  await caller.setRemoteDescription(callee.localDescription);
}

async function call() {
  const asked = performance.now();
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true, video: { width: 640, height: 360, frameRate: 30 } });
  const capture = performance.now() - asked;
  const video = document.querySelector("video");
  const peers = pair();
  const shown = new Promise((resolve) => {
    peers.callee.ontrack = ({ track, streams: [received] }) => {
      if (track.kind !== "video") return;
      video.srcObject = received;
      video.requestVideoFrameCallback(() => resolve(performance.now()));
    };
  });
  for (const track of stream.getTracks()) {
    const transceiver = peers.caller.addTransceiver(track, { direction: "sendonly", streams: [stream] });
    if (track.kind !== "video") continue;
    const { codecs } = RTCRtpReceiver.getCapabilities("video");
    transceiver.setCodecPreferences(codecs.filter(({ mimeType }) => ["video/VP8", "video/rtx"].includes(mimeType)));
  }
  const start = performance.now();
  await negotiate(peers);
  await peers.connected;
  const connect = performance.now() - start;
  const picture = (await shown) - start;
  await tell("seen", { capture, connect, picture });

  const frames = async () => {
    for (const report of (await peers.callee.getStats()).values()) {
      if (report.type === "inbound-rtp" && report.kind === "video") return { frames: report.framesDecoded, width: report.frameWidth };
    }
    throw new Error("no statistics of the picture received");
  };
  // Bit rate and picture size have settled by then.
  await sleep(4);
  await tell("begin", await frames());
  await sleep(seconds);
  await tell("end", await frames());
}

async function throughput(peers, size) {
  const label = `load ${size}`;
  const arrived = new Promise((resolve) => {
    peers.callee.ondatachannel = ({ channel }) => { if (channel.label === label) resolve(channel); };
  });
  const sender = peers.caller.createDataChannel(label);
  const receiver = await arrived;
  if (sender.readyState !== "open") await new Promise((resolve) => { sender.onopen = resolve; });
  let bytes = 0;
  receiver.binaryType = "arraybuffer";
  receiver.onmessage = ({ data }) => { bytes += data.byteLength; };
  const message = new Uint8Array(size);
  const fill = () => { while (sender.readyState === "open" && sender.bufferedAmount < 1 << 20) sender.send(message); };
  sender.bufferedAmountLowThreshold = 1 << 18;
  sender.onbufferedamountlow = fill;
  fill();
  await sleep(0.5);
  const [start, before] = [performance.now(), bytes];
  await sleep(seconds / 2);
  const rate = ((bytes - before) * 8) / 1000 / (performance.now() - start);
  sender.onbufferedamountlow = null;
  sender.close();
  return rate;
}

/// `rate` calls of peer connections a second, those that a call service makes most. Returns how many there were.
async function load(rate) {
  const spent = pair();
  spent.caller.addTransceiver("audio");
  spent.caller.addTransceiver("video");
  spent.caller.createDataChannel("");
  await negotiate(spent);
  await spent.connected;
  let scratch = new RTCPeerConnection();
  const steps = [
    () => spent.caller.createOffer(),
    () => spent.caller.getStats(),
    () => scratch.addTransceiver("video"),
    () => spent.callee.getStats(),
    () => scratch.addTransceiver("audio"),
  ];
  let [count, added] = [0, 0];
  await tell("calls begin");
  const end = performance.now() + seconds * 1000;
  const first = performance.now();
  while (performance.now() < end) {
    // A page that comes late catches up.
    while (count < ((performance.now() - first) / 1000) * rate) {
      if (count % steps.length === 2 && (added += 2) > 20) {
        scratch.close();
        [scratch, added] = [new RTCPeerConnection(), 0];
      }
      await steps[count % steps.length]();
      count += 1;
    }
    await sleep(1 / rate);
  }
  await tell("calls end", { count });
  for (const peer of [spent.caller, spent.callee, scratch]) peer.close();
}

async function bridge() {
  const peers = pair();
  peers.caller.createDataChannel("first");
  await negotiate(peers);
  await peers.connected;
  const rates = { mbit16: await throughput(peers, 16 * 1024), mbit64: await throughput(peers, 64 * 1024) };
  await tell("rates", rates);
  peers.caller.close();
  peers.callee.close();
  // The same timers without calls, to see what the calls add.
  await sleep(2);
  await tell("idle begin");
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) await sleep(0.01);
  await tell("idle end");
  await load(100);
  await tell("done");
}

try {
  await (options.get("job") === "call" ? call() : bridge());
} catch (error) {
  await tell("failed", { reason: `${error?.name}: ${error?.message}` });
}
