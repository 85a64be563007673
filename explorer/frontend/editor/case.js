// The first failing test case of an exercise, marked on the chart with the expected value.

import { element, setText } from "../elements/dom.js";
import { shape } from "../elements/svg.js";
import { sampleCurves } from "../formula/curves.js";
import { clampTo } from "../formula/numbers.js";
import { findJumps } from "../chart/scene/jumps.js";
import { toLeftPx, toTopPx } from "../chart/scene/panels.js";

/** @import { Frame, PanelName } from "../chart/scene/panels.js" */
/** @import { LayerCurve, Picture } from "../chart/scene/picture.js" */
/**
 * A failing test case of an exercise: the input x, the upstream gradient g, and the values expected and obtained, null
 * if not finite. ``words``: its description; ``op``: the solution's forward function if that fails, otherwise null.
 * @typedef {{x: number, g: number, wanted: number|null, found: number|null, words: string, panel: PanelName, op:
 *   import("../formula/entry.js").Op|null}} Case
 */

const RADIUS = 6; // px

/** Create the overlay that marks the failing test case of an exercise on the chart. */
export function createCase() {
  const faint = { "stroke-opacity": 0.4, "stroke-dasharray": "3 3" };
  const line = shape("line", { class: "case-line", stroke: "currentColor", ...faint });
  const gapLine = shape("line", { class: "case-apart", "stroke-width": 3 });
  const wantedDot = shape("circle", {
    class: "case-wanted",
    stroke: "currentColor",
    "stroke-width": 2,
    r: RADIUS,
  });
  const foundDot = shape("circle", { class: "case-found", r: RADIUS });
  const picture = shape("svg", { class: "chart-overlay", "aria-hidden": "true" });
  picture.append(line, gapLine, wantedDot, foundDot);
  const words = element("p", { class: "case-words" });
  const layer = element("div", { class: "case", hidden: true }, picture, words);
  let frame = /** @type {Frame|null} */ (null);
  let current = /** @type {Case|null} */ (null);

  function draw() {
    const ends = frame?.x;
    const panel = current && frame?.[current.panel];
    const isVisible = current !== null && ends !== undefined && ends[0] <= current.x && current.x <= ends[1];
    layer.hidden = !isVisible || !panel;
    if (!isVisible || !current || !frame || !panel) return;
    const x = toLeftPx(frame, current.x);
    const heightOf = (/** @type {number|null} */ value) =>
      value === null ? panel.top : clampTo(toTopPx(panel, value), panel.top, panel.top + panel.height);
    const [wantedY, foundY] = [current.wanted, current.found].map(heightOf);
    place(line, { x1: x, x2: x, y1: panel.top, y2: panel.top + panel.height });
    place(gapLine, { x1: x, x2: x, y1: wantedY, y2: foundY });
    place(wantedDot, { cx: x, cy: wantedY });
    place(foundDot, { cx: x, cy: foundY });
    setText(words, current.words);
    const left = x < frame.left + frame.inner / 2;
    words.style.top = `${(wantedY + foundY) / 2}px`;
    words.style.left = left ? `${x + 2 * RADIUS}px` : "auto";
    words.style.right = left ? "auto" : `${frame.width - x + 2 * RADIUS}px`;
  }

  return {
    element: layer,
    /** @param {Frame} next the positions of the panels */
    follow(next) {
      frame = next;
      draw();
    },
    /** Return the forward curve of the solution if the test case is about it, otherwise []. @param {Picture} picture */
    over: (picture) => (current?.op ? [sampleForward(current.op, picture)] : []),
    /** @param {Case|null} next null hides it */
    show(next) {
      current = next;
      draw();
    },
  };
}

/** @param {SVGElement} part @param {Object<string, number>} places its attributes */
function place(part, places) {
  for (const [name, value] of Object.entries(places)) part.setAttribute(name, value.toFixed(1));
}

/** @param {import("../formula/entry.js").Op} op @param {Picture} picture @returns {LayerCurve} */
function sampleForward(op, { rules, range: [start, stop], g, parameters }) {
  const curves = sampleCurves({ op, rules: [] }, { start, stop, g, parameters });
  const { gaps } = findJumps(curves, curves.y, curves.kinks.forward ?? []);
  return { of: rules[rules.length - 1], panel: "forward", x: curves.x, y: curves.y, gaps };
}
