// The glass: tells the stage where the videos stand, and lets the page give way over them, in one and the same picture.
// `place` is called at the end of a rendering update, when page callbacks have run and layout is done; see glassWatch.js.

const glass = (() => {
  const { facts, isAbove } = glassTree;
  const elementsFromPoint = (root, x, y) => root.elementsFromPoint(x, y);
  const { stringify } = JSON;
  const { max, round } = Math;

  let serial = 0;
  let lastSent = "";
  /// Child frame's element → number that its backdrop has on the stage.
  const backdrops = new WeakMap();
  /// Numbers of child documents that show videos.
  const childrenWithVideos = new Set();
  const ownBackdrop = randomNumber();

  function randomNumber() { return max(1, crypto.getRandomValues(new Uint32Array(1))[0]); }
  function backdropOf(element) {
    let number = backdrops.get(element);
    if (!number) backdrops.set(element, (number = randomNumber()));
    return number;
  }

  // ---- What is shown ----

  function placeAll() {
    const placed = [];
    for (const playback of shownPlaybacks) {
      const element = playback.element;
      if (!element?.isConnected || element.ownerDocument !== document) continue;
      if (posters.isShown(element)) {
        if (!playback.hasPlayed) continue;
        posters.replace(element, playback.width, playback.height);
      }
      const one = glassGeometry.place(element);
      if (!one) continue;
      one.playback = playback;
      placed.push(one);
    }
    if (childrenWithVideos.size > 0) {
      for (const element of document.querySelectorAll("iframe")) {
        const window = element.contentWindow;
        const number = window ? native.childDocument(window) : 0;
        if (!childrenWithVideos.has(number)) continue;
        const one = glassGeometry.place(element);
        if (!one) continue;
        one.child = number;
        placed.push(one);
      }
    }
    return stacked(placed);
  }

  const overlap = ({ visible: a }, { visible: b }) => {
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
  };

  /// From the bottom up. Only those that overlap have an order; the others stay as they come.
  function stacked(placed) {
    const order = [];
    for (const one of placed) {
      let at = order.length;
      for (let index = order.length - 1; index >= 0; index -= 1) {
        if (overlap(one, order[index]) && isAbove(order[index].path, one.path)) at = index;
      }
      order.splice(at, 0, one);
    }
    return order;
  }

  // ---- What gives way ----

  const replaced = /^(IMG|CANVAS|VIDEO|IFRAME|OBJECT|EMBED|INPUT|BUTTON|SELECT|TEXTAREA|svg|METER|PROGRESS)$/;

  /// Whether an element paints anything of its own.
  function paints(element) {
    if (replaced.test(element.tagName) || glassHoles.has(element)) return true;
    const { css } = facts(element);
    if (glassColor.parse(css.backgroundColor)[3] > 0 || css.backgroundImage !== "none" || css.boxShadow !== "none") return true;
    if (parseFloat(css.borderTopWidth) > 0 || parseFloat(css.borderLeftWidth) > 0 || parseFloat(css.borderBottomWidth) > 0) return true;
    for (let node = element.firstChild; node; node = node.nextSibling) {
      if (node.nodeType === 3 && /\S/.test(node.data)) return true;
    }
    return false;
  }

  const fewPoints = [[0.5, 0.5]];
  const manyPoints = [[0.5, 0.5], [0.08, 0.08], [0.92, 0.08], [0.92, 0.92], [0.08, 0.92]];

  /// Elements under a video that are not around it, as the subtrees to be cut.
  function lying(one, points) {
    const { visible, element } = one;
    const around = new Set(one.elements);
    const above = [];
    const below = [];
    const seen = new Set();
    const roots = [document];
    const own = element.getRootNode();
    if (own !== document) roots.push(own);
    for (const [x, y] of points) {
      for (const root of roots) {
        for (const hit of elementsFromPoint(root, visible.x + x * visible.width, visible.y + y * visible.height)) {
          if (hit === element || around.has(hit) || seen.has(hit)) continue;
          seen.add(hit);
          (isAbove(facts(hit).path, one.path) ? above : below).push(hit);
        }
      }
    }
    for (const element of glassHoles.clippedFor(one)) {
      if (seen.has(element) || !element.isConnected || around.has(element)) continue;
      const box = glassGeometry.rectangle(element);
      if (overlap({ visible: box }, one) && !isAbove(facts(element).path, one.path)) below.push(element);
    }
    const found = [];
    for (const hit of below) {
      if (isShown(hit) || !paints(hit)) continue;
      let subtree = hit;
      for (const node of facts(hit).chain) {
        if (around.has(node)) break;
        subtree = node;
      }
      const holdsAbove = (node) => above.some((other) => facts(other).chain.includes(node));
      if (!holdsAbove(subtree)) found.push({ element: subtree, kind: "clip" });
      else found.push({ element: hit, kind: holdsAbove(hit) ? "around" : "clip" });
    }
    return found;
  }

  function isShown(element) {
    const playback = element instanceof HTMLVideoElement ? playbackOf(element) : undefined;
    return playback !== undefined && shownPlaybacks.has(playback);
  }

  /// The element whose background is the canvas's (CSS Backgrounds 2.11.2), or null.
  function canvasSource() {
    const root = document.documentElement;
    for (const element of [root, document.body]) {
      if (element && glassHoles.hasBackground(glassHoles.underlying(element))) return element;
    }
    return null;
  }

  /// What a page without a background has behind it.
  function defaultCanvas() {
    const root = document.documentElement;
    const scheme = root ? facts(root).css.colorScheme : "normal";
    const isDark = /\bdark\b/.test(scheme) && (!/\blight\b/.test(scheme) || matchMedia("(prefers-color-scheme: dark)").matches);
    return isDark ? [30, 30, 30, 1] : [255, 255, 255, 1];
  }

  /// Whether an element's background reaches into the corners of a box in it, its own rounding considered.
  function coversCorners(element, box) {
    const outer = glassGeometry.rectangle(element);
    const inset = 0.3 * max(0, ...(glassGeometry.radii(facts(element).css, outer.width, outer.height) ?? []));
    return glassGeometry.contains(
      { x: outer.x + inset, y: outer.y + inset, width: outer.width - 2 * inset, height: outer.height - 2 * inset }, box);
  }

  /// What to cut, as `glassHoles.cut` takes it; and each video's flattened background.
  function holesFor(placed) {
    const targets = new Map();
    const targetOf = (element) => {
      let target = targets.get(element);
      if (!target) targets.set(element, (target = { isCleared: false, around: [], clip: [] }));
      return target;
    };
    /// `kind`: "clear", "around" or "clip".
    const add = (element, kind, one) => {
      const target = targetOf(element);
      if (kind === "clear") target.isCleared = true;
      else if (!target[kind].includes(one)) target[kind].push(one);
    };
    const source = placed.length > 0 ? canvasSource() : null;
    let canvas = defaultCanvas();
    let canvasColor = null;
    if (source) {
      const { color, image } = glassHoles.underlying(source);
      canvasColor = glassColor.parse(color);
      canvas = glassColor.over(canvasColor, canvas);
      targetOf(source).isCleared = true;
      if (!glassTree.isNone(image) && glassGradient.follows(image)) {
        Object.assign(targetOf(document.documentElement), { isCleared: false, around: [...placed], paint: { color: "rgba(0, 0, 0, 0)", image } });
      }
    }
    const points = placed.length > 6 ? fewPoints : manyPoints;
    for (const one of placed) {
      const under = [];
      let backdropColor = glassColor.transparent;
      const isRound = one.radii?.some((radius) => radius > 0.5);
      // In the corners of a video over another one the page has given way already.
      const isOverAnother = placed.some((other) => other !== one && overlap(one, other));
      for (const element of one.elements) {
        if (element === source) continue;
        const paint = glassHoles.underlying(element);
        if (!glassHoles.hasBackground(paint)) continue;
        const isOwn = element === one.element;
        const isEdgeless = isOwn && one.css.borderTopWidth === "0px" && one.css.paddingTop === "0px" && one.css.borderLeftWidth === "0px" && one.css.paddingLeft === "0px";
        add(element, isEdgeless ? "clear" : "around", one);
        under.push({ element, color: glassColor.parse(paint.color) });
        if (isRound && !isOwn && under.at(-1).color[3] === 1 && facts(element).linear === null
          && coversCorners(element, one.bounds) && !isOverAnother) one.isRoundedByPage = true;
      }
      const top = one.elements.find((element) => facts(element).isTop);
      if (top) {
        const backdrop = glassHoles.backdropOf(top);
        const paint = glassHoles.underlying(backdrop);
        if (glassHoles.hasBackground(paint)) add(backdrop, "around", one);
        backdropColor = glassColor.parse(paint.color);
        add(document.body, "clip", one);
      }
      for (const { element, kind } of lying(one, points)) {
        add(element, kind, one);
        under.push({ element, color: glassColor.parse(glassHoles.underlying(element).color) });
      }
      if (under.length > 1) {
        for (const item of under) item.path = facts(item.element).path;
        under.sort((a, b) => (a.element === b.element ? 0 : isAbove(a.path, b.path) ? -1 : 1));
      }
      const colors = [...under.map(({ color }) => color), backdropColor];
      one.background = colors.reduce((color, next) => (color[3] >= 1 ? color : glassColor.over(color, next)), glassColor.transparent);
    }
    return { targets, canvas, canvasColor };
  }

  // ---- The message ----

  const short = (value) => round(value * 1000) / 1000 + 0;
  const fine = (value) => round(value * 1e6) / 1e6 + 0;
  const clipOf = ({ clip }) => (clip ? [short(clip.x), short(clip.y), short(clip.width), short(clip.height)] : null);
  const mapOf = ({ map: [a, b, c, d, e, f] }) => [fine(a), fine(b), fine(c), fine(d), short(e), short(f)];
  const square = [0, 0, 0, 0];

  function entry(one) {
    const { playback, width, height, css } = one;
    return {
      video: playback ? playback.video : backdropOf(one.element),
      width: short(width), height: short(height), map: mapOf(one),
      fit: playback ? css.objectFit : "fill",
      position: playback ? glassGeometry.position(one, playback.width, playback.height).map(fine) : [0.5, 0.5],
      radii: one.radii && !one.isRoundedByPage ? one.radii.map(short) : square,
      opacity: fine(one.opacity), clip: clipOf(one), background: glassColor.hexadecimal(one.background),
    };
  }

  /// A frame shows nothing beyond its content box, wherever its document's videos stand.
  function frameClip({ visible }) {
    return [short(visible.x), short(visible.y), short(visible.width), short(visible.height)];
  }

  /// The root's colour of a child frame, which has no canvas of its own on the stage.
  function backdrop(color) {
    return {
      video: ownBackdrop, width: innerWidth, height: innerHeight, map: [1, 0, 0, 1, 0, 0], fit: "fill", position: [0.5, 0.5],
      radii: square, opacity: 1, clip: null, background: glassColor.hexadecimal(color),
    };
  }

  /// Brings page and stage to what layout says now. Returns whether the stage was told something new.
  /// - isStale: computed styles may have changed.
  /// - isRecolored: so may what the cut elements' styles say without their holes, which costs a repaint to find out.
  function place({ isStale, isRecolored, isForced }) {
    if (isStale || isRecolored) glassTree.forget();
    if (isRecolored) glassHoles.suspend();
    const placed = placeAll();
    lastBoxes.clear();
    for (const { element } of shownPlaybacks) if (element?.isConnected) lastBoxes.set(element, glassGeometry.rectangle(element));
    const { targets, canvas, canvasColor } = holesFor(placed);
    if (isRecolored) glassHoles.restore();
    glassHoles.cut(targets);
    const videos = placed.map(entry);
    if (!native.isMainFrame && canvasColor?.[3] > 0) videos.unshift(backdrop(canvasColor));
    const frames = placed.filter(({ child }) => child).map((one) => ({ document: one.child, map: mapOf(one), clip: frameClip(one), opacity: fine(one.opacity) }));
    const content = { canvas: glassColor.hexadecimal(canvas), videos, frames };
    const text = stringify(content);
    if (text === lastSent && !isForced) return false;
    lastSent = text;
    serial += 1;
    native.place(stringify({ serial, ...content }), videos.length > 0);
    return true;
  }

  /// Element → its bounding rectangle when it was placed last.
  const lastBoxes = new Map();

  /// Whether a video stands elsewhere than the stage was told. Cheap: for a look now and then.
  function hasMoved() {
    for (const { element } of shownPlaybacks) {
      if (element && !lastBoxes.has(element) && element.clientWidth > 0) return true;
    }
    for (const [element, before] of lastBoxes) {
      const now = glassGeometry.rectangle(element);
      if (before.x !== now.x || before.y !== now.y || before.width !== now.width || before.height !== now.height) return true;
    }
    return false;
  }

  return Object.freeze({
    place, hasMoved, childrenWithVideos,
    /// Number of the last `place`.
    serial: () => serial,
  });
})();
