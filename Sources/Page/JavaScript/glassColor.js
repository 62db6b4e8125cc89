// Colours of computed styles, for flattening what lies under a video. A colour is [red, green, blue, alpha], 0…255 and 0…1.

const glassColor = (() => {
  const canvas = new OffscreenCanvas(1, 1);
  /// Text of a computed colour → colour.
  const known = new Map();
  let context = null;

  /// Reads a computed colour; those outside plain RGB by painting them.
  function parse(text) {
    let color = known.get(text);
    if (color) return color;
    const plain = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(text);
    if (plain) {
      color = [Number(plain[1]), Number(plain[2]), Number(plain[3]), plain[4] === undefined ? 1 : Number(plain[4])];
    } else {
      context ??= canvas.getContext("2d", { willReadFrequently: true });
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = text;
      context.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
      color = [red, green, blue, alpha / 255];
    }
    if (known.size > 500) known.clear();
    known.set(text, color);
    return color;
  }

  /// `top` painted over `bottom`.
  function over(top, bottom) {
    const alpha = top[3] + bottom[3] * (1 - top[3]);
    if (alpha === 0) return [0, 0, 0, 0];
    const mix = (index) => (top[index] * top[3] + bottom[index] * bottom[3] * (1 - top[3])) / alpha;
    return [mix(0), mix(1), mix(2), alpha];
  }

  const byte = (value) => Math.round(value).toString(16).padStart(2, "0");

  return Object.freeze({
    parse, over, transparent: Object.freeze([0, 0, 0, 0]),
    /// Eight hexadecimal digits: red, green, blue, alpha, not premultiplied.
    hexadecimal: ([red, green, blue, alpha]) => byte(red) + byte(green) + byte(blue) + byte(alpha * 255),
  });
})();
