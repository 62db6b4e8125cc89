// A peer in a browser. The program that started the browser sends the options and the other peer's messages over a WebSocket;
// what this peer says, the pictures and the sound it received go back the same way.

const socket = new WebSocket(`ws://${location.host}/control`);
socket.binaryType = "arraybuffer";
const send = (message) => socket.send(JSON.stringify(message));
const report = (error) => send({ type: "error", text: String(error?.stack ?? error) });
addEventListener("error", (event) => report(event.error));
addEventListener("unhandledrejection", (event) => report(event.reason));

let peer;
let turn = Promise.resolve(); // messages are handled one after the other
socket.onmessage = (event) => {
  const message = JSON.parse(event.data);
  turn = turn.then(() => handle(message)).catch(report);
};

async function handle(message) {
  switch (message.type) {
    case "options":
      peer = new Peer(message.options);
      await peer.prepare();
      if (message.options.offer) await peer.offer();
      break;
    case "description":
      await peer.accept(message.description);
      break;
    case "candidate":
      // A null candidate ends the peer's candidates; so does one with an empty text.
      await peer.connection.addIceCandidate(message.candidate ?? undefined);
      break;
    case "close":
      await peer.finish();
  }
}

class Peer {
  constructor(options) {
    this.options = options;
    this.result = { type: "result", connect_ms: null, first_frame_ms: null, frames_shown: 0, data_sent: 0, data_echoed: 0 };
    this.stream = new MediaStream();
    this.connection = new RTCPeerConnection({
      iceServers: options.ice_servers,
      iceTransportPolicy: options.relay_only ? "relay" : "all",
      bundlePolicy: "max-bundle",
    });
    this.connection.onicecandidate = (event) => send({ type: "candidate", candidate: event.candidate?.toJSON() ?? null });
    this.connection.onconnectionstatechange = () => {
      const state = this.connection.connectionState;
      if (state === "connected") this.result.connect_ms ??= this.elapsed();
      send({ type: "state", connection: state });
    };
    this.connection.ontrack = (event) => this.receive(event.track);
    this.connection.ondatachannel = (event) => {
      event.channel.binaryType = "arraybuffer";
      event.channel.onmessage = (message) => event.channel.send(message.data);
    };
  }

  elapsed() {
    return Math.round((performance.now() - this.started) * 10) / 10;
  }

  wants(kind) {
    return kind === "video" ? this.options.video === "on" : this.options.audio !== "none";
  }

  // The browser's fake camera plays the Y4M file. The sound comes from the WAV file without the browser's voice processing.
  async prepare() {
    if (!this.options.sends) return;
    if (this.wants("video")) {
      const video = { width: 640, height: 360, frameRate: 30 };
      for (const track of (await navigator.mediaDevices.getUserMedia({ video })).getTracks()) this.stream.addTrack(track);
    }
    if (this.wants("audio")) {
      const context = new AudioContext({ sampleRate: 48000 });
      const source = new AudioBufferSourceNode(context, { loop: true });
      source.buffer = await context.decodeAudioData(await (await fetch("microphone.wav")).arrayBuffer());
      const destination = new MediaStreamAudioDestinationNode(context, { channelCount: 1 });
      source.connect(destination);
      source.start();
      this.stream.addTrack(destination.stream.getAudioTracks()[0]);
    }
  }

  prefer(transceiver, kind) {
    const mimeType = `${kind}/${kind === "video" ? this.options.codec : this.options.audio}`.toLowerCase();
    const all = RTCRtpReceiver.getCapabilities(kind).codecs;
    const chosen = all.filter((codec) => [mimeType, "video/rtx"].includes(codec.mimeType.toLowerCase()));
    transceiver.setCodecPreferences(chosen);
  }

  async offer() {
    this.started = performance.now();
    for (const kind of ["audio", "video"]) {
      if (!this.wants(kind)) continue;
      const track = this.stream.getTracks().find((track) => track.kind === kind);
      this.prefer(this.connection.addTransceiver(track ?? kind, { direction: this.options.direction, streams: [this.stream] }), kind);
    }
    if (this.options.data === "on") this.openChannel();
    await this.connection.setLocalDescription();
    send({ type: "description", description: this.connection.localDescription });
    await this.steady();
  }

  async accept(description) {
    this.started ??= performance.now();
    await this.connection.setRemoteDescription(description);
    if (description.type !== "offer") return;
    for (const transceiver of this.connection.getTransceivers()) {
      const kind = transceiver.receiver.track.kind;
      if (!this.wants(kind)) continue;
      const track = this.stream.getTracks().find((track) => track.kind === kind);
      if (track) await transceiver.sender.replaceTrack(track);
      transceiver.direction = this.options.direction;
      this.prefer(transceiver, kind);
    }
    await this.connection.setLocalDescription();
    send({ type: "description", description: this.connection.localDescription });
    await this.steady();
  }

  // The picture is to be compared pixel by pixel: its size must not change with the rate.
  async steady() {
    for (const sender of this.connection.getSenders().filter((sender) => sender.track?.kind === "video")) {
      const parameters = sender.getParameters();
      parameters.degradationPreference = "maintain-resolution";
      for (const encoding of parameters.encodings) encoding.maxBitrate = 2_000_000;
      await sender.setParameters(parameters);
    }
  }

  openChannel() {
    const channel = this.connection.createDataChannel("echo");
    channel.binaryType = "arraybuffer";
    const waiting = [];
    channel.onopen = () => {
      for (const size of this.options.echo_sizes) {
        const text = Array.from({ length: size }, (_, i) => String.fromCharCode(33 + ((size + i * 11) % 90))).join("");
        const bytes = Uint8Array.from({ length: size }, (_, i) => size + i * 7);
        for (const message of [text, bytes]) {
          waiting.push(message);
          channel.send(message);
        }
      }
      this.result.data_sent = waiting.length;
    };
    channel.onmessage = ({ data }) => {
      const got = typeof data === "string" ? data : new Uint8Array(data);
      const index = waiting.findIndex((sent) => same(sent, got));
      if (index < 0) return;
      waiting.splice(index, 1);
      this.result.data_echoed += 1;
    };
  }

  async receive(track) {
    const element = document.createElement(track.kind);
    element.autoplay = true;
    element.srcObject = new MediaStream([track]); // media flows only while something plays it
    document.body.append(element);
    const reader = new MediaStreamTrackProcessor({ track, maxBufferSize: 30 }).readable.getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      if (track.kind === "video") await this.keepPicture(value);
      else this.keepSound(value);
      value.close();
    }
  }

  // One message: 1, width and height as 16-bit numbers, the luma plane.
  async keepPicture(frame) {
    this.result.first_frame_ms ??= this.elapsed();
    this.result.frames_shown += 1;
    if (!this.options.record) return;
    const { width, height } = frame.visibleRect;
    const planes = new Uint8Array(frame.allocationSize());
    const [luma] = await frame.copyTo(planes);
    const message = new Uint8Array(5 + width * height);
    new DataView(message.buffer).setUint8(0, 1);
    new DataView(message.buffer).setUint16(1, width);
    new DataView(message.buffer).setUint16(3, height);
    for (let y = 0; y < height; y++) {
      const row = luma.offset + y * luma.stride;
      message.set(planes.subarray(row, row + width), 5 + y * width);
    }
    socket.send(message);
  }

  // One message: 2, the sample rate as a 32-bit number, 16-bit samples in the processor's order.
  keepSound(audio) {
    if (!this.options.record_audio) return;
    const samples = new Float32Array(audio.numberOfFrames);
    audio.copyTo(samples, { planeIndex: 0, format: "f32-planar" });
    const message = new ArrayBuffer(6 + samples.length * 2);
    new DataView(message).setUint8(0, 2);
    new DataView(message).setUint32(2, audio.sampleRate);
    new Int16Array(message, 6).set(samples.map((sample) => Math.max(-1, Math.min(1, sample)) * 32767));
    socket.send(message);
  }

  async finish() {
    this.result.stats = Object.fromEntries(await this.connection.getStats());
    this.connection.close();
    send(this.result);
  }
}

// Two messages, each a string or bytes.
function same(a, b) {
  if (typeof a === "string" || typeof b === "string") return a === b;
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

socket.onopen = () => send({ type: "ready" });
