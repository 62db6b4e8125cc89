// Where videos stand, and what gives way under them.

const show = async (html, style = "") => {
  document.body.innerHTML = `<style>body { margin: 0; } ${style}</style>${html}`;
  const stream = await navigator.mediaDevices.getUserMedia({ video: true });
  const videos = [...document.querySelectorAll("video")];
  for (const video of videos) Object.assign(video, { autoplay: true, srcObject: stream });
  const count = (place) => place?.videos.length === videos.length;
  await settled(() => count(box.places.at(-1)));
  return videos;
};
/// Waits until what was placed last is right; a hang ends with the run.
const settled = async (isRight) => {
  for (;;) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    await later();
    if (isRight()) return;
  }
};
const last = () => box.places.at(-1);
const background = (element) => getComputedStyle(element).backgroundColor;
const clear = "rgba(0, 0, 0, 0)";

check("a video in a coloured box on a coloured page", async () => {
  await show('<div id="box"><video></video></div>', `
    body { background: rgb(17, 34, 51); }
    #box { position: absolute; left: 100px; top: 50px; width: 400px; height: 300px; background: rgb(68, 85, 102); }
    video { position: absolute; left: 20px; top: 10px; width: 200px; height: 100px; object-fit: cover; border-radius: 8px; background: black; }`);
  const { canvas, videos: [video] } = last();
  equal(canvas, "112233ff");
  equal([video.width, video.height, video.map, video.fit, video.position, video.opacity, video.clip, video.background],
    [200, 100, [1, 0, 0, 1, 120, 60], "cover", [0.5, 0.5], 1, null, "000000ff"]);
  // The box's own colour rounds the corners: the stage need not.
  equal(video.radii, [0, 0, 0, 0]);
  equal([background(document.body), background(document.querySelector("#box")), background(document.querySelector("video"))], [clear, clear, clear]);
  equal(getComputedStyle(document.querySelector("#box")).backgroundImage.includes("linear-gradient(rgb(68, 85, 102)"), true);
  // None of it is to be seen for the page.
  equal([document.querySelector("#box").getAttribute("style"), document.getAnimations().length], [null, 0]);
  await settled(() => box.painted.includes(last().serial));
});

check("colours come back when the video goes", async () => {
  const [video] = await show('<div id="box"><video></video></div>', "#box { background: rgb(1, 2, 3); } body { background: rgb(4, 5, 6); }");
  equal(background(document.querySelector("#box")), clear);
  video.srcObject = null;
  await settled(() => last().videos.length === 0);
  equal([background(document.querySelector("#box")), background(document.body)], ["rgb(1, 2, 3)", "rgb(4, 5, 6)"]);
});

check("important colours give way too", async () => {
  await show('<div id="box"><video></video></div>', "#box { background: rgb(1, 2, 3) !important; }");
  equal(background(document.querySelector("#box")), clear);
});

check("mirrored, rotated, scaled", async () => {
  const [video] = await show('<video></video>', `
    video { position: absolute; left: 100px; top: 100px; width: 200px; height: 100px; transform: scaleX(-1); }`);
  equal(last().videos[0].map, [-1, 0, 0, 1, 300, 100]);
  video.style.transform = "rotate(90deg)";
  await settled(() => last().videos[0].map[0] === 0);
  equal([last().videos[0].map, last().videos[0].width, last().videos[0].height], [[0, 1, -1, 0, 250, 50], 200, 100]);
  video.style.transform = "scale(2)";
  await settled(() => last().videos[0].map[0] === 2);
  equal(last().videos[0].map, [2, 0, 0, 2, 0, 50]);
});

check("padding, border, object-position", async () => {
  const [video] = await show('<video></video>', `
    video { position: absolute; left: 0; top: 0; width: 200px; height: 300px; padding: 10px; border: 5px solid; object-position: 10px 25%; }`);
  // 640×480 in 200×300: contained as 200×150.
  equal([last().videos[0].map.slice(4), last().videos[0].position], [[15, 15], [0, 0.25]]);
  video.style.boxSizing = "border-box";
  await settled(() => last().videos[0].width !== 200);
  equal([last().videos[0].width, last().videos[0].height], [170, 270]);
});

check("scrollers clip, rounded ancestors round", async () => {
  await show('<div id="scroller"><video></video></div><div id="tile"><video></video></div>', `
    #scroller { position: absolute; left: 50px; top: 0; width: 100px; height: 100px; overflow: scroll; }
    #scroller video { width: 300px; height: 300px; }
    #tile { position: absolute; left: 400px; top: 0; width: 160px; height: 120px; overflow: hidden; border-radius: 12px; opacity: 0.5; }
    #tile video { width: 100%; height: 100%; }`);
  const [first, second] = last().videos;
  equal([first.clip.slice(0, 2), second.clip, second.radii, second.opacity], [[50, 0], null, [12, 12, 12, 12], 0.5]);
  document.querySelector("#scroller").scrollTop = 40;
  await settled(() => last().videos[0].map[5] === -40);
});

check("stacking", async () => {
  const [remote, own] = await show('<video id="remote"></video><video id="own"></video>', `
    video { position: absolute; left: 0; top: 0; width: 400px; height: 300px; }
    #own { width: 100px; height: 80px; }`);
  const order = () => last().videos.map(({ width }) => width);
  equal(order(), [400, 100]);
  remote.style.zIndex = 1;
  await settled(() => order()[0] === 100);
  own.style.zIndex = 2;
  await settled(() => order()[0] === 400);
});

check("what lies under is cut, what lies over is not", async () => {
  await show('<p id="under">text text text</p><video></video><p id="over">controls</p>', `
    p { position: absolute; left: 0; top: 0; margin: 0; width: 300px; height: 100px; background: red; }
    video { position: absolute; left: 20px; top: 20px; width: 100px; height: 50px; }
    #over { left: 40px; top: 30px; width: 30px; height: 20px; }`);
  const isCut = () => getComputedStyle(document.querySelector("#under")).clipPath.startsWith("path(evenodd");
  equal(isCut(), true);
  // It stays so, though nothing hits it in the hole any more.
  for (let turn = 0; turn < 4; turn += 1) {
    document.querySelector("#over").title = `${turn}`;
    if (turn === 2) document.querySelector("#under").title = "";
    await new Promise((resolve) => requestAnimationFrame(resolve));
    await later();
    equal(isCut(), true, `turn ${turn}`);
  }
  equal(getComputedStyle(document.querySelector("#over")).clipPath, "none");
});

check("closed shadow trees", async () => {
  document.body.innerHTML = '<div id="host" style="position: absolute; left: 30px; top: 40px"></div>';
  const root = document.querySelector("#host").attachShadow({ mode: "closed" });
  root.innerHTML = '<div style="background: red"><video autoplay style="display: block; width: 160px; height: 120px"></video></div>';
  root.querySelector("video").srcObject = await navigator.mediaDevices.getUserMedia({ video: true });
  await settled(() => last().videos[0]?.map[4] === 30);
  equal(background(root.firstChild), clear);
  root.firstChild.style.marginLeft = "10px";
  await settled(() => last().videos[0].map[4] === 40);
});

check("hidden videos are not placed", async () => {
  const [video] = await show("<video></video>");
  for (const [property, value] of [["display", "none"], ["visibility", "hidden"], ["opacity", "0"]]) {
    video.style[property] = value;
    await settled(() => last().videos.length === 0);
    video.style[property] = "";
    await settled(() => last().videos.length === 1);
  }
  video.remove();
  await settled(() => last().videos.length === 0);
  equal(video.paused, true);
});

check("a moving video is placed in each frame, a resting one costs nothing", async () => {
  const [video] = await show("<video></video>", "video { position: absolute; left: 0; top: 0; width: 100px; height: 100px; }");
  // Frame callbacks see what was placed at the end of the frame before.
  const wrong = [];
  let previous = null;
  for (let frame = 1; frame <= 30; frame += 1) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    if (previous !== null && last().videos[0].map[4] !== previous) wrong.push([previous, last().videos[0].map[4]]);
    video.style.left = `${frame * 5}px`;
    previous = frame * 5;
  }
  equal(wrong, []);
  await later(300);
  const { length } = box.places;
  await later(600);
  equal(box.places.length, length);
});

check("elements that are gone are let go", async () => {
  document.body.innerHTML = "";
  const stream = await navigator.mediaDevices.getUserMedia({ video: true });
  const elements = [];
  const make = async () => {
    const video = Object.assign(document.createElement("video"), { autoplay: true, srcObject: stream });
    document.body.append(video);
    await later(20);
    video.remove();
    elements.push(new WeakRef(video));
  };
  for (let count = 0; count < 20; count += 1) await make();
  const played = (isTrack) => box.received("video.play").filter(({ track }) => (track !== null) === isTrack).length;
  // The collector sees the stack conservatively: a few may stay.
  do {
    for (let count = 0; count < 40; count += 1) new Array(1e6).fill({});
    await later(100);
  } while (elements.filter((element) => element.deref()).length > 4 || played(true) - played(false) > 8);
});
