// A linear gradient with holes: each rectangle around the holes gets the part of the gradient that it shows of the whole.
// Other images under a video are left out; https://drafts.csswg.org/css-images/#linear-gradients has the geometry.

const glassGradient = (() => {
  /// Splits at top-level commas.
  function split(text) {
    const parts = [];
    let depth = 0;
    let start = 0;
    for (let index = 0; index < text.length; index += 1) {
      if (text[index] === "(") depth += 1;
      else if (text[index] === ")") depth -= 1;
      else if (text[index] === "," && depth === 0) {
        parts.push(text.slice(start, index).trim());
        start = index + 1;
      }
    }
    parts.push(text.slice(start).trim());
    return parts;
  }

  /// The direction as a unit vector, for a box of that size.
  function direction(text, width, height) {
    const degrees = /^(-?[\d.]+)(deg|turn|rad|grad)$/.exec(text);
    let angle = Math.PI;
    if (degrees) {
      angle = Number(degrees[1]) * { deg: Math.PI / 180, turn: 2 * Math.PI, rad: 1, grad: Math.PI / 200 }[degrees[2]];
    } else if (text?.startsWith("to ")) {
      const x = text.includes("right") ? 1 : text.includes("left") ? -1 : 0;
      const y = text.includes("bottom") ? 1 : text.includes("top") ? -1 : 0;
      // Towards a corner the 50 % line runs through the other two corners.
      angle = x !== 0 && y !== 0 ? Math.atan2(x * height, -y * width) : Math.atan2(x, -y);
    }
    return [Math.sin(angle), -Math.cos(angle)];
  }

  /// A linear gradient's stops with positions in pixels of the whole, or null for what this does not follow.
  function parse(image, width, height) {
    const inner = /^linear-gradient\((.*)\)$/s.exec(image);
    if (!inner) return null;
    const parts = split(inner[1]);
    const isDirected = /^(to |-?[\d.]+(deg|turn|rad|grad)$)/.test(parts[0]);
    const [x, y] = direction(isDirected ? parts.shift() : undefined, width, height);
    const length = Math.abs(width * x) + Math.abs(height * y);
    const stops = [];
    for (const part of parts) {
      const found = /^(.*?)((?: -?[\d.]+(?:%|px))*)$/s.exec(part);
      const positions = found[2].trim() === "" ? [null] : found[2].trim().split(" ");
      for (const position of positions) {
        const value = position === null ? null : position.endsWith("%") ? (parseFloat(position) / 100) * length : parseFloat(position);
        stops.push({ color: found[1], at: value });
      }
    }
    if (stops.length < 2 || stops.some(({ color }) => color === "")) return null;
    stops[0].at ??= 0;
    stops.at(-1).at ??= length;
    for (let index = 1; index < stops.length; index += 1) {
      if (stops[index].at !== null) continue;
      let next = index;
      while (stops[next].at === null) next += 1;
      const before = stops[index - 1].at;
      for (let fill = index; fill < next; fill += 1) stops[fill].at = before + ((stops[next].at - before) * (fill - index + 1)) / (next - index + 1);
    }
    return { x, y, length, stops };
  }

  /// Layers that paint a background image of linear gradients in the given pieces of a box.
  function around(image, width, height, pieces) {
    if (glassTree.isNone(image)) return [];
    const layers = [];
    for (const part of split(image)) {
      const gradient = parse(part, width, height);
      if (!gradient) continue;
      const { x, y, length, stops } = gradient;
      for (const piece of pieces) {
        const pieceLength = Math.abs(piece.width * x) + Math.abs(piece.height * y);
        const centre = (piece.x + piece.width / 2 - width / 2) * x + (piece.y + piece.height / 2 - height / 2) * y;
        const shift = length / 2 + centre - pieceLength / 2;
        const list = stops.map(({ color, at }) => `${color} ${at - shift}px`).join(", ");
        layers.push({ ...piece, image: `linear-gradient(${Math.atan2(x, -y)}rad, ${list})` });
      }
    }
    return layers;
  }

  /// The colour of a background image's uppermost gradient at a point of the box, or null.
  function colorAt(image, width, height, pointX, pointY) {
    const gradient = glassTree.isNone(image) ? null : parse(split(image)[0], width, height);
    if (!gradient) return null;
    const { x, y, length, stops } = gradient;
    const at = (pointX - width / 2) * x + (pointY - height / 2) * y + length / 2;
    const next = stops.findIndex((stop) => stop.at >= at);
    if (next === 0) return stops[0].color;
    if (next < 0) return stops.at(-1).color;
    const [before, after] = [stops[next - 1], stops[next]];
    const share = (at - before.at) / Math.max(after.at - before.at, 1e-6);
    const [from, to] = [glassColor.parse(before.color), glassColor.parse(after.color)];
    const mixed = from.map((value, index) => value + (to[index] - value) * share);
    return `rgba(${mixed.join(", ")})`;
  }

  /// Whether `around` can paint an image.
  const follows = (image) => glassTree.isNone(image) || split(image).every((part) => part.startsWith("linear-gradient("));

  return Object.freeze({ around, colorAt, follows });
})();
