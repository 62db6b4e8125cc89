// Posters: https://html.spec.whatwg.org/multipage/media.html#attr-video-poster. The engine shows an element's poster for ever, since it
// never loads anything in it; so the page's is put away once the element plays a stream, and comes back with the next load.
// In its place stands an empty picture of the stream's size: that gives the element its natural size and shape (CSS Images 3, section 5.1).

const posters = (() => {
  const { get, set } = overlay.natives(HTMLVideoElement.prototype, "poster");
  /// Element → the page's own attribute, null for none, while ours stands in its place.
  const hidden = new WeakMap();

  overlay.attributes(HTMLVideoElement.prototype, (element) => (hidden.has(element) ? element : undefined), {
    poster: {
      get(element) {
        const text = hidden.get(element);
        return text === null ? "" : new URL(text, element.baseURI).href;
      },
      set: (element, value) => void hidden.set(element, `${value}`),
    },
  });

  return Object.freeze({
    /// Whether a poster of the page's is shown.
    isShown: (element) => !hidden.has(element) && element.hasAttribute("poster") && get(element) !== "",
    /// Puts the page's poster away, for pictures of a size.
    replace(element, width, height) {
      if (!hidden.has(element)) hidden.set(element, element.getAttribute("poster"));
      const empty = `data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"/>`;
      if (element.getAttribute("poster") !== empty) set(element, empty);
    },
    /// Brings the page's poster back.
    show(element) {
      const text = hidden.get(element);
      if (text === undefined) return;
      hidden.delete(element);
      if (text === null) element.removeAttribute("poster");
      else set(element, text);
    },
  });
})();
