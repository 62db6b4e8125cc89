// Where an element's content stands in the viewport: an affine map, a clip, rounding and opacity, from computed styles and
// the element's bounding rectangle after layout.

const glassGeometry = (() => {
  const { facts, isNone } = glassTree;
  const rectangleOf = Element.prototype.getBoundingClientRect;
  const rectsOf = Element.prototype.getClientRects;
  const number = (text) => parseFloat(text) || 0;

  /// A corner's radius from its computed value ("12px", "50%", "12px 8px"): the mean of an elliptic one's.
  function radius(text, width, height) {
    const [x, y = x] = text.split(" ");
    const length = (part, whole) => (part.endsWith("%") ? (number(part) / 100) * whole : number(part));
    return (length(x, width) + length(y, height)) / 2;
  }

  const corners = ["borderTopLeftRadius", "borderTopRightRadius", "borderBottomRightRadius", "borderBottomLeftRadius"];

  /// The four radii of an element's border box, scaled down where they meet (CSS Backgrounds 4.5).
  function radii(css, width, height) {
    if (css.borderTopLeftRadius === "0px" && css.borderTopRightRadius === "0px" && css.borderBottomRightRadius === "0px"
      && css.borderBottomLeftRadius === "0px") return null;
    const list = corners.map((name) => radius(css[name], width, height));
    const ratio = Math.min(1, width / (list[0] + list[1]), height / (list[1] + list[2]), width / (list[2] + list[3]), height / (list[3] + list[0]));
    return list.map((value) => value * ratio);
  }

  function intersection(a, b) {
    if (!a) return b;
    const x = Math.max(a.x, b.x);
    const y = Math.max(a.y, b.y);
    return { x, y, width: Math.max(0, Math.min(a.x + a.width, b.x + b.width) - x), height: Math.max(0, Math.min(a.y + a.height, b.y + b.height) - y) };
  }

  /// Ancestors that clip the element: scrollers and hidden overflow on its chain of containing blocks.
  function clippers(element) {
    const found = [];
    let { position } = facts(element).css;
    for (let fact = facts(element).parent; fact !== null; fact = fact.parent) {
      const { css } = fact;
      const isContaining = position === "fixed" ? fact.isContainer
        : position === "absolute" ? css.position !== "static" || fact.isContainer : true;
      if (!isContaining) continue;
      position = css.position;
      const isRoot = fact.element === document.documentElement || fact.element === document.body;
      if (!isRoot && (css.overflowX !== "visible" || css.overflowY !== "visible")) found.push(fact);
    }
    return found;
  }

  /// `inset()` and `circle()` of a clip path on the video itself, as radii and clip; others are not followed.
  function clipPath(css, width, height) {
    if (isNone(css.clipPath)) return null;
    if (css.clipPath.startsWith("circle(")) return new Array(4).fill(Math.min(width, height) / 2);
    const rounded = /round ([\d.]+)(px|%)/.exec(css.clipPath);
    if (!rounded) return null;
    const value = rounded[2] === "%" ? (number(rounded[1]) / 100) * Math.min(width, height) : number(rounded[1]);
    return new Array(4).fill(Math.min(value, width / 2, height / 2));
  }

  /// Where the content box of a rendered element stands, or null if nothing of it can be seen.
  function place(element) {
    if (Reflect.apply(rectsOf, element, []).length === 0) return null;
    const fact = facts(element);
    const { css, opacity } = fact;
    if (css.visibility !== "visible") return null;
    const box = Reflect.apply(rectangleOf, element, []);
    if (opacity <= 0) return null;
    const map = fact.linear;
    const edges = {
      left: number(css.borderLeftWidth) + number(css.paddingLeft), right: number(css.borderRightWidth) + number(css.paddingRight),
      top: number(css.borderTopWidth) + number(css.paddingTop), bottom: number(css.borderBottomWidth) + number(css.paddingBottom),
    };
    const isBorderBox = css.boxSizing === "border-box";
    const outerWidth = map ? number(css.width) + (isBorderBox ? 0 : edges.left + edges.right) : box.width;
    const outerHeight = map ? number(css.height) + (isBorderBox ? 0 : edges.top + edges.bottom) : box.height;
    const width = outerWidth - edges.left - edges.right;
    const height = outerHeight - edges.top - edges.bottom;
    if (width <= 0 || height <= 0) return null;
    // An affine map keeps centres: that of the bounding rectangle is the box's own.
    const [a, b, c, d] = map ?? [1, 0, 0, 1];
    const x = edges.left - outerWidth / 2;
    const y = edges.top - outerHeight / 2;
    const placed = {
      element, css, elements: fact.chain, path: fact.path, width, height, opacity,
      map: [a, b, c, d, box.x + box.width / 2 + a * x + c * y, box.y + box.height / 2 + b * x + d * y],
      radii: clipPath(css, width, height), clip: null,
    };
    const outer = radii(css, outerWidth, outerHeight);
    if (outer && !placed.radii) {
      const inset = [[edges.left, edges.top], [edges.right, edges.top], [edges.right, edges.bottom], [edges.left, edges.bottom]];
      placed.radii = outer.map((value, index) => Math.max(0, value - Math.max(...inset[index])));
    }
    placed.bounds = bounds(placed);
    for (const clipper of clippers(element)) clip(placed, clipper);
    placed.visible = intersection(placed.clip, placed.bounds);
    placed.visible = intersection({ x: 0, y: 0, width: innerWidth, height: innerHeight }, placed.visible);
    if (placed.visible.width <= 0 || placed.visible.height <= 0) return null;
    if (placed.clip && contains(placed.clip, placed.bounds)) placed.clip = null;
    return placed;
  }

  /// The rectangle around a placed box in the viewport.
  function bounds({ width, height, map: [a, b, c, d, e, f] }) {
    const x = e + Math.min(0, a * width) + Math.min(0, c * height);
    const y = f + Math.min(0, b * width) + Math.min(0, d * height);
    return { x, y, width: Math.abs(a * width) + Math.abs(c * height), height: Math.abs(b * width) + Math.abs(d * height) };
  }

  const slack = 0.01;
  function contains(a, b) {
    return a.x <= b.x + slack && a.y <= b.y + slack && a.x + a.width >= b.x + b.width - slack && a.y + a.height >= b.y + b.height - slack;
  }

  /// Takes an ancestor's clip into account; its rounded corners become the video's where they meet the video's corners.
  function clip(placed, { element, css }) {
    const box = Reflect.apply(rectangleOf, element, []);
    const left = number(css.borderLeftWidth);
    const top = number(css.borderTopWidth);
    const inner = {
      x: box.x + left, y: box.y + top,
      width: box.width - left - number(css.borderRightWidth), height: box.height - top - number(css.borderBottomWidth),
    };
    if (css.overflowX === "visible") Object.assign(inner, { x: -1e6, width: 2e6 });
    if (css.overflowY === "visible") Object.assign(inner, { y: -1e6, height: 2e6 });
    placed.clip = intersection(placed.clip, inner);
    const rounded = radii(css, box.width, box.height);
    if (!rounded) return;
    const { bounds: video, map } = placed;
    if (map[1] !== 0 || map[2] !== 0) return;
    const near = (one, other) => Math.abs(one - other) < 1.5;
    const isAt = {
      left: near(video.x, inner.x), top: near(video.y, inner.y),
      right: near(video.x + video.width, inner.x + inner.width), bottom: near(video.y + video.height, inner.y + inner.height),
    };
    const meets = [isAt.left && isAt.top, isAt.right && isAt.top, isAt.right && isAt.bottom, isAt.left && isAt.bottom];
    const scale = Math.abs(map[0]) || 1;
    const list = placed.radii ?? [0, 0, 0, 0];
    // A mirrored box has its left corners on the right.
    const swap = (index) => {
      let at = map[0] < 0 ? [1, 0, 3, 2][index] : index;
      if (map[3] < 0) at = [3, 2, 1, 0][at];
      return at;
    };
    meets.forEach((isMet, index) => {
      if (isMet) list[swap(index)] = Math.max(list[swap(index)], Math.max(0, rounded[index] - Math.max(left, top)) / scale);
    });
    placed.radii = list;
  }

  /// `object-position` as fractions of what is left over, for a picture of that size.
  function position({ css, width, height }, pictureWidth, pictureHeight) {
    const [x = "50%", y = "50%"] = css.objectPosition.split(" ");
    if (x.endsWith("%") && y.endsWith("%")) return [number(x) / 100, number(y) / 100];
    let scale = 1;
    const contain = Math.min(width / pictureWidth, height / pictureHeight);
    if (css.objectFit === "contain") scale = contain;
    else if (css.objectFit === "cover") scale = Math.max(width / pictureWidth, height / pictureHeight);
    else if (css.objectFit === "scale-down") scale = Math.min(1, contain);
    const fraction = (part, rest) => (part.endsWith("%") ? number(part) / 100 : rest === 0 ? 0 : number(part) / rest);
    return [fraction(x, width - pictureWidth * scale), fraction(y, height - pictureHeight * scale)];
  }

  return Object.freeze({ place, position, radii, contains, rectangle: (element) => Reflect.apply(rectangleOf, element, []) });
})();
