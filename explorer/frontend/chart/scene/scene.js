// The scene of a picture: lines, axes, pixels and grips; and the shortest step from one scene to the next.

import { fillTemplate, joinList } from "../../formula/phrases.js";
import { getSampling } from "../../formula/sampling.js";
import { eased, rangeOf } from "./axes.js";
import { gripsOf } from "./grips.js";
import { levelsOf } from "./levels.js";
import { UNSEEN } from "../plotly/svg-paths.js";
import { pixelsOf } from "./paths.js";
import { down, frameOf, panelOf, partTitle } from "./panels.js";
import { linesOf, underlaid } from "./traces.js";

/** @import { Range } from "./axes.js" */
/** @import { Line } from "./traces.js" */
/**
 * The space of a scene, in px.
 * @typedef {{theme: import("../plotly/theme.js").Theme, width: number, height: number}} Space
 *
 * ``choice`` is the choice as one text; ``isCut`` says that a curve has too many kinks, ``absent`` are the rules without a curve; ``slots`` the index
 * of each rule's colour, ``title`` the heading of the panel of parts, or "", ``legend`` what is beside the means of what draws, or "", ``levels`` the values of an op that rounds
 * to a format.
 * @typedef {{choice: string, title: string, isCut: boolean, legend: string, lines: Line[], absent: import("./picture.js").Listed[], space: Space,
 *   slots: Object<string, number>, levels: number[], frame: import("./panels.js").Frame, pixels: import("../plotly/svg-paths.js").Pixels[],
 *   grips: import("./grips.js").Grip[]}} Scene
 *
 * The scene on the screen; ``drawn`` is Plotly's last one, null if paths were set since.
 * @typedef {{scene: Scene|null, drawn: Scene|null}} Displayed
 * @typedef {{by: "values"|"paths"|"plot", glides: boolean}} Step the part that is exchanged, moved or drawn anew
 */

const [MUCH, ROOM] = [30, 0.06]; // times the height of the rules; a part of it that is kept free
const NARROW = 480; // px: beside a long legend there is no room for the buttons
const SPARE = 0.2; // of a range of bands
const FAR = 1e6; // px
const CIRCLE = 12; // px along x that each jump needs for its circles
const BROADER = 0.09; // of the smallest type on a stage, so that the last row sees each curve
const PANELS = /** @type {const} */ (["forward", "gradient", "part"]);
const ZERO = /** @type {Range} */ ([0, 0]);
const NOWHERE = /** @type {Range} */ ([Infinity, -Infinity]);

/**
 * @param {import("./picture.js").Picture} picture
 * @param {Space} space
 * @param {Scene|null} before whose axes stay while they hold the curves; null at rest
 * @returns {Scene}
 */
export function sceneOf(picture, space, before) {
  const all = linesOf(picture, space.theme.text);
  const own = all.filter(({ over }) => !over);
  const [forward, gradients, parts] = PANELS.map((name) => own.filter(({ panel }) => panel === name));
  const fit = before !== null && width(before.frame.x) !== width(picture.range);
  const lowest = picture.leastRange ?? ZERO;
  const least = { forward: NOWHERE, gradient: picture.learns ? ZERO : lowest, part: lowest };
  const range = (/** @type {Line[]} */ some, /** @type {import("./panels.js").PanelName} */ panel) => {
    const over = all.filter((one) => one.over && one.panel === panel);
    const next = widened(rangeOf(some, picture.curves.marks, least[panel]), over);
    const last = before?.frame[panel];
    if (!last) return next;
    const now = eased(last.range, next, fit);
    return picture.curves.drawn ? spared(last.range, now) : now;
  };
  const ranges = {
    x: picture.range,
    forward: range(forward, "forward"),
    gradient: range(gradients, "gradient"),
    part: picture.learns ? range(parts, "part") : null,
  };
  const frame = frameOf(space, ranges, space.theme.type, before?.frame);
  const over = all.filter((line) => line.over && !line.fill);
  const drawn = [
    ...all.filter(({ fill }) => fill),
    ...forward,
    ...underlaid(gradients),
    ...underlaid(parts),
    ...over,
  ];
  const isCrowded = (/** @type {Line} */ { closed, dots }) => !dots && closed.length * CIRCLE > frame.inner; // circles would hide it
  const broader = BROADER * space.theme.type;
  const lines = drawn.map((line) => ({
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
    title: picture.learns ? partTitle(picture.learns, g) : "",
    lines,
    legend: legendOf(picture, space),
    isCut: Object.values(picture.curves.kinks).includes(null),
    absent: picture.rules.filter((rule) => !lines.some(({ key }) => key === rule.key)),
    slots: Object.fromEntries(picture.rules.map(({ key, slot }) => [key, slot])),
    levels: levelsOf(picture),
    frame,
    pixels: lines.map((line) => pixelsOf(line, frame)),
    space,
    grips: gripsOf(picture),
  };
}

/**
 * Whether a value lies in its panel, or not so far from it that SVG cannot write where.
 * @param {import("./panels.js").Frame} frame
 * @param {Line} line
 * @param {number} y
 */
const isNear = (frame, line, y) => Math.abs(down(panelOf(frame, line.panel), y)) <= FAR;

/** What is beside the means of what draws, and of what there is none. @param {import("./picture.js").Picture} picture @param {Space} space */
function legendOf({ curves, drawnWords: words, op, rules }, { width, theme }) {
  const { y, gradients, drawn } = curves;
  if (!drawn || !words) return "";
  const all = [
    { name: op.label, values: y },
    ...rules.map(({ key, label }) => ({ name: label, values: gradients[key] })),
    { name: words.loss, values: drawn.exact?.y },
  ];
  const lost = all.filter(({ values }) => values && !values.some(Number.isFinite)).map(({ name }) => name);
  const ink = isLight(theme.text) ? words.white : words.black;
  if (lost.length)
    return width < NARROW
      ? fillTemplate(words.lost, { count: String(lost.length) })
      : fillTemplate(words.missing, { what: joinList(lost) });
  if (width < NARROW) return fillTemplate(drawn.exact ? words.short : words.shortMeans, { ink });
  return fillTemplate(drawn.exact ? words.legend : words.means, { ink });
}

/**
 * A range that has grown under a hand, with room for more at both ends: bands widen in every frame, and to draw axes
 * takes as long as several of them.
 * @param {Range} before
 * @param {Range} now
 * @returns {Range}
 */
function spared([before, after], [low, high]) {
  const room = low < before || high > after ? SPARE * (high - low) : 0;
  return [low - room, high + room];
}

/** @param {string} colour as rgb(…) */
const isLight = (colour) =>
  (colour.match(/\d+/g) ?? []).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) > 382;

/**
 * The range of y that holds a layer's lines as well, unless they are much higher.
 * @param {Range} range
 * @param {Line[]} over
 * @returns {Range}
 */
function widened([low, high], over) {
  const most = MUCH * Math.max(-low, high);
  const values = over.flatMap(({ y }) => [...y.filter((value) => Math.abs(value) <= most)]);
  if (!values.length) return [low, high];
  const [least, highest] = [Math.min(...values), Math.max(...values)];
  const pad = ROOM * (Math.max(high, highest) - Math.min(low, least));
  return [least < low ? least - pad : low, highest > high ? highest + pad : high];
}

/** @param {[number, number]} range */
function width([start, stop]) {
  return stop - start;
}

/**
 * The step from the displayed scene to the next. At rest Plotly draws, unless nobody would see a change;
 * while something moves only paths are set, where they are all that differs.
 * @param {Scene} next
 * @param {Displayed} displayed
 * @param {"moving"|"settled"} phase
 * @returns {Step}
 */
export function stepTo(next, { scene, drawn }, phase) {
  if (phase === "moving") return { by: scene && sameAxes(scene, next) ? "paths" : "plot", glides: false };
  if (drawn && alike(drawn, next)) return { by: "values", glides: false };
  return { by: "plot", glides: scene !== null && differ(scene, next) };
}

/** Whether only the paths of lines differ between two scenes. @param {Scene} one @param {Scene} other */
function sameAxes(one, other) {
  const axes = (/** @type {Scene} */ { frame, lines }) =>
    JSON.stringify([frame, lines.map(({ key, colour }) => [key, colour])]);
  return axes(one) === axes(other);
}

/**
 * Whether curves visibly move from one scene to another; torch's values in place of the browser's do not.
 * @param {Scene} one
 * @param {Scene} other
 */
function differ(one, other) {
  const apart = (/** @type {import("./panels.js").PanelName} */ panel) => {
    const [range, next] = [panelOf(one.frame, panel).range, panelOf(other.frame, panel).range];
    return range.some((end, i) => Math.abs(end - next[i]) > width(next) / 1000);
  };
  return one.choice !== other.choice || PANELS.some(apart);
}

/**
 * Whether two scenes look the same on the screen, as torch's values and the browser's do as a rule.
 * @param {Scene} one
 * @param {Scene} other
 */
function alike(one, other) {
  const look = (/** @type {Scene} */ { choice, lines, absent, space }) =>
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
    look(one) === look(other) &&
    !differ(one, other) &&
    one.pixels.every((curve, i) => near(curve, other.pixels[i]))
  );
}

/** @param {import("../plotly/svg-paths.js").Pixels} one @param {import("../plotly/svg-paths.js").Pixels} other */
function near(one, other) {
  const close = (/** @type {Float64Array} */ some, /** @type {Float64Array} */ others) =>
    some.length === others.length &&
    some.every((value, i) => Object.is(value, others[i]) || Math.abs(value - others[i]) < UNSEEN);
  return close(one.x, other.x) && close(one.y, other.y);
}

/**
 * The line of an earlier scene that a line takes the place of: its own, else that of its colour.
 * @param {Line} line a band has none: its ends lead there and back
 * @param {Scene} scene
 * @param {Scene} before
 */
export function predecessor(line, scene, before) {
  if (line.fill) return -1;
  const own = before.lines.findIndex(({ key }) => key === line.key);
  const slot = scene.slots[line.key];
  if (own >= 0 || slot === undefined) return own;
  return before.lines.findIndex(({ key }) => before.slots[key] === slot);
}

/** What is to be known of the lines: what circles are, or that jumps are not drawn. @param {Scene} scene */
export function aboutLines({ lines, isCut, legend }) {
  if (isCut) return `more than ${getSampling().mostKinks} kinks: drawn as a line`;
  if (legend) return legend;
  return lines.some(({ closed, dots }) => !dots && closed.length > 0) ? "● value  ○ limit" : "";
}
