// One page calls itself: local and remote video side by side.
let stream, caller, callee;
const local = sample.video(), remote = sample.video(null, {muted: false});

sample.button('Start', async () => {
  stream = await navigator.mediaDevices.getUserMedia({audio: true, video: true});
  local.srcObject = stream;
  await sample.playing(local);
  sample.say(`started ${local.videoWidth}x${local.videoHeight}`);
});
sample.button('Call', async () => {
  [caller, callee] = [new RTCPeerConnection(), new RTCPeerConnection()];
  sample.join(caller, callee);
  callee.ontrack = ({streams}) => { remote.srcObject = streams[0]; };
  for (const track of stream.getTracks()) caller.addTrack(track, stream);
  await sample.negotiate(caller, callee);
  await sample.playing(remote);
  sample.say(`connected ${remote.videoWidth}x${remote.videoHeight} ${caller.connectionState} ${callee.connectionState}`);
});
sample.button('Hang up', () => {
  caller.close();
  callee.close();
  remote.srcObject = null;
  sample.say(`ended ${caller.connectionState}`);
});
sample.say(window.adapter ? `ready ${adapter.browserDetails.browser} ${adapter.browserDetails.version > 0}` : 'ready');
