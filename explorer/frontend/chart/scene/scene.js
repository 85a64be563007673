// Everything that a chart draws, as plain data, and the fastest way to update the screen.

import { isDark, parseColour } from "../../elements/colours.js";
import { fillTemplate, joinList } from "../../formula/phrases.js";
import { getSampling } from "../../formula/sampling.js";
import { easeRange, fitRange } from "./axes.js";
import { listGrips } from "./grips.js";
import { findFormatLevels } from "./levels.js";
import { INVISIBLE_PX } from "../plotly/svg-paths.js";
import { toPixels } from "./paths.js";
import { toTopPx, computeFrame, findPanel, formatPartTitle } from "./panels.js";
import { listLines, addUnderlays } from "./traces.js";

/** @import { Range } from "./axes.js" */
/** @import { Line } from "./traces.js" */
/**
 * The drawing of a chart.
 * @typedef {{theme: import("../plotly/theme.js").Theme, width: number, height: number}} Space the size of a chart in
 *   px, and its theme
 * @typedef {{choice: string, title: string, isCut: boolean, legend: string, lines: Line[], absent:
 *   import("./picture.js").ListedRule[], space: Space, slots: Object<string, number>, levels: number[], frame:
 *   import("./panels.js").Frame, pixels: import("../plotly/svg-paths.js").Pixels[], grips:
 *   import("./grips.js").Grip[]}} Scene everything to draw; ``choice``: the settings as one text; ``title``: heading of
 *   the third panel, or ""; ``isCut``: whether a curve has too many kinks; ``legend``: explanation of stochastic
 *   curves, or ""; ``absent``: rules without a curve; ``slots``: index of each rule's colour; ``levels``: values of the
 *   number format to which the op rounds; ``grips``: handles of parameters
 * @typedef {{scene: Scene|null, drawn: Scene|null}} Displayed ``scene``: the drawing on the screen; ``drawn``: the last
 *   one by Plotly, null if paths have changed since
 * @typedef {{by: "values"|"paths"|"plot", glides: boolean}} Step how to update the screen: replace values, move paths,
 *   or redraw with Plotly; ``glides``: whether lines are animated
 */

const [MAX_LAYER_RATIO, PADDING] = [30, 0.06]; // both as multiples of the gradients' height
const NARROW_PX = 480; // below this width, a long legend does not fit next to the buttons
const SPARE = 0.2; // extra space at the ends of an axis with bands, as a fraction of its range
const FAR = 1e6; // px
const CIRCLE_PX = 12; // px along x that one jump's circles need
const EXTRA_WIDTH = 0.09; // line width per px of font size, for projectors
const PANELS = /** @type {const} */ (["forward", "gradient", "part"]);
const ZERO = /** @type {Range} */ ([0, 0]);
const EMPTY_RANGE = /** @type {Range} */ ([Infinity, -Infinity]);

/**
 * Compute everything that a chart draws: axes, lines in px, and handles of parameters.
 * @param {import("./picture.js").Picture} picture @param {Space} space
 * @param {Scene|null} before a scene whose axes are kept while they contain the curves, null to choose new ones
 * @returns {Scene}
 */
export function computeScene(picture, space, before) {
  const all = listLines(picture, space.theme.text);
  const curveLines = all.filter(({ over }) => !over);
  const [forward, gradients, parts] = PANELS.map((name) => curveLines.filter(({ panel }) => panel === name));
  const fit = before !== null && getWidth(before.frame.x) !== getWidth(picture.range);
  const lowest = picture.leastRange ?? ZERO;
  const least = { forward: EMPTY_RANGE, gradient: picture.learns ? ZERO : lowest, part: lowest };
  const chooseRange = (/** @type {Line[]} */ some, /** @type {import("./panels.js").PanelName} */ panel) => {
    const over = all.filter((one) => one.over && one.panel === panel);
    const next = includeLayers(fitRange(some, picture.curves.marks, least[panel]), over);
    const last = before?.frame[panel];
    if (!last) return next;
    const now = easeRange(last.range, next, fit);
    return picture.curves.drawn ? addSpare(last.range, now) : now;
  };
  const ranges = {
    x: picture.range,
    forward: chooseRange(forward, "forward"),
    gradient: chooseRange(gradients, "gradient"),
    part: picture.learns ? chooseRange(parts, "part") : null,
  };
  const frame = computeFrame(space, ranges, space.theme.type, before?.frame);
  const over = all.filter((line) => line.over && !line.fill);
  const drawnLines = [
    ...all.filter(({ fill }) => fill),
    ...forward,
    ...addUnderlays(gradients),
    ...addUnderlays(parts),
    ...over,
  ];
  const isCrowded = (/** @type {Line} */ { closed, dots }) =>
    !dots && closed.length * CIRCLE_PX > frame.inner; // more circles would hide the line
  const broader = EXTRA_WIDTH * space.theme.type;
  const lines = drawnLines.map((line) => ({
    ...line,
    ...(line.dots && { closed: line.closed.filter((i) => isNear(frame, line, line.y[i])) }),
    width: line.width && line.width + broader,
    ...(isCrowded(line) && { closed: [], open: [] }),
  }));
  const { op, rules, parameters, g } = picture;
  return {
    choice: JSON.stringify([
      op.key,
      rules.map(({ key, hidden }) => [key, hidden]),
      parameters,
      g,
      picture.range,
      picture.learns,
      picture.layer,
      picture.loss?.text,
    ]),
    title: picture.learns ? formatPartTitle(picture.learns, g) : "",
    lines,
    legend: explainStochasticCurves(picture, space),
    isCut: Object.values(picture.curves.kinks).includes(null),
    absent: picture.rules.filter((rule) => !lines.some(({ key }) => key === rule.key)),
    slots: Object.fromEntries(picture.rules.map(({ key, slot }) => [key, slot])),
    levels: findFormatLevels(picture),
    frame,
    pixels: lines.map((line) => toPixels(line, frame)),
    space,
    grips: listGrips(picture),
  };
}

/** @param {import("./panels.js").Frame} frame @param {Line} line @param {number} y */
const isNear = (frame, line, y) => Math.abs(toTopPx(findPanel(frame, line.panel), y)) <= FAR;

/**
 * Return a line that explains the curves of a stochastic op or rule, or names those without values. Returns "" if
 * nothing is stochastic.
 * @param {import("./picture.js").Picture} picture @param {Space} space
 */
function explainStochasticCurves({ curves, drawnWords: words, op, rules }, { width, theme }) {
  const { y, gradients, drawn } = curves;
  if (!drawn || !words) return "";
  const all = [
    { name: op.label, values: y },
    ...rules.map(({ key, label }) => ({ name: label, values: gradients[key] })),
    { name: words.loss, values: drawn.exact?.y },
  ];
  const missing = all.filter(({ values }) => values && !values.some(Number.isFinite)).map(({ name }) => name);
  const ink = isDark(parseColour(theme.text)) ? words.black : words.white;
  if (missing.length)
    return width < NARROW_PX
      ? fillTemplate(words.lost, { count: String(missing.length) })
      : fillTemplate(words.missing, { what: joinList(missing) });
  if (width < NARROW_PX) return fillTemplate(drawn.exact ? words.short : words.shortMeans, { ink });
  return fillTemplate(drawn.exact ? words.legend : words.means, { ink });
}

/**
 * Add space to a y range that has grown during a drag, because the bands of standard deviations grow in every frame and
 * redrawing axes takes several.
 * @param {Range} before @param {Range} now @returns {Range}
 */
function addSpare([before, after], [low, high]) {
  const room = low < before || high > after ? SPARE * (high - low) : 0;
  return [low - room, high + room];
}

/**
 * Extend a y range to include further curves, except for very large values.
 * @param {Range} range @param {Line[]} over @returns {Range}
 */
function includeLayers([low, high], over) {
  const maxSize = MAX_LAYER_RATIO * Math.max(-low, high);
  const values = over.flatMap(({ y }) => [...y.filter((value) => Math.abs(value) <= maxSize)]);
  if (!values.length) return [low, high];
  const [least, highest] = [Math.min(...values), Math.max(...values)];
  const pad = PADDING * (Math.max(high, highest) - Math.min(low, least));
  return [least < low ? least - pad : low, highest > high ? highest + pad : high];
}

/** @param {[number, number]} range */
function getWidth([start, stop]) {
  return stop - start;
}

/**
 * Choose the fastest update from the displayed drawing to the next one. During a drag, paths are moved if axes and
 * lines stay the same. At rest, only values are replaced if the change is invisible. After another choice, paths are
 * moved if the panels keep their places, and Plotly draws after that frame.
 * @param {Scene} next @param {Displayed} displayed @param {"moving"|"settled"} phase @returns {Step}
 */
export function planStep(next, { scene, drawn }, phase) {
  if (phase === "moving") return { by: scene && haveSameAxes(scene, next) ? "paths" : "plot", glides: false };
  if (drawn && areAlike(drawn, next)) return { by: "values", glides: false };
  const isQuick = scene !== null && scene.choice !== next.choice && haveSamePanels(scene, next);
  return { by: isQuick ? "paths" : "plot", glides: scene !== null && areDifferent(scene, next) };
}

/** @param {Scene} one @param {Scene} other */
function haveSameAxes(one, other) {
  const toKey = (/** @type {Scene} */ { frame, lines }) =>
    JSON.stringify([frame, lines.map(({ key, colour }) => [key, colour])]);
  return toKey(one) === toKey(other);
}

/**
 * Return whether two drawings have lines in the same panels at the same place and no bands. Axes may differ.
 * @param {Scene} one @param {Scene} other
 */
function haveSamePanels(one, other) {
  const toKey = (/** @type {Scene} */ { frame, lines }) =>
    JSON.stringify(
      [frame, PANELS.filter((name) => lines.some(({ panel }) => panel === name))],
      (name, value) => (name === "x" || name === "range" ? undefined : value),
    );
  return toKey(one) === toKey(other) && ![...one.lines, ...other.lines].some(({ fill }) => fill);
}

/**
 * Return whether curves or axes visibly move between two drawings. Torch's values in place of the browser's move none.
 * @param {Scene} one @param {Scene} other
 */
function areDifferent(one, other) {
  const hasMoved = (/** @type {import("./panels.js").PanelName} */ panel) => {
    const [range, next] = [findPanel(one.frame, panel).range, findPanel(other.frame, panel).range];
    return range.some((end, i) => Math.abs(end - next[i]) > getWidth(next) / 1000);
  };
  return one.choice !== other.choice || PANELS.some(hasMoved);
}

/** Return whether two drawings of a chart look the same. @param {Scene} one @param {Scene} other */
function areAlike(one, other) {
  const toLook = (/** @type {Scene} */ { choice, lines, absent, space }) =>
    JSON.stringify([
      choice,
      lines.map(({ label, colour, width: w, closed, open }) => [
        label,
        colour,
        w,
        closed.length,
        open.length,
      ]),
      absent.map(({ key }) => key),
      space,
    ]);
  return (
    toLook(one) === toLook(other) &&
    !areDifferent(one, other) &&
    one.pixels.every((curve, i) => areNear(curve, other.pixels[i]))
  );
}

/** @param {import("../plotly/svg-paths.js").Pixels} one @param {import("../plotly/svg-paths.js").Pixels} other */
function areNear(one, other) {
  const close = (/** @type {Float64Array} */ some, /** @type {Float64Array} */ others) =>
    some.length === others.length &&
    some.every((value, i) => Object.is(value, others[i]) || Math.abs(value - others[i]) < INVISIBLE_PX);
  return close(one.x, other.x) && close(one.y, other.y);
}

/**
 * Return the index of the line from which a new line is animated: that of the same curve or, for a replaced rule, that
 * of the same colour. Returns −1 if there is none, or for a band, whose outline has two edges.
 * @param {Line} line @param {Scene} scene @param {Scene} before
 */
export function findPredecessor(line, scene, before) {
  if (line.fill) return -1;
  const index = before.lines.findIndex(({ key }) => key === line.key);
  const slot = scene.slots[line.key];
  if (index >= 0 || slot === undefined) return index;
  return before.lines.findIndex(({ key }) => before.slots[key] === slot);
}

/** Return the text about circles, stochastic curves or missing jumps, or "". @param {Scene} scene */
export function describeLines({ lines, isCut, legend }) {
  if (isCut) return `more than ${getSampling().mostKinks} kinks: drawn as a line`;
  if (legend) return legend;
  return lines.some(({ closed, dots }) => !dots && closed.length > 0) ? "● value  ○ limit" : "";
}
