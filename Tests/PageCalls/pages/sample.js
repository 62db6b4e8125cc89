// What the sample pages share. A page tells its state by its title, which `parlor status` shows.
const sample = {
  button(name, action) {
    const button = document.createElement('button');
    button.textContent = name;
    button.onclick = () => Promise.resolve().then(action).catch(error => sample.say(`${name} failed: ${error.name}: ${error.message}`));
    document.querySelector('.controls').append(button);
    return button;
  },
  video(stream, {muted = true} = {}) {
    const video = document.createElement('video');
    video.autoplay = video.playsInline = true;
    video.muted = muted;
    video.srcObject = stream ?? null;
    document.querySelector('.videos').append(video);
    return video;
  },
  say(text) {
    document.title = text;
    document.querySelector('.log').textContent = text;
  },
  // Joins two connections of this page, candidates and all.
  join(a, b) {
    a.onicecandidate = event => b.addIceCandidate(event.candidate);
    b.onicecandidate = event => a.addIceCandidate(event.candidate);
  },
  async negotiate(offerer, answerer, options) {
    await offerer.setLocalDescription(await offerer.createOffer(options));
    await answerer.setRemoteDescription(offerer.localDescription);
    await answerer.setLocalDescription(await answerer.createAnswer());
    await offerer.setRemoteDescription(answerer.localDescription);
  },
  playing(video) {
    return new Promise(resolve => video.readyState >= 3 && video.videoWidth ? resolve() : video.addEventListener('playing', resolve, {once: true}));
  },
};
