// A figure of a curve's corner, with a line that the reader turns to find out which slopes are subgradients.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { formatNumber } from "../../formula/numbers.js";

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
  const text = formatNumber(slope).replace("-", "−");
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
  const status = element("p", { role: "status", class: "corner-said" });
  const line = shape("line", { class: "touching" });
  const curve = shape("polyline", {
    class: "curve",
    points: [
      [-1, -corner.left],
      [0, 0],
      [1, corner.right],
    ]
      .map(toPicture)
      .join(" "),
  });
  const dot = shape("circle", { class: "dot", r: 7 });
  const picture = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
  picture.append(curve, line, dot);
  const field = /** @type {HTMLInputElement} */ (
    element("input", { type: "range", min: MIN, max: MAX, step: STEP, value: 0.5, oninput: show })
  );
  const host = element("section", { class: "corner", "aria-label": "The gradient at the corner" });
  host.append(picture, element("label", {}, "Gradient at x = 0 ", field), status);
  picture.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    picture.setPointerCapture(event.pointerId);
    dragLine(event);
  });
  picture.addEventListener(
    "pointermove",
    (/** @type {PointerEvent} */ event) => picture.hasPointerCapture(event.pointerId) && dragLine(event),
  );
  show();

  /** Turn the line at the corner so that it passes through the pointer. @param {PointerEvent} event */
  function dragLine({ clientX, clientY }) {
    const box = picture.getBoundingClientRect();
    const x = (2 * (clientX - box.left)) / box.width - 1;
    const y = 1 - (1.5 * (clientY - box.top)) / box.height;
    if (Math.abs(x) > 0.1) field.value = String(y / x);
    show();
  }

  function show() {
    const slope = Number(field.value);
    const [[x1, y1], [x2, y2]] = [-0.8, 0.8].map((x) => toPicture([x, slope * x]));
    for (const [name, value] of Object.entries({ x1, y1, x2, y2 })) setAttribute(line, name, value);
    setAttribute(dot, "cx", x2);
    setAttribute(dot, "cy", y2);
    const words = describeSlope(corner, slope);
    setAttribute(field, "aria-valuetext", words);
    setText(status, words);
  }

  return { element: host, follow: () => undefined };
}

/** @param {number[]} point */
function toPicture([x, y]) {
  return [(WIDTH * (x + 1)) / 2, (HEIGHT * (1 - y)) / 1.5];
}
