// Devices, tracks, streams, and elements that play them.

const { mediaDevices } = navigator;

check("devices are told in order, with labels", async () => {
  const devices = await mediaDevices.enumerateDevices();
  equal(devices.map(({ kind, label }) => `${kind} ${label}`), ["audioinput audioinput", "videoinput videoinput", "audiooutput audiooutput"]);
  equal([devices[1] instanceof InputDeviceInfo, devices[2] instanceof InputDeviceInfo], [true, false]);
  equal(devices[1].getCapabilities().width.max, 1280);
});

check("without a grant: NotAllowedError, and no more than that there is a device", async () => {
  box.grants.camera = false;
  await throws("NotAllowedError", () => mediaDevices.getUserMedia({ video: true }));
  const camera = (await mediaDevices.enumerateDevices()).find(({ kind }) => kind === "videoinput");
  equal([camera.deviceId, camera.label], ["", ""]);
  equal((await navigator.permissions.query({ name: "camera" })).state, "denied");
  box.grants.camera = true;
  equal((await navigator.permissions.query({ name: "camera" })).state, "granted");
});

check("constraints choose settings", async () => {
  const settings = async (video) => {
    const stream = await mediaDevices.getUserMedia({ video });
    const { width, height, frameRate } = stream.getVideoTracks()[0].getSettings();
    stream.getVideoTracks()[0].stop();
    return [width, height, frameRate];
  };
  equal(await settings(true), [1280, 720, 30]);
  equal(await settings({ width: 1280 }), [1280, 720, 30]);
  equal(await settings({ width: { ideal: 4000 }, height: { ideal: 4000 } }), [1280, 720, 30]);
  equal(await settings({ height: { max: 240 }, frameRate: { exact: 15 } }), [426, 240, 15]);
  equal(await settings({ aspectRatio: { exact: 1 } }), [720, 720, 30]);
  equal(await settings({ advanced: [{ width: { min: 2000 } }, { width: 320 }] }), [320, 180, 30]);
  equal(await settings({ unheardOf: { exact: 1 } }), [1280, 720, 30]);
});

check("constraints that cannot be met name themselves", async () => {
  const constraint = async (video) => (await throws("OverconstrainedError", () => mediaDevices.getUserMedia({ video }))).constraint;
  equal(await constraint({ width: { min: 2000 } }), "width");
  equal(await constraint({ facingMode: { exact: "environment" } }), "facingMode");
  equal(await constraint({ deviceId: { exact: "another" } }), "deviceId");
  equal(await constraint({ width: { exact: 639 }, resizeMode: { exact: "none" } }), "width");
  await throws("TypeError", () => mediaDevices.getUserMedia({}));
  await throws("TypeError", () => mediaDevices.getUserMedia({ video: { width: { min: NaN, max: Symbol() } } }));
});

check("a device that is away: not listed, opened muted, live until it is stopped, and perhaps another one when it is back", async () => {
  box.absent.add("videoinput");
  equal((await mediaDevices.enumerateDevices()).map(({ kind }) => kind), ["audioinput", "audiooutput"]);
  const [track] = (await mediaDevices.getUserMedia({ video: true })).getTracks();
  equal([track.muted, track.readyState, track.getSettings().width], [true, "live", 1280]);
  const clone = track.clone();
  equal(clone.muted, true);
  const events = [];
  for (const type of ["mute", "unmute", "ended"]) track.addEventListener(type, () => events.push([type, track.getSettings().width]));
  box.absent.delete("videoinput");
  const changed = new Promise((resolve) => mediaDevices.addEventListener("devicechange", resolve, { once: true }));
  box.tell({ type: "devices.changed" });
  equal((await changed).devices.map(({ kind }) => kind), ["audioinput", "videoinput", "audiooutput"]);
  const number = box.received("track.open").at(-1).track;
  const capabilities = { width: { min: 16, max: 640 }, height: { min: 16, max: 480 } };
  const unmuted = new Promise((resolve) => track.addEventListener("unmute", resolve));
  box.tell({ type: "track.muted", track: number, isMuted: false, settings: { width: 640, height: 480 }, capabilities });
  await unmuted;
  equal(events, [["unmute", 640]]);
  equal([track.muted, track.readyState, track.getCapabilities().height.max, track.getCapabilities().frameRate.max], [false, "live", 480, 30]);
  track.stop();
  clone.stop();
  equal([track.readyState, events.length], ["ended", 1]);
});

check("what is done to voices is the box's choice where the page says nothing, and the page's where it does", async () => {
  const open = async (audio) => (await mediaDevices.getUserMedia({ audio })).getAudioTracks()[0];
  const track = await open(true);
  equal(track.getSettings().echoCancellation, true);
  equal(track.getSettings().noiseSuppression, false);
  equal(track.getCapabilities().noiseSuppression, [false, true]);
  await track.applyConstraints({ echoCancellation: false, noiseSuppression: { exact: true } });
  equal([track.getSettings().echoCancellation, track.getSettings().noiseSuppression], [false, true]);
  const { settings } = box.received("track.apply").at(-1);
  equal([settings.echoCancellation, settings.noiseSuppression], [false, true]);
  track.stop();
  const plain = await open({ echoCancellation: false });
  equal(plain.getSettings().echoCancellation, false);
  plain.stop();
});

check("tracks: clone, stop, mute, end", async () => {
  const stream = await mediaDevices.getUserMedia({ video: true });
  const [track] = stream.getTracks();
  const clone = track.clone();
  const [{ track: number, from }] = box.received("track.clone").slice(-1);
  track.stop();
  equal([track.readyState, clone.readyState, stream.active], ["ended", "live", false]);
  equal(box.received("track.stop").at(-1).track, from);
  const events = [];
  for (const type of ["mute", "unmute", "ended"]) clone.addEventListener(type, () => events.push([type, clone.muted, clone.readyState]));
  box.tell({ type: "track.muted", track: number, isMuted: true });
  box.tell({ type: "track.muted", track: number, isMuted: false });
  box.tell({ type: "track.ended", track: number });
  await later(50);
  equal(events, [["mute", true, "live"], ["unmute", false, "live"], ["ended", false, "ended"]]);
});

check("streams", async () => {
  const [audio, video] = (await mediaDevices.getUserMedia({ audio: true, video: true })).getTracks();
  equal([audio.muted, video.muted], [false, false]);
  const stream = new MediaStream([audio]);
  stream.onaddtrack = () => { throw new Error("the script added it"); };
  stream.addTrack(video);
  stream.addTrack(video);
  equal(stream.getTracks().length, 2);
  equal(new MediaStream(stream).getTrackById(video.id) === video, true);
  stream.removeTrack(audio);
  equal(stream.getAudioTracks().length, 0);
  await throws("TypeError", async () => new MediaStream([1]));
  await throws("TypeError", async () => stream.addTrack({}));
  audio.stop();
  video.stop();
});

const mediaEvents = ["loadstart", "durationchange", "resize", "loadedmetadata", "loadeddata", "canplay", "canplaythrough", "play", "playing",
  "pause", "ended", "emptied", "abort", "error", "suspend", "waiting"];

function record(element) {
  const events = [];
  for (const type of mediaEvents) element.addEventListener(type, () => events.push(type));
  return events;
}

const next = (target, type) => new Promise((resolve) => target.addEventListener(type, resolve, { once: true }));

check("an element plays a stream", async () => {
  const video = document.createElement("video");
  const events = record(video);
  video.autoplay = true;
  const stream = await mediaDevices.getUserMedia({ audio: true, video: true });
  video.srcObject = stream;
  equal([video.readyState, video.networkState, video.paused, video.srcObject === stream], [0, HTMLMediaElement.NETWORK_NO_SOURCE, true, true]);
  await next(video, "canplaythrough");
  equal(events, ["loadstart", "durationchange", "resize", "loadedmetadata", "loadeddata", "canplay", "play", "playing", "canplaythrough"]);
  equal([video.readyState, video.duration, video.videoWidth, video.videoHeight, video.paused], [4, Infinity, 1280, 720, false]);
  await next(video, "timeupdate");
  equal([video.currentTime > 0, video.played.length, video.seekable.length], [true, 1, 0]);
  const sound = box.received("audio.play").at(-1);
  equal([sound.tracks.length, sound.volume, sound.isMuted], [1, 1, false]);
  video.muted = true;
  await next(video, "volumechange");
  equal(box.received("audio.play").at(-1).isMuted, true);
  events.length = 0;
  video.pause();
  await next(video, "pause");
  equal([events, box.received("video.hold").at(-1).isHeld, box.received("audio.play").at(-1).tracks], [["pause"], true, []]);
  await video.play();
  equal(box.received("video.hold").at(-1).isHeld, false);
  for (const track of stream.getTracks()) track.stop();
  await next(video, "ended");
  equal([video.ended, video.paused, video.duration === video.currentTime], [true, true, true]);
  events.length = 0;
  video.srcObject = null;
  await later(50);
  equal([events.includes("emptied"), video.readyState, video.networkState, video.srcObject], [true, 0, 0, null]);
  equal(box.received("video.play").at(-1).track, null);
});

check("play() is rejected when the element loads anew or pauses", async () => {
  const video = document.createElement("video");
  video.srcObject = new MediaStream();
  const first = video.play();
  video.srcObject = new MediaStream();
  await throws("AbortError", () => first);
  const second = video.play();
  video.pause();
  await throws("AbortError", () => second);
});

check("an audio element plays at once, and ends with its last audio track", async () => {
  const audio = document.createElement("audio");
  const stream = await mediaDevices.getUserMedia({ audio: true, video: true });
  audio.srcObject = stream;
  await audio.play();
  equal([audio.readyState, audio.paused], [4, false]);
  stream.getAudioTracks()[0].stop();
  await next(audio, "ended");
  equal(stream.active, true);
  stream.getVideoTracks()[0].stop();
});

check("elements without a stream of ours stay the engine's", async () => {
  const video = document.createElement("video");
  equal([video.srcObject, video.paused, video.readyState, video.videoWidth, Number.isNaN(video.duration)], [null, true, 0, 0, true]);
  await throws("TypeError", async () => { video.srcObject = {}; });
  await throws("TypeError", async () => Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, "srcObject").get.call({}));
});

check("frames asked for before there is a track are asked for once the box knows it", async () => {
  const video = document.createElement("video");
  video.autoplay = true;
  const stream = await mediaDevices.getUserMedia({ video: true });
  const before = box.received("video.watch").length;
  video.srcObject = stream;
  const told = new Promise((resolve) => video.requestVideoFrameCallback((now, metadata) => resolve(metadata.presentedFrames)));
  equal(box.received("video.watch").length, before);
  await next(video, "playing");
  const { video: number } = box.received("video.play").at(-1);
  equal(box.received("video.watch").slice(before).map(({ video, isWatched }) => [video, isWatched]), [[number, true]]);
  box.tell({ type: "video.frame", video: number, presentationTime: 1, expectedDisplayTime: 1, width: 640, height: 480, mediaTime: 0, presentedFrames: 1 });
  equal(await told, 1);
  stream.getTracks()[0].stop();
});

check("frames are told while somebody asks", async () => {
  const video = document.createElement("video");
  video.autoplay = true;
  const stream = await mediaDevices.getUserMedia({ video: true });
  video.srcObject = stream;
  await next(video, "playing");
  box.tell({ type: "clock", monotonic: performance.now() + 5000 });
  const told = new Promise((resolve) => video.requestVideoFrameCallback((now, metadata) => resolve(metadata)));
  const watched = box.received("video.watch").at(-1);
  equal(watched.isWatched, true);
  const time = performance.now() + 5000;
  box.tell({
    type: "video.frame", video: watched.video, presentationTime: time, expectedDisplayTime: time, width: 640, height: 480, mediaTime: 1.5,
    presentedFrames: 7, rtpTimestamp: 90000,
  });
  const metadata = await told;
  equal([metadata.width, metadata.mediaTime, metadata.presentedFrames, metadata.rtpTimestamp, "receiveTime" in metadata], [640, 1.5, 7, 90000, false]);
  equal(Math.abs(metadata.presentationTime + 5000 - time) < 2000, true);
  equal(video.getVideoPlaybackQuality().totalVideoFrames, 7);
  stream.getTracks()[0].stop();
});

check("pictures for canvases", async () => {
  const video = document.createElement("video");
  video.autoplay = true;
  const stream = await mediaDevices.getUserMedia({ video: true });
  video.srcObject = stream;
  await next(video, "playing");
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  context.drawImage(video, 0, 0, 10, 10);
  equal([...context.getImageData(5, 5, 1, 1).data], [200, 20, 40, 255]);
  const bitmap = await createImageBitmap(video);
  equal([bitmap.width, bitmap.height], [4, 2]);
  const frame = new VideoFrame(video);
  equal([frame.codedWidth, frame instanceof VideoFrame], [4, true]);
  frame.close();
  stream.getTracks()[0].stop();
});

check("a canvas becomes a track: only when it has changed", async () => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 8, height: 4 });
  const context = canvas.getContext("2d");
  const [track] = canvas.captureStream().getTracks();
  equal([track instanceof CanvasCaptureMediaStreamTrack, track.canvas === canvas], [true, true]);
  const sent = () => box.messages.filter(({ type, kind }) => type === "binary" && kind === 4);
  await later(200);
  equal(sent().length, 0);
  context.fillStyle = "red";
  context.fillRect(0, 0, 8, 4);
  while (sent().length === 0) await later(20);
  await later(200);
  equal([sent().length, sent()[0].payload.byteLength, [...new Uint8Array(sent()[0].payload, 8, 4)]], [1, 8 + 8 * 4 * 4, [255, 0, 0, 255]]);
  track.stop();
});

check("what is not there says so", async () => {
  await throws("NotSupportedError", async () => new MediaRecorder(new MediaStream()));
  equal(MediaRecorder.isTypeSupported("video/webm"), false);
  await throws("InvalidStateError", () => mediaDevices.getDisplayMedia());
});

check("nothing of ours is left on the objects", async () => {
  const stream = await mediaDevices.getUserMedia({ video: true });
  const [track] = stream.getTracks();
  for (const object of [stream, track, mediaDevices]) equal(Reflect.ownKeys(object), []);
  track.stop();
});

check("a tone to a context's destination is heard from the box, silence is not sent", async () => {
  const context = new AudioContext();
  await context.resume();
  const sent = () => box.messages.filter(({ type, kind }) => type === "binary" && kind === 3);
  const gain = context.createGain();
  gain.connect(context.destination);
  const before = sent().length;
  const constant = context.createConstantSource();
  constant.start();
  constant.connect(gain);
  while (sent().length < before + 10) await later(20);
  const played = box.received("audio.play").at(-1);
  equal([played.tracks, sent().at(-1).payload.byteLength], [[sent().at(-1).target], 960]);
  constant.disconnect();
  while (box.received("audio.play").at(-1).tracks.length > 0) await later(50);
  await context.close();
});

check("a track becomes a Web Audio source, tapped only while it is heard", async () => {
  const stream = await mediaDevices.getUserMedia({ audio: true });
  const context = new AudioContext();
  const source = context.createMediaStreamSource(stream);
  equal([source instanceof MediaStreamAudioSourceNode, source.mediaStream === stream], [true, true]);
  const analyser = context.createAnalyser();
  source.connect(analyser);
  await context.resume();
  while (box.received("audio.tap").length === 0) await later(20);
  const { tap } = box.received("audio.tap").at(-1);
  const samples = new Float32Array(1024);
  const block = new Int16Array(480).fill(16384);
  do {
    box.binary(3, tap, block.buffer);
    box.binary(3, tap, block.buffer);
    await later(15);
    analyser.getFloatTimeDomainData(samples);
  } while (Math.abs(Math.max(...samples) - 0.5) > 0.01);
  await context.close();
  while (box.received("audio.untap").at(-1)?.tap !== tap) await later(50);
  stream.getTracks()[0].stop();
});

check("a ring tone from a file is heard from the box", async () => {
  const length = 44100;
  const file = new DataView(new ArrayBuffer(44 + 2 * length));
  const text = (at, string) => [...string].forEach((letter, index) => file.setUint8(at + index, letter.charCodeAt(0)));
  text(0, "RIFF");
  file.setUint32(4, 36 + 2 * length, true);
  text(8, "WAVEfmt ");
  [[16, 16, 4], [20, 1, 2], [22, 1, 2], [24, 44100, 4], [28, 88200, 4], [32, 2, 2], [34, 16, 2], [40, 2 * length, 4]].forEach(([at, value, size]) => {
    if (size === 4) file.setUint32(at, value, true);
    else file.setUint16(at, value, true);
  });
  text(36, "data");
  for (let index = 0; index < length; index += 1) file.setInt16(44 + 2 * index, 12000 * Math.sin(index / 16), true);
  const tone = new Audio(URL.createObjectURL(new Blob([file.buffer], { type: "audio/wav" })));
  tone.loop = true;
  const loudest = () => Math.max(...box.messages.filter(({ type, kind }) => type === "binary" && kind === 3).slice(-5)
    .flatMap(({ payload }) => [...new Int16Array(payload)]));
  await tone.play();
  while (loudest() < 6000) await later(20);
  tone.pause();
});
