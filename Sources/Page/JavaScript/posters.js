// Posters: https://html.spec.whatwg.org/multipage/media.html#attr-video-poster. The engine shows an element's poster for ever, since it
// never loads anything in it; so the attribute is put away once the element plays a stream, and comes back with the next load.

const posters = (() => {
  const { get, set } = overlay.natives(HTMLVideoElement.prototype, "poster");
  /// Element → the attribute's text, while it is put away.
  const hidden = new WeakMap();

  overlay.attributes(HTMLVideoElement.prototype, (element) => (hidden.has(element) ? element : undefined), {
    poster: {
      get: (element) => new URL(hidden.get(element), element.baseURI).href,
      set: (element, value) => void hidden.set(element, `${value}`),
    },
  });

  return Object.freeze({
    /// Whether a poster is shown.
    isShown: (element) => element.hasAttribute("poster") && get(element) !== "",
    hide(element) {
      if (!element.hasAttribute("poster")) return;
      hidden.set(element, element.getAttribute("poster"));
      element.removeAttribute("poster");
    },
    show(element) {
      const text = hidden.get(element);
      if (text === undefined) return;
      hidden.delete(element);
      set(element, text);
    },
  });
})();
