// When the glass looks again: whenever something may have moved, and then within the very rendering update that paints it.
// A page that does not change costs nothing.

{
  const nativeAnimations = {
    document: Document.prototype.getAnimations, shadow: ShadowRoot.prototype.getAnimations, element: Element.prototype.getAnimations,
  };
  const NativeObserver = ResizeObserver;
  const later = setTimeout.bind(globalThis);
  const nativeFrame = requestAnimationFrame.bind(globalThis);

  /// Computed styles have to be read anew; those of cut elements without their holes, too.
  let isStale = true;
  let isRecolored = true;
  /// The rendering update to come will look.
  let isArmed = false;
  /// This rendering update has looked, and its picture is not painted yet.
  let isPlaced = false;
  let isLookingAgain = false;
  let isForced = false;
  let isWatching = false;
  let observer = null;
  /// Shadow roots that are watched too.
  const roots = new Set();

  /// Something may have moved.
  function wake() {
    if (!isWatching) return;
    if (isPlaced) {
      // A page's callback that ran after ours, in the same update: look once more before the picture is painted.
      if (isLookingAgain) return;
      isLookingAgain = true;
      queueMicrotask(() => {
        isLookingAgain = false;
        if (isPlaced && glass.place({ isStale, isRecolored, isForced: false })) isForced = true;
        ignoreOwn();
        arm();
      });
      return;
    }
    arm();
  }

  function wakeStale() {
    isStale = true;
    wake();
  }

  function wakeRecolored() {
    isRecolored = true;
    wakeStale();
  }

  /// Observing anew makes a resize observer fire at the end of this or the next rendering update, after layout. A new one stands
  /// behind all of the page's; the deepest element keeps it within the page's depth loop (Resize Observer 3.4.5).
  function arm() {
    if (isArmed) return;
    const target = probe();
    if (!target) {
      nativeFrame(wake);
      return;
    }
    isArmed = true;
    observer?.disconnect();
    observer = new NativeObserver(look);
    observer.observe(target);
  }

  function probe() {
    for (const { element } of shownPlaybacks) if (element?.isConnected && element.clientWidth > 0) return element;
    const root = document.documentElement;
    return root && root.clientWidth > 0 ? root : null;
  }

  /// Runs as the next task, so after the picture has been painted.
  function painted(serial) {
    isPlaced = false;
    native.painted(serial);
    watchBoxes();
  }

  function look() {
    isArmed = false;
    observer?.disconnect();
    const isNew = glass.place({ isStale, isRecolored, isForced });
    isStale = isRecolored = isForced = false;
    ignoreOwn();
    if (isNew) {
      isPlaced = true;
      later(painted, 0, glass.serial());
    }
    if (shownPlaybacks.size === 0 && glass.childrenWithVideos.size === 0) stop();
    else if (isMoving()) nativeFrame(wakeMoving);
  }

  // ---- Animations ----

  /// Properties whose animation moves nothing but its own element.
  const local = new Set(["transform", "rotate", "scale", "translate", "opacity", "color", "filter", "boxShadow", "fill", "stroke", "visibility", "outlineColor",
    "backgroundColor", "backgroundImage", "backgroundPosition", "borderColor", "textShadow", "strokeDashoffset", "clipPath", "backdropFilter"]);
  const metadata = new Set(["offset", "computedOffset", "easing", "composite"]);
  /// Effect → whether it can move other elements.
  const layouts = new WeakMap();

  function movesLayout(effect) {
    let value = layouts.get(effect);
    if (value === undefined) {
      value = effect.getKeyframes().some((frame) => Object.keys(frame).some((name) => !metadata.has(name) && !local.has(name)));
      layouts.set(effect, value);
    }
    return value;
  }

  function animationsOf(root) {
    return Reflect.apply(root === document ? nativeAnimations.document : nativeAnimations.shadow, root, []);
  }

  let isRecoloring = false;
  function wakeMoving() {
    isRecolored ||= isRecoloring;
    isRecoloring = false;
    wakeStale();
  }

  /// Whether a running animation may move or colour something that concerns a video.
  function isMoving() {
    const concerned = new Set(glassHoles.elements());
    for (const { element } of shownPlaybacks) {
      if (element?.isConnected) for (const node of glassTree.facts(element).chain) concerned.add(node);
    }
    for (const root of [document, ...roots]) {
      for (const animation of animationsOf(root)) {
        if (animation.playState !== "running" || glassHoles.isOurs(animation) || !animation.effect) continue;
        const target = animation.effect.target;
        if (!target) continue;
        if (glassHoles.has(target)) isRecoloring = true;
        if (concerned.has(target) || movesLayout(animation.effect)) return true;
        for (const element of glassHoles.elements()) if (target.contains(element)) return true;
      }
    }
    return false;
  }

  // The holes are animations that pages need not see.
  for (const [prototype, native] of [[Document.prototype, nativeAnimations.document], [ShadowRoot.prototype, nativeAnimations.shadow],
    [Element.prototype, nativeAnimations.element]]) {
    overlay.add(prototype, {
      getAnimations(options = undefined) {
        return Reflect.apply(native, this, arguments).filter((animation) => !glassHoles.isOurs(animation));
      },
    });
  }

  // ---- What may move things ----

  const mutations = new MutationObserver((records) => {
    if (records.some(({ type }) => type === "childList")) Playback.connectionsChanged();
    if (!isRecolored && records.some(mayRecolor)) isRecolored = true;
    wakeStale();
  });

  /// Whether a mutation may change the background of an element that is cut: one on it or around it, or of a style sheet.
  function mayRecolor({ type, target }) {
    if (target.nodeType !== 1 || type === "childList") {
      return target.nodeName === "HEAD" || target.nodeName === "STYLE" || target.parentNode?.nodeName === "STYLE" || target === document.documentElement;
    }
    for (const element of glassHoles.elements()) if (target.contains(element) || target.parentNode === element.parentNode) return true;
    return target.nodeName === "LINK" || target.nodeName === "STYLE";
  }

  const mutationOptions = { subtree: true, childList: true, attributes: true, characterData: true };

  /// Drops the records of what the glass itself changed.
  function ignoreOwn() { mutations.takeRecords(); }

  /// Boxes around the videos that change their size. This runs at the end of a rendering update: to look is possible at once.
  const sizes = new NativeObserver(() => { if (isWatching && !isArmed && !isPlaced) look(); });
  const sized = new WeakSet();

  function watchBoxes() {
    for (const { element } of shownPlaybacks) {
      if (!element?.isConnected) continue;
      for (const node of glassTree.facts(element).chain) {
        if (!sized.has(node)) {
          sized.add(node);
          sizes.observe(node);
        }
      }
      for (let root = element.getRootNode(); root instanceof ShadowRoot; root = root.host.getRootNode()) {
        if (roots.has(root)) continue;
        roots.add(root);
        mutations.observe(root, mutationOptions);
        for (const [type, handler] of events) root.addEventListener(type, handler, { capture: true, passive: true });
      }
    }
  }

  function wakeLoaded({ target }) {
    if (target.nodeName === "LINK") isRecolored = true;
    wake();
  }

  const events = [
    ["scroll", wake], ["resize", wakeRecolored], ["load", wakeLoaded], ["error", wake], ["toggle", wakeStale], ["input", wake], ["change", wakeStale],
    ["transitionrun", wakeStale], ["transitionend", wakeRecolored], ["transitioncancel", wakeRecolored], ["animationstart", wakeStale],
    ["animationend", wakeRecolored], ["animationcancel", wakeRecolored], ["fullscreenchange", wakeRecolored], ["webkitfullscreenchange", wakeRecolored],
    ["pointerover", wakeRecolored], ["pointerdown", wakeRecolored], ["pointerup", wakeRecolored], ["focusin", wakeStale], ["focusout", wakeStale],
    ["keydown", wakeStale], ["keyup", wakeStale], ["slotchange", wakeStale],
  ];

  function start() {
    if (isWatching) return;
    isWatching = true;
    mutations.observe(document, mutationOptions);
    for (const [type, handler] of events) addEventListener(type, handler, { capture: true, passive: true });
    wakeRecolored();
  }

  function stop() {
    isWatching = false;
    mutations.disconnect();
    roots.clear();
    for (const [type, handler] of events) removeEventListener(type, handler, { capture: true });
  }

  // A scroll that a page's animation frame makes is painted before its event is fired.
  for (const [prototype, names] of [[Element.prototype, ["scroll", "scrollTo", "scrollBy", "scrollIntoView"]], [globalThis, ["scroll", "scrollTo", "scrollBy"]]]) {
    for (const name of names) {
      const nativeScroll = prototype[name];
      overlay.add(prototype, {
        [name](...given) {
          const result = Reflect.apply(nativeScroll, this, given);
          wake();
          return result;
        },
      });
      Object.defineProperty(prototype[name], "length", { value: 0, configurable: true });
    }
  }
  for (const name of ["scrollTop", "scrollLeft"]) {
    const { get, set } = overlay.natives(Element.prototype, name);
    overlay.add(Element.prototype, Object.defineProperty({}, name, Object.assign(Object.getOwnPropertyDescriptor({
      get [name]() { return get(this); },
      set [name](value) {
        set(this, value);
        wake();
      },
    }, name), { enumerable: true })));
  }

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => lookOnce());
  document.fonts?.addEventListener("loadingdone", wake);

  /// Looks in the next rendering update even if no video is shown: for the canvas colour.
  function lookOnce() {
    isStale = isRecolored = true;
    arm();
  }

  playbackChanged = (playback) => {
    if (shownPlaybacks.has(playback)) start();
    wake();
  };
  bridge.on("frame.videos", ({ document: number, hasVideos }) => {
    if (hasVideos) glass.childrenWithVideos.add(number);
    else glass.childrenWithVideos.delete(number);
    start();
    wakeStale();
  });
  // A change that none of these tells of (a rule of a style sheet, say) is found within a quarter of a second.
  Playback.onTick = () => { if (isWatching && !isArmed && glass.hasMoved()) wakeRecolored(); };
  if (native.isMainFrame) addEventListener("DOMContentLoaded", lookOnce);
}
