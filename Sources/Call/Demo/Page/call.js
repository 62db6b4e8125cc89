"use strict";

// A two-party call, as a call service's page would make it: capture, one connection, signalling by fetch.

const find = (id) => document.getElementById(id);
const post = (path, body) => fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

let call = null;
let capture = null;
let connectedSince = null;

function show(state, text) {
  document.body.className = state;
  find("state").textContent = text;
  document.title = `Demo call: ${text}`;
}

async function start() {
  show("", "Calling");
  try {
    await post("started", {});
    capture ??= await navigator.mediaDevices.getUserMedia({ audio: true, video: { width: { ideal: 1280 }, height: { ideal: 720 } } });
    find("self").srcObject = capture;
    await connect();
  } catch (error) {
    end(`failed: ${error.name}: ${error.message}`);
  }
}

async function connect() {
  const connection = new RTCPeerConnection();
  call = connection;
  // Candidates that come before the other side has answered wait here.
  let session = null;
  const waiting = [];
  const trickle = (candidate) => post(`calls/${session}/candidates`, candidate).catch((error) => console.warn("not trickled:", error));

  for (const track of capture.getTracks()) connection.addTrack(track, capture);
  connection.createDataChannel("captions").onmessage = ({ data }) => {
    find("caption").textContent = data;
    find("caption").hidden = data === "";
  };
  connection.ontrack = ({ streams: [stream] }) => { find("remote").srcObject = stream; };
  connection.onicecandidate = ({ candidate }) => {
    if (!candidate?.candidate) return;
    if (session === null) waiting.push(candidate); else trickle(candidate);
  };
  connection.onconnectionstatechange = () => {
    if (connection !== call) return;
    if (connection.connectionState === "connected") {
      connectedSince ??= performance.now();
      show("connected", "Connected");
    } else if (connection.connectionState === "disconnected") {
      show("", "Reconnecting");
    } else if (["failed", "closed"].includes(connection.connectionState)) {
      end("The connection was lost");
    }
  };

  await connection.setLocalDescription();
  const answer = await post("calls", { sdp: connection.localDescription.sdp });
  if (!answer.ok) throw new Error(`the other side answered with ${answer.status}`);
  const { session: identifier, sdp } = await answer.json();
  session = identifier;
  await connection.setRemoteDescription({ type: "answer", sdp });
  waiting.splice(0).forEach(trickle);
  addEventListener("pagehide", () => navigator.sendBeacon(`calls/${session}/end`), { once: true });
  connection.leave = () => post(`calls/${session}/end`, {});
}

function end(reason) {
  const ended = call;
  call = null;
  connectedSince = null;
  find("remote").srcObject = null;
  find("caption").hidden = true;
  show("ended", reason);
  ended?.close();
  ended?.leave?.().catch(() => {});
}

function toggle(id, change) {
  find(id).onclick = () => {
    const isOn = find(id).getAttribute("aria-pressed") !== "true";
    find(id).setAttribute("aria-pressed", isOn);
    change(isOn);
  };
}

toggle("microphone", (isOn) => capture?.getAudioTracks().forEach((track) => { track.enabled = isOn; }));
toggle("camera", (isOn) => capture?.getVideoTracks().forEach((track) => { track.enabled = isOn; }));
toggle("fill", (isOn) => find("remote").classList.toggle("whole", !isOn));
find("hangup").onclick = () => (call ? end("Hung up") : start());

function tick() {
  find("clock").textContent = new Date().toTimeString().slice(0, 8);
  const seconds = connectedSince === null ? 0 : Math.floor((performance.now() - connectedSince) / 1000);
  find("duration").textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

tick();
setInterval(tick, 250);
start();
