// Calls whoever is behind the server's socket, as soon as the page is there. The title says how far it is.
const say = (text) => { document.title = text; };
const socket = new WebSocket(`wss://${location.host}/signal`);
const opened = new Promise((resolve) => { socket.onopen = resolve; });
const connection = new RTCPeerConnection();
const send = (message) => socket.send(JSON.stringify(message));

connection.onicecandidate = ({ candidate }) => send({ type: "candidate", candidate: candidate?.toJSON() ?? null });
const received = new MediaStream();
document.querySelector("#remote").srcObject = received;
connection.ontrack = ({ track }) => received.addTrack(track);
connection.onconnectionstatechange = () => say(connection.connectionState);
socket.onmessage = async ({ data }) => {
  const message = JSON.parse(data);
  if (message.type === "description") await connection.setRemoteDescription(message.description);
  else await connection.addIceCandidate(message.candidate ?? undefined);
};

async function call() {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true, video: true });
  document.querySelector("#local").srcObject = stream;
  for (const track of stream.getTracks()) connection.addTrack(track, stream);
  await opened;
  await connection.setLocalDescription();
  send({ type: "description", description: connection.localDescription });
}

say("calling");
call().catch((error) => say(`failed: ${error.name}: ${error.message}`));
