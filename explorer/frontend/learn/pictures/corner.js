// A figure of a curve's corner, with a line that the reader turns to find out which slopes are subgradients.

import { element, setAttribute } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { formatNumber, writeMinus } from "../../formula/numbers.js";

/**
 * The corner, as Corner in explorer/lessons/pictures.py. ``left``, ``right``: slopes at its sides; ``named``: those in
 * use.
 * @typedef {{left: number, right: number, named: Object<string, number>}} Corner
 */

const [MIN, MAX, STEP] = [-0.5, 1.5, 0.05];
const [WIDTH, HEIGHT] = [240, 150]; // size in px of the figure, for x from −1 to 1 and y from −0.5 to 1

/**
 * Describe whether a slope at the corner is a subgradient, and which libraries or rules use it.
 * @param {Corner} corner @param {number} slope
 */
export function describeSlope({ left, right, named }, slope) {
  const text = writeMinus(formatNumber(slope));
  if (slope > right)
    return `${text} is not a subgradient: right of the corner the line lies above the curve.`;
  if (slope < left) return `${text} is not a subgradient: left of the corner the line lies above the curve.`;
  const owners = Object.keys(named).filter((name) => named[name] === slope);
  const choice = owners.length ? `: the choice of ${owners.join(" and ")}` : ", as right as any other";
  return `${text} is a subgradient${choice}.`;
}

/**
 * Create the figure of a corner, with a line that the reader turns.
 * @param {Corner} corner @returns {import("./pictures.js").Picture}
 */
export function createCorner(corner) {
  const field = /** @type {HTMLInputElement} */ (
    element("input", { type: "range", min: MIN, max: MAX, step: STEP, value: 0.5, oninput: show })
  );
  const host = element("section", { class: "corner", "aria-label": "The gradient at the corner" });
  const bends = [
    [-1, -corner.left],
    [0, 0],
    [1, corner.right],
  ];
  const curve = h("polyline", { class: "curve", points: bends.map(toPicture).join(" ") });
  show();

  /** Turn the line at the corner so that it passes through the pointer. @param {*} event of the picture */
  function dragLine({ clientX, clientY, currentTarget }) {
    const box = currentTarget.getBoundingClientRect();
    const x = (2 * (clientX - box.left)) / box.width - 1;
    const y = 1 - (1.5 * (clientY - box.top)) / box.height;
    if (Math.abs(x) > 0.1) field.value = String(y / x);
    show();
  }

  function show() {
    const slope = Number(field.value);
    const [[x1, y1], [x2, y2]] = [-0.8, 0.8].map((x) => toPicture([x, slope * x]));
    const words = describeSlope(corner, slope);
    const picture = {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      "aria-hidden": "true",
      onpointerdown(/** @type {*} */ event) {
        event.currentTarget.setPointerCapture(event.pointerId);
        dragLine(event);
      },
      onpointermove: (/** @type {*} */ event) =>
        event.currentTarget.hasPointerCapture(event.pointerId) && dragLine(event),
    };
    setAttribute(field, "aria-valuetext", words);
    render(
      host,
      h(
        "svg",
        picture,
        curve,
        h("line", { class: "touching", x1, y1, x2, y2 }),
        h("circle", { class: "dot", r: 7, cx: x2, cy: y2 }),
      ),
      h("label", { class: "flex-row" }, "Gradient at x = 0 ", field),
      h("p", { role: "status", class: "corner-said" }, words),
    );
  }

  return { element: host, follow: () => undefined };
}

/** @param {number[]} point */
function toPicture([x, y]) {
  return [(WIDTH * (x + 1)) / 2, (HEIGHT * (1 - y)) / 1.5];
}
