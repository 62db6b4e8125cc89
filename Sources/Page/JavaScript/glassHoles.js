// Holes: what the page paints under a video gives way, so that the stage's picture shows through. The page's styles are not touched:
// paused animations (https://www.w3.org/TR/web-animations-1/) override them, which no selector, attribute or mutation observer shows.
// - An element around the video keeps its colour around the hole, as rectangles of gradient; the root's colour goes to the stage instead.
// - Another element under the video gets a clip path with the hole, which takes its content along.

const glassHoles = (() => {
  const { facts, isNone } = glassTree;
  const { rectangle } = glassGeometry;
  const getComputedStyle = globalThis.getComputedStyle.bind(globalThis);
  const nativeAnimate = Element.prototype.animate;
  const nativeText = "rgba(0, 0, 0, 0)";

  /// Element → its cut: {animation, base, their effects, key, properties, underlying, imposed, saved}.
  const cuts = new Map();
  const animations = new WeakSet();
  /// What holds for all layers. An animation of its own beneath the others: the engine gives lists of these to the first layer only,
  /// but makes further layers after its likeness.
  const common = { backgroundImage: "none", backgroundRepeat: "no-repeat", backgroundOrigin: "border-box", backgroundClip: "border-box", backgroundAttachment: "scroll" };

  /// Element → what stands for its backdrop in the top layer, which is cut like an element.
  const backdrops = new WeakMap();
  function backdropOf(element) {
    let backdrop = backdrops.get(element);
    if (!backdrop) backdrops.set(element, (backdrop = { element }));
    return backdrop;
  }
  const isBackdrop = (target) => !(target instanceof Element);

  /// What the page itself says about an element's background.
  function read(element) {
    const css = isBackdrop(element) ? getComputedStyle(element.element, "::backdrop") : facts(element).css;
    return { color: css.backgroundColor, image: css.backgroundImage, clip: css.backgroundClip, clipPath: css.clipPath };
  }

  function underlying(element) { return cuts.get(element)?.underlying ?? read(element); }

  const hasBackground = ({ color, image }) => glassColor.parse(color)[3] > 0 || !isNone(image);

  /// Takes all holes away and reads the page's own styles of their elements; `restore` puts them back.
  function suspend() {
    for (const cut of cuts.values()) lift(cut);
    for (const [element, cut] of cuts) cut.underlying = read(element);
  }

  function restore() {
    for (const cut of cuts.values()) lower(cut);
  }

  /// Elements that are clipped for a video: in their holes they are not hit any more.
  function* clippedFor(placed) {
    for (const [element, { clippedFor: videos }] of cuts) if (!isBackdrop(element) && videos?.includes(placed.element)) yield element;
  }

  function lift(cut) {
    if (cut.imposed) return restoreInline(cut);
    cut.animation.effect = null;
    cut.base.effect = null;
  }

  function lower(cut) {
    if (cut.imposed) return impose(cut);
    cut.animation.effect = cut.effect;
    cut.base.effect = cut.baseEffect;
  }

  /// `!important` beats animations; only an inline style that is important too beats it.
  function impose(cut) {
    const inline = cut.element.style;
    for (const [name, value] of Object.entries({ ...(cut.properties.backgroundSize ? common : {}), ...cut.properties })) {
      const property = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      if (!cut.saved.has(property)) cut.saved.set(property, [inline.getPropertyValue(property), inline.getPropertyPriority(property)]);
      inline.setProperty(property, value, "important");
    }
  }

  function restoreInline(cut) {
    for (const [property, [value, priority]] of cut.saved) cut.element.style.setProperty(property, value, priority);
    cut.saved.clear();
  }

  function keyframes(properties) {
    const frames = {};
    for (const name of Object.keys(properties)) frames[name] = [properties[name], properties[name]];
    return frames;
  }

  /// An animation that stands at its first frame.
  function still(element, properties) {
    const options = { duration: 1000, fill: "both", ...(isBackdrop(element) ? { pseudoElement: "::backdrop" } : {}) };
    const animation = Reflect.apply(nativeAnimate, isBackdrop(element) ? element.element : element, [keyframes(properties), options]);
    animation.pause();
    animations.add(animation);
    return animation;
  }

  /// `key` stands for the properties that `make` gives: made only when it has changed.
  function apply(element, key, make) {
    let cut = cuts.get(element);
    if (cut?.key === key) return;
    const properties = make();
    if (!cut) {
      cut = { element, underlying: read(element), imposed: false, saved: new Map() };
      cut.base = still(element, properties.backgroundSize ? common : {});
      cut.animation = still(element, properties);
      cut.effect = cut.animation.effect;
      cut.baseEffect = cut.base.effect;
      cuts.set(element, cut);
      cut.isNew = true;
    } else if (!cut.imposed) {
      cut.baseEffect.setKeyframes(keyframes(properties.backgroundSize ? common : {}));
      cut.effect.setKeyframes(keyframes(properties));
    }
    cut.key = key;
    cut.properties = properties;
    if (cut.imposed) {
      restoreInline(cut);
      impose(cut);
    }
  }

  function remove(element) {
    const cut = cuts.get(element);
    cuts.delete(element);
    if (cut.imposed) restoreInline(cut);
    cut.animation.cancel();
    cut.base.cancel();
  }

  /// New cuts that the page's `!important` rules beat.
  function checkNew() {
    for (const cut of cuts.values()) {
      if (!cut.isNew) continue;
      cut.isNew = false;
      if (cut.properties.backgroundColor === undefined || isBackdrop(cut.element)) continue;
      if (facts(cut.element).css.backgroundColor === nativeText) continue;
      cut.animation.cancel();
      cut.base.cancel();
      cut.imposed = true;
      impose(cut);
    }
  }

  // ---- Shapes, in an element's own coordinates ----

  /// The border box in the viewport.
  const boxOf = (element) => (isBackdrop(element) ? new DOMRect(0, 0, innerWidth, innerHeight) : rectangle(element));

  /// The hole of a placed video as {x, y, width, height, radii} in an element's border box.
  function holeIn(element, placed) {
    const { visible } = placed;
    const box = boxOf(element);
    const map = isBackdrop(element) ? null : facts(element).linear;
    const edge = { x: Math.round(visible.x), y: Math.round(visible.y) };
    edge.width = Math.round(visible.x + visible.width) - edge.x;
    edge.height = Math.round(visible.y + visible.height) - edge.y;
    const isWhole = glassGeometry.contains(visible, placed.bounds);
    const scale = Math.abs(placed.map[0]) || Math.abs(placed.map[1]) || 1;
    const radii = isWhole && placed.radii ? cornersInViewport(placed).map((value) => value * scale) : null;
    if (!map) return { x: edge.x - box.x, y: edge.y - box.y, width: edge.width, height: edge.height, radii };
    const [a, b, c, d] = map;
    const determinant = a * d - b * c;
    if (Math.abs(determinant) < 1e-9) return null;
    const { css } = facts(element);
    const width = element.offsetWidth || parseFloat(css.width) || 0;
    const height = element.offsetHeight || parseFloat(css.height) || 0;
    const centre = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    const inverse = (x, y) => [
      (d * (x - centre.x) - c * (y - centre.y)) / determinant + width / 2, (a * (y - centre.y) - b * (x - centre.x)) / determinant + height / 2,
    ];
    const [ma, mb, mc, md, me, mf] = placed.map;
    const quad = isWhole
      ? [[0, 0], [placed.width, 0], [placed.width, placed.height], [0, placed.height]].map(([x, y]) => inverse(ma * x + mc * y + me, mb * x + md * y + mf))
      : [[visible.x, visible.y], [visible.x + visible.width, visible.y], [visible.x + visible.width, visible.y + visible.height], [visible.x, visible.y + visible.height]]
        .map(([x, y]) => inverse(x, y));
    const xs = quad.map(([x]) => x);
    const ys = quad.map(([, y]) => y);
    const x = Math.min(...xs);
    const y = Math.min(...ys);
    return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y, radii: null, quad };
  }

  /// A placed box's radii by corner of the viewport: top left, top right, bottom right, bottom left.
  function cornersInViewport({ radii, map: [a, b, c, d] }) {
    let list = radii;
    if (a < 0 || (a === 0 && c > 0)) list = [list[1], list[0], list[3], list[2]];
    if (d < 0 || (d === 0 && b < 0)) list = [list[3], list[2], list[1], list[0]];
    return list;
  }

  const overlaps = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

  /// The rectangles of a box that no hole covers (or, `inside`, that a hole covers), as bands.
  function bands(box, holes, inside = false) {
    const ys = new Set([box.y, box.y + box.height]);
    for (const hole of holes) {
      for (const y of [hole.y, hole.y + hole.height]) if (y > box.y && y < box.y + box.height) ys.add(y);
    }
    const edges = [...ys].sort((one, other) => one - other);
    const result = [];
    let previous = [];
    for (let index = 0; index + 1 < edges.length; index += 1) {
      const [top, bottom] = [edges[index], edges[index + 1]];
      const spans = holes.filter((hole) => hole.y < bottom && hole.y + hole.height > top)
        .map((hole) => [Math.max(hole.x, box.x), Math.min(hole.x + hole.width, box.x + box.width)])
        .filter(([left, right]) => right > left).sort((one, other) => one[0] - other[0]);
      const row = [];
      let x = box.x;
      for (const [left, right] of spans) {
        if (inside && right > Math.max(left, x)) row.push([Math.max(left, x), right]);
        if (!inside && left > x) row.push([x, left]);
        x = Math.max(x, right);
      }
      if (!inside && x < box.x + box.width) row.push([x, box.x + box.width]);
      const same = row.length === previous.length && row.every(([left, right], at) => left === previous[at].x && right === previous[at].x + previous[at].width);
      if (same && previous.length > 0) {
        for (const piece of previous) piece.height += bottom - top;
      } else {
        previous = row.map(([left, right]) => ({ x: left, y: top, width: right - left, height: bottom - top }));
        result.push(...previous);
      }
    }
    return result;
  }

  /// Background layers that round the corners of holes; `colorAt(x, y)` is what the background shows there.
  function corners(holes, colorAt) {
    const layers = [];
    for (const hole of holes) {
      if (!hole.radii || holes.some((other) => other !== hole && overlaps(other, hole))) continue;
      hole.radii.forEach((radius, corner) => {
        if (radius < 0.5) return;
        const [isRight, isBottom] = [corner === 1 || corner === 2, corner >= 2];
        const x = isRight ? hole.x + hole.width - radius : hole.x;
        const y = isBottom ? hole.y + hole.height - radius : hole.y;
        const color = colorAt(isRight ? hole.x + hole.width : hole.x, isBottom ? hole.y + hole.height : hole.y);
        const centre = `${isRight ? 0 : 100}% ${isBottom ? 0 : 100}%`;
        const image = `radial-gradient(circle at ${centre}, transparent ${radius - 0.5}px, ${color} ${radius + 0.5}px)`;
        layers.push({ x, y, width: radius, height: radius, image });
      });
    }
    return layers;
  }

  /// One hole in a colour, as two layers that overlap: no seams between pieces where an element is turned.
  function frame(color, width, height, { x, y, width: holeWidth, height: holeHeight }) {
    const stops = (start, end) => `${color} ${start}px, transparent ${start}px, transparent ${end}px, ${color} ${end}px`;
    return [`to right, ${stops(x, x + holeWidth)}`, `to bottom, ${stops(y, y + holeHeight)}`]
      .map((gradient) => ({ x: 0, y: 0, width, height, image: `linear-gradient(${gradient})` }));
  }

  /// Background layers that paint a colour and images everywhere but in the holes.
  function around(color, image, width, height, holes) {
    if (holes.length === 1 && holes[0].quad && isNone(image) && glassColor.parse(color)[3] === 1) return frame(color, width, height, holes[0]);
    const pieces = bands({ x: 0, y: 0, width, height }, holes);
    const layers = glassGradient.around(image, width, height, pieces);
    const isFlat = layers.length === 0;
    layers.push(...corners(holes, isFlat ? () => color : (x, y) => glassGradient.colorAt(image, width, height, x, y) ?? color));
    if (glassColor.parse(color)[3] > 0) {
      const fill = `linear-gradient(${color}, ${color})`;
      layers.push(...pieces.map((piece) => ({ ...piece, image: fill })));
    }
    return layers;
  }

  /// The engine adds a copy of the second layer to an animated list: that one is empty.
  function layerProperties(layers) {
    const [first = nothing, ...rest] = layers;
    const all = [first, nothing, ...rest];
    return {
      backgroundColor: nativeText,
      backgroundImage: all.map(({ image }) => image).join(", "),
      backgroundPosition: all.map(({ x, y }) => `${x}px ${y}px`).join(", "),
      backgroundSize: all.map(({ width, height }) => `${width}px ${height}px`).join(", "),
    };
  }
  const nothing = { x: 0, y: 0, width: 1, height: 1, image: "linear-gradient(transparent, transparent)" };

  const cleared = Object.freeze({ backgroundColor: nativeText, backgroundImage: "none" });

  /// A clip path that leaves the holes out of an element and all it contains.
  function pathAround(holes) {
    const shapes = holes.some((hole) => holes.some((other) => other !== hole && overlaps(other, hole)))
      ? bands(rectangleAround(holes), holes, true) : holes;
    const parts = shapes.map(({ x, y, width, height, radii, quad }) => {
      if (quad) return `M${quad.map((point) => point.join(" ")).join("L")}Z`;
      if (!radii) return `M${x} ${y}h${width}v${height}h${-width}Z`;
      const [a, b, c, d] = radii;
      return `M${x + a} ${y}H${x + width - b}a${b} ${b} 0 0 1 ${b} ${b}V${y + height - c}a${c} ${c} 0 0 1 ${-c} ${c}`
        + `H${x + d}a${d} ${d} 0 0 1 ${-d} ${-d}V${y + a}a${a} ${a} 0 0 1 ${a} ${-a}Z`;
    });
    return `path(evenodd, "M-99999 -99999H99999V99999H-99999Z${parts.join("")}")`;
  }

  function rectangleAround(holes) {
    const x = Math.min(...holes.map((hole) => hole.x));
    const y = Math.min(...holes.map((hole) => hole.y));
    return {
      x, y, width: Math.max(...holes.map((hole) => hole.x + hole.width)) - x, height: Math.max(...holes.map((hole) => hole.y + hole.height)) - y,
    };
  }

  const shapeKey = (holes) => holes.map(({ x, y, width, height, radii, quad }) => [x, y, width, height, radii, quad].join()).join(";");

  /// What an element's background becomes: a key for it, and its properties.
  function backgroundOf(element, { isCleared, paint }, holes) {
    if (!isCleared && holes.length === 0) return { key: "", make: () => ({}) };
    const { color, image } = paint ?? underlying(element);
    const isTransformed = !isBackdrop(element) && facts(element).linear !== null;
    const box = boxOf(element);
    const width = isTransformed ? element.offsetWidth : box.width;
    const height = isTransformed ? element.offsetHeight : box.height;
    const isCovered = holes.some((hole) => hole.x < 1 && hole.y < 1 && hole.x + hole.width > width - 1 && hole.y + hole.height > height - 1);
    if (isCleared || isCovered) return { key: "clear", make: () => cleared };
    return {
      key: `around ${color} ${image} ${width} ${height} ${shapeKey(holes)}`,
      make: () => layerProperties(around(color, image, width, height, holes)),
    };
  }

  /// Cuts exactly the given elements: Map of element → {isCleared, around: [placed], clip: [placed], paint}.
  function cut(targets) {
    for (const element of [...cuts.keys()]) if (!targets.has(element)) remove(element);
    for (const [element, target] of targets) {
      const holes = (placed) => placed.map((one) => holeIn(element, one)).filter((hole) => hole && hole.width > 0 && hole.height > 0);
      const background = backgroundOf(element, target, holes(target.around));
      const clip = holes(target.clip);
      apply(element, `${background.key} clip ${shapeKey(clip)}`, () => {
        return { ...background.make(), ...(clip.length > 0 ? { clipPath: pathAround(clip) } : {}) };
      });
      cuts.get(element).clippedFor = target.clip.map((one) => one.element);
    }
    checkNew();
  }

  return Object.freeze({
    cut, suspend, restore, clippedFor, underlying, backdropOf, hasBackground,
    has: (element) => cuts.has(element),
    /// The cut elements, without backdrops.
    elements: () => [...cuts.keys()].filter((element) => !isBackdrop(element)),
    isOurs: (animation) => animations.has(animation),
  });
})();
