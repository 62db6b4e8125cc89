// The flat tree (https://drafts.csswg.org/css-scoping/#flattening) and the order in which its elements are painted
// (https://www.w3.org/TR/CSS22/zindex.html), as far as videos and what lies under them need it.

const glassTree = (() => {
  const style = getComputedStyle.bind(globalThis);
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

  /// The element and its ancestors, innermost first.
  function chain(element) {
    const list = [];
    for (let node = element; node !== null; node = parent(node)) list.push(node);
    return list;
  }

  const isNone = (value) => value === "none" || value === "" || value === undefined;

  /// Whether an element's computed transforms or the like make it contain fixed and absolute boxes.
  function isContainer(css) {
    return !isNone(css.transform) || !isNone(css.rotate) || !isNone(css.scale) || !isNone(css.translate) || !isNone(css.perspective)
      || !isNone(css.filter) || css.willChange.includes("transform") || /paint|layout|strict|content/.test(css.contain ?? "");
  }

  function isStackingContext(css, isItem) {
    return css.position === "fixed" || css.position === "sticky" || (css.zIndex !== "auto" && (css.position !== "static" || isItem))
      || css.opacity !== "1" || isContainer(css) || css.isolation === "isolate" || css.mixBlendMode !== "normal"
      || !isNone(css.clipPath) || !isNone(css.maskImage) || css.willChange.includes("opacity");
  }

  /// Steps from the root down to the element; each is painted at `level` (in a stacking context's order: negative z-index,
  /// blocks, floats, inline boxes, z-index 0, positive), in tree order within a level.
  function paintPath(element) {
    const path = [];
    const list = chain(element);
    let positioned = null;
    for (let index = list.length - 1; index >= 0; index -= 1) {
      const node = list[index];
      const css = style(node);
      const isItem = index + 1 < list.length && /flex|grid/.test(style(list[index + 1]).display);
      if (index === list.length - 1 || isStackingContext(css, isItem)) {
        path.push({ node, level: css.zIndex === "auto" || (css.position === "static" && !isItem) ? 0 : Number(css.zIndex) });
        positioned = null;
      } else if (css.position !== "static") {
        // Painted like a stacking context, but positioned descendants belong to the real one.
        positioned = { node, level: 0 };
      } else if (index === 0) {
        if (positioned) path.push(positioned);
        positioned = null;
        path.push({ node, level: css.float !== "none" ? -0.3 : css.display.startsWith("inline") ? -0.2 : -0.4 });
      }
    }
    if (positioned) path.push(positioned);
    return path;
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
    const a = chain(one).reverse();
    const b = chain(other).reverse();
    let depth = 0;
    while (a[depth] && a[depth] === b[depth]) depth += 1;
    if (!a[depth] || !b[depth]) return a.length > b.length;
    return !!(b[depth].compareDocumentPosition(a[depth]) & Node.DOCUMENT_POSITION_FOLLOWING);
  }

  return Object.freeze({ style, parent, chain, isContainer, paintPath, isAbove, isNone });
})();
