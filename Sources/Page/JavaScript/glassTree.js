// The flat tree (https://drafts.csswg.org/css-scoping/#flattening) and the order in which its elements are painted
// (https://www.w3.org/TR/CSS22/zindex.html), as far as videos and what lies under them need it.

const glassTree = (() => {
  const getComputedStyle = globalThis.getComputedStyle.bind(globalThis);
  /// Host → its shadow root, closed ones too: the page may hide a root, but not from what is painted.
  const roots = new WeakMap();
  const nativeAttachShadow = Element.prototype.attachShadow;

  overlay.add(Element.prototype, {
    attachShadow(init) {
      const root = Reflect.apply(nativeAttachShadow, this, [init]);
      roots.set(this, root);
      return root;
    },
  });

  function slotOf(node, host) {
    if (node.assignedSlot) return node.assignedSlot;
    const root = host.shadowRoot ?? roots.get(host);
    if (!root) return null;
    const name = node.slot ?? "";
    for (const slot of root.querySelectorAll("slot")) if (slot.name === name) return slot;
    return null;
  }

  /// The parent element in the flat tree, or null.
  function parent(element) {
    const node = element.parentNode;
    if (node === null || node === document) return null;
    if (node instanceof ShadowRoot) return node.host;
    if (node.nodeType !== 1) return null;
    return node.shadowRoot || roots.has(node) ? slotOf(element, node) : node;
  }

  const isNone = (value) => value === "none" || value === "" || value === undefined;

  /// What the computed styles of an element and its ancestors come to. Kept until styles may have changed: a scroll changes none of it.
  class Facts {
    element;
    css;
    parent;
    opacity;
    isContainer;
    isStackingContext;
    /// Whether it is in the top layer (https://drafts.csswg.org/css-position-4/#top-layer): over all else, no matter what it stands in.
    isTop;
    #isItem;
    #chain;
    #linear;
    #path;

    constructor(element) {
      this.element = element;
      this.css = getComputedStyle(element);
      this.isTop = element !== document.documentElement && element.matches(":fullscreen, :modal, :popover-open");
      const above = this.isTop ? document.documentElement : parent(element);
      this.parent = above === null ? null : facts(above);
      const { css } = this;
      this.opacity = (parseFloat(css.opacity) || 0) * (this.parent?.opacity ?? 1);
      this.#isItem = this.parent !== null && /flex|grid/.test(this.parent.css.display);
      const isTransformed = !isNone(css.transform) || !isNone(css.rotate) || !isNone(css.scale);
      this.isContainer = isTransformed || !isNone(css.translate) || !isNone(css.perspective) || !isNone(css.filter)
        || css.willChange.includes("transform") || /paint|layout|strict|content/.test(css.contain ?? "");
      this.isStackingContext = this.parent === null || this.isTop || css.position === "fixed" || css.position === "sticky"
        || (css.zIndex !== "auto" && (css.position !== "static" || this.#isItem)) || css.opacity !== "1" || this.isContainer
        || css.isolation === "isolate" || css.mixBlendMode !== "normal" || !isNone(css.clipPath) || !isNone(css.maskImage)
        || css.willChange.includes("opacity");
      this.#linear = isTransformed ? undefined : this.parent?.linear ?? null;
    }

    /// The element and its ancestors, innermost first.
    get chain() {
      this.#chain ??= this.parent === null ? [this.element] : [this.element, ...this.parent.chain];
      return this.#chain;
    }

    /// The linear part (a, b, c, d) of the map from the element to the viewport, or null if nothing is transformed.
    get linear() {
      if (this.#linear === undefined) {
        const own = ownLinear(this.css);
        const outer = this.parent?.linear ?? null;
        this.#linear = outer ? multiply(outer, own) : own;
      }
      return this.#linear;
    }

    /// Steps from the root down to the element; each is painted at `level` (in a stacking context's order: negative z-index,
    /// blocks, floats, inline boxes, z-index 0, positive), in tree order within a level.
    get path() {
      if (this.#path) return this.#path;
      const { css, element } = this;
      if (this.isTop) {
        this.#path = [...this.parent.path, { node: element, level: Infinity }];
        return this.#path;
      }
      const path = this.parent === null ? [] : this.parent.#base(this.isStackingContext || css.position !== "static");
      if (this.isStackingContext) path.push({ node: element, level: css.zIndex === "auto" || (css.position === "static" && !this.#isItem) ? 0 : Number(css.zIndex) });
      else if (css.position !== "static") path.push({ node: element, level: 0 });
      else path.push({ node: element, level: css.float !== "none" ? -0.3 : css.display.startsWith("inline") ? -0.2 : -0.4 });
      this.#path = path;
      return path;
    }

    /// The path to what a descendant is painted in: the next stacking context, or, for one that is not positioned, the next
    /// positioned ancestor, which is painted like a stacking context.
    #base(isPositioned) {
      if (this.isStackingContext || (!isPositioned && this.css.position !== "static")) return [...this.path];
      return this.parent === null ? [] : this.parent.#base(isPositioned);
    }
  }

  /// The linear part of one element's own transforms.
  function ownLinear(css) {
    let matrix = new DOMMatrix();
    if (!isNone(css.rotate)) matrix = matrix.multiply(new DOMMatrix(`rotate(${css.rotate})`));
    if (!isNone(css.scale)) {
      const [x, y = x] = css.scale.split(" ").map(Number);
      matrix = matrix.multiply(new DOMMatrix([x, 0, 0, y, 0, 0]));
    }
    if (!isNone(css.transform)) matrix = matrix.multiply(new DOMMatrix(css.transform));
    return [matrix.a, matrix.b, matrix.c, matrix.d];
  }

  const multiply = ([a, b, c, d], [e, f, g, h]) => [a * e + c * f, b * e + d * f, a * g + c * h, b * g + d * h];

  let known = new Map();

  function facts(element) {
    let found = known.get(element);
    if (!found) known.set(element, (found = new Facts(element)));
    return found;
  }

  /// Whether path `a` is painted over path `b`.
  function isAbove(a, b) {
    for (let index = 0; ; index += 1) {
      const one = a[index];
      const other = b[index];
      // What is inside a stacking context is painted over its background, unless it is negative.
      if (!other) return !!one && one.level >= -0.5;
      if (!one) return other.level < -0.5;
      if (one.node === other.node) continue;
      if (one.level !== other.level) return one.level > other.level;
      return isAfter(one.node, other.node);
    }
  }

  function isAfter(one, other) {
    const a = facts(one).chain;
    const b = facts(other).chain;
    let [i, j] = [a.length - 1, b.length - 1];
    while (i >= 0 && j >= 0 && a[i] === b[j]) [i, j] = [i - 1, j - 1];
    if (i < 0 || j < 0) return a.length > b.length;
    return !!(b[j].compareDocumentPosition(a[i]) & Node.DOCUMENT_POSITION_FOLLOWING);
  }

  return Object.freeze({
    facts, isAbove, isNone,
    /// Styles may have changed.
    forget: () => { known = new Map(); },
  });
})();
