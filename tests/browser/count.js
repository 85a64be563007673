// The controls and words that a person sees on the first screen of a page: those that can be hit, and those whose place
// shows them, in shadow trees too. Evaluated in the page.
() => {
  const [wide, tall] = [innerWidth, innerHeight];
  const CONTROLS =
    "button, input, select, textarea, a[href], summary, [tabindex]:not([tabindex='-1']), [role=button], [role=slider]," +
    "[role=tab], [role=combobox], [role=switch], [role=radio], [role=option], [role=menuitem], [role=spinbutton]";
  const QUIET = ["SCRIPT", "STYLE", "NOSCRIPT", "OPTION"];

  const under = (x, y) => {
    let node = x >= 0 && y >= 0 && x < wide && y < tall ? document.elementFromPoint(x, y) : null;
    for (let inner = node; inner?.shadowRoot; node = inner ?? node) {
      inner = inner.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === node) break;
    }
    return node;
  };
  const isVisible = (node) =>
    node.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true });
  const isHit = (node, x, y) => {
    const found = under(x, y);
    return found !== null && (found === node || node.contains(found) || found.contains(node));
  };
  const middle = ({ x, y, width, height }) => [x + width / 2, y + height / 2];
  const everything = (root) =>
    [...root.querySelectorAll("*")].flatMap((node) => [
      node,
      ...(node.shadowRoot ? everything(node.shadowRoot) : []),
    ]);
  const all = everything(document);

  const isControl = (node) => {
    if (!node.matches(CONTROLS) || !isVisible(node)) return false;
    if (node.parentElement?.closest("button, a[href], summary")) return false;
    const box = node.getBoundingClientRect();
    if (box.width < 3 || box.height < 3) return false;
    const label = node.closest("label");
    return isHit(node, ...middle(box)) || (label !== null && isHit(label, ...middle(box)));
  };
  const wordsIn = (text) => text.split(/\s+/).filter((word) => /[\p{L}]/u.test(word));
  const textOf = (node) => {
    const values = ["INPUT", "TEXTAREA"].includes(node.tagName) ? [node.value, node.placeholder] : [];
    const shown = [...node.childNodes].flatMap((child) => {
      if (child.nodeType !== Node.TEXT_NODE || !child.data.trim()) return [];
      const range = document.createRange();
      range.selectNodeContents(child);
      const box = [...range.getClientRects()].find(({ width, height }) => width > 2 && height > 4);
      if (!box) return [];
      const [x, y] = middle(box);
      const isDrawn = node.closest("svg") !== null; // curves lie over their letters, and do not hide them
      const isSeen = isDrawn ? x >= 0 && y >= 0 && x < wide && y < tall : isHit(node, x, y);
      return isSeen ? [child.data] : [];
    });
    return [...values, ...shown].flatMap(wordsIn);
  };
  const controls = all.filter(isControl);
  const words = all.filter((node) => !QUIET.includes(node.tagName) && isVisible(node)).flatMap(textOf);
  const nameOf = (node) =>
    node.getAttribute("aria-label") || node.textContent.trim() || node.type || node.tagName;
  return {
    controls: controls.map((node) => nameOf(node).slice(0, 40)),
    words,
    isWide: document.documentElement.scrollWidth > wide,
  };
};
