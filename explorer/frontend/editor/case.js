// The first failing case of a solution, on a layer over the chart's gradients: what it returns, and what is wanted.

import { element, setText } from "../elements/dom.js";
import { shape } from "../elements/svg.js";
import { within } from "../formula/numbers.js";
import { across, down } from "../chart/scene/panels.js";

/** @import { Frame } from "../chart/scene/panels.js" */
/**
 * A case: what is no finite number is null, and said in ``words``.
 * @typedef {{x: number, g: number, wanted: number|null, found: number|null, words: string}} Case
 */

const RADIUS = 6; // px

/** The layer, to be put over a chart. */
export function createCase() {
  const line = shape("line", { class: "case-line" });
  const apart = shape("line", { class: "case-apart" });
  const wanted = shape("circle", { class: "case-wanted", r: RADIUS });
  const found = shape("circle", { class: "case-found", r: RADIUS });
  const picture = shape("svg", { class: "chart-overlay", "aria-hidden": "true" });
  picture.append(line, apart, wanted, found);
  const words = element("p", { class: "case-words" });
  const layer = element("div", { class: "case", hidden: true }, picture, words);
  let frame = /** @type {Frame|null} */ (null);
  let known = /** @type {Case|null} */ (null);

  function draw() {
    const ends = frame?.x;
    const seen = known !== null && ends !== undefined && ends[0] <= known.x && known.x <= ends[1];
    layer.hidden = !seen;
    if (!seen || !known || !frame) return;
    const panel = frame.gradient;
    const x = across(frame, known.x);
    const heightOf = (/** @type {number|null} */ value) =>
      value === null ? panel.top : within(down(panel, value), panel.top, panel.top + panel.height);
    const [due, is] = [known.wanted, known.found].map(heightOf);
    place(line, { x1: x, x2: x, y1: panel.top, y2: panel.top + panel.height });
    place(apart, { x1: x, x2: x, y1: due, y2: is });
    place(wanted, { cx: x, cy: due });
    place(found, { cx: x, cy: is });
    setText(words, known.words);
    const left = x < frame.left + frame.inner / 2;
    words.style.top = `${(due + is) / 2}px`;
    words.style.left = left ? `${x + 2 * RADIUS}px` : "auto";
    words.style.right = left ? "auto" : `${frame.width - x + 2 * RADIUS}px`;
  }

  return {
    element: layer,
    /** @param {Frame} next where the panels lie now */
    follow(next) {
      frame = next;
      draw();
    },
    /** @param {Case|null} next */
    show(next) {
      known = next;
      draw();
    },
  };
}

/** @param {SVGElement} part @param {Object<string, number>} places */
function place(part, places) {
  for (const [name, value] of Object.entries(places)) part.setAttribute(name, value.toFixed(1));
}
