// Each text of a part of the page that is cut off, covered or overprinted. Evaluated in the page, with a selector.
(part) => {
  const clips = (node, axis) => /auto|scroll|hidden|clip/.test(getComputedStyle(node)[`overflow${axis}`]);
  const isLost = (start, end, low, high, least = 2) => start < low - least || end > high + least;

  const findFault = (node, box) => {
    for (let at = node; at; at = at.parentElement ?? at.getRootNode().host) {
      const { left, right, top, bottom } = at.getBoundingClientRect();
      if (clips(at, "X") && isLost(box.left, box.right, left, right)) return "cut sideways";
      if (clips(at, "Y") && isLost(box.top, box.bottom, top, bottom, 0.08 * box.height)) return "cut off";
    }
    if (isLost(box.left, box.right, 0, innerWidth) || isLost(box.top, box.bottom, 0, innerHeight))
      return "outside";
    // Curves lie over their letters, and do not hide them; what no pointer reaches is not found at a point.
    if (node.closest("svg") || getComputedStyle(node).pointerEvents === "none") return "";
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    let top = document.elementFromPoint(x, y);
    while (top?.shadowRoot) top = top.shadowRoot.elementFromPoint(x, y);
    return !top || node.contains(top) || top.contains(node)
      ? ""
      : `covered by ${top.tagName} ${top.classList}`;
  };
  // Names of outputs side by side need a gap, or digits are read as one number.
  const doOverlap = ({ node, box: one }, { box: other }) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) >
      (node.matches(".output b, .chances b") ? -2 : Math.max(3, 0.12 * one.height)) &&
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) >
      0.3 * Math.min(one.height, other.height);

  const texts = [];
  const walker = document.createTreeWalker(document.querySelector(part), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement: node, textContent } = walker.currentNode;
    const text = textContent.trim().slice(0, 60);
    if (
      !text ||
      node.closest("[aria-hidden=true], math, option") ||
      getComputedStyle(node).clipPath !== "none"
    )
      continue;
    if (!node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const boxes = [...range.getClientRects()].filter(({ width, height }) => width > 2 && height > 4);
    texts.push(...boxes.map((box) => ({ node, text, box })));
  }
  const faults = texts.map(({ node, text, box }) => [findFault(node, box), text]).filter(([fault]) => fault);
  const pairs = texts.flatMap((one, at) => texts.slice(at + 1).map((other) => [one, other]));
  const overprinted = pairs.filter(([one, other]) => one.node !== other.node && doOverlap(one, other));
  return [
    ...faults.map((words) => words.join(": ")),
    ...overprinted.map(([one, other]) => `overprinted: ${one.text} / ${other.text}`),
  ];
};
