// The first failing case of a solution, on a layer over the chart: what it gives, and what is wanted.

import { element, setText } from "../elements/dom.js";
import { shape } from "../elements/svg.js";
import { sampleCurves } from "../formula/curves.js";
import { clampTo } from "../formula/numbers.js";
import { jumps } from "../chart/scene/jumps.js";
import { across, down } from "../chart/scene/panels.js";

/** @import { Frame, PanelName } from "../chart/scene/panels.js" */
/** @import { LayerCurve, Picture } from "../chart/scene/picture.js" */
/**
 * A case: what is no finite number is null, and said in ``words``; ``op`` is the solution's own where its forward
 * fails, else null.
 * @typedef {{x: number, g: number, wanted: number|null, found: number|null, words: string, panel: PanelName,
 *   op: import("../formula/entry.js").Op|null}} Case
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
    const panel = known && frame?.[known.panel];
    const seen = known !== null && ends !== undefined && ends[0] <= known.x && known.x <= ends[1];
    layer.hidden = !seen || !panel;
    if (!seen || !known || !frame || !panel) return;
    const x = across(frame, known.x);
    const heightOf = (/** @type {number|null} */ value) =>
      value === null ? panel.top : clampTo(down(panel, value), panel.top, panel.top + panel.height);
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
    /** The forward of the solution, where the case is of it. @param {Picture} picture */
    over: (picture) => (known?.op ? [forwardOf(known.op, picture)] : []),
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

/**
 * The forward of a solution as a curve over the chart, in the colour of its gradient, which is the last.
 * @param {import("../formula/entry.js").Op} op
 * @param {Picture} picture
 * @returns {LayerCurve}
 */
function forwardOf(op, { rules, range: [start, stop], g, parameters }) {
  const curves = sampleCurves({ op, rules: [] }, { start, stop, g, parameters });
  const { gaps } = jumps(curves, curves.y, curves.kinks.forward ?? []);
  return { of: rules[rules.length - 1], panel: "forward", x: curves.x, y: curves.y, gaps };
}
