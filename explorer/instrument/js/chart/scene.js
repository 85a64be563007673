// A picture with all that its drawing needs: lines, their place, and the elements they stand in.

import { themeOf } from "./theme.js";
import { element } from "../elements/dom.js";
import { eased, rangeOf } from "./axes.js";
import { circlesText, pixelsOf } from "./paths.js";
import { frameOf } from "./plot.js";
import { shape } from "../elements/svg.js";
import { broadened, linesOf } from "./traces.js";

/** @typedef {import("./traces.js").Line} Line */
/** @typedef {import("./axes.js").Range} Range */
/**
 * ``choice`` is what was chosen, as one text; ``absent`` are the rules without a curve; ``slots`` the place
 * of each rule among the colours.
 * @typedef {{choice: string, lines: Line[], absent: import("./chart.js").Listed[], slots: Object<string, number>,
 *   frame: import("./plot.js").Frame,
 *   pixels: import("./paths.js").Pixels[], theme: import("./theme.js").Theme}} Scene
 */

const UNSEEN = 0.05; // px
const CIRCLE = 12; // px along x that each jump needs for its circles
const ZERO = /** @type {Range} */ ([0, 0]);
const NOWHERE = /** @type {Range} */ ([Infinity, -Infinity]);

/**
 * The elements of a chart: Plotly's, and over it what is drawn while the hand moves.
 * @param {{onReset: () => void, onSave: (format: "png"|"svg") => void}} acts
 */
export function partsOf({ onReset, onSave }) {
  const plot = element("div", { class: "chart-plot", role: "img", "aria-label": "Chart" });
  const circles = shape("g");
  const marks = shape("g");
  const overlay = shape("svg", { class: "chart-overlay", "aria-hidden": "true" });
  overlay.append(circles, marks);
  const named = { "aria-label": "Probe x", "aria-valuenow": 0 };
  const probe = element("div", { class: "chart-probe", role: "slider", tabindex: 0, ...named });
  const buttons = element(
    "div",
    { class: "chart-buttons", onpointerdown: stay, ondblclick: stay },
    button("Reset view", "Back to the whole range (Home)", onReset),
    button("PNG", "Save the chart as a PNG picture", () => onSave("png")),
    button("SVG", "Save the chart as an SVG picture", () => onSave("svg")),
  );
  const layer = element("div", { class: "chart-layer" }, probe, buttons);
  return {
    place: element("div", { class: "chart-place" }, plot, overlay, layer),
    plot,
    circles,
    marks,
    layer,
    probe,
  };
}

/** Keep what happens on a button from the chart below it. @param {Event} event */
function stay(event) {
  event.stopPropagation();
}

/** @param {string} name @param {string} hint @param {() => void} act */
function button(name, hint, act) {
  return element("button", { type: "button", title: hint, onclick: act }, name);
}

/**
 * @param {import("./chart.js").Picture} picture
 * @param {HTMLElement} host
 * @param {HTMLElement} place
 * @param {Scene|null} last of the same theme and size: reading them costs a layout
 * @param {boolean} moving whether the axes of the last stay while they hold the curves
 * @returns {Scene}
 */
export function sceneOf(picture, host, place, last, moving) {
  const theme = last?.theme ?? themeOf(host);
  const [wide, tall] = last ? [last.frame.width, last.frame.height] : [place.clientWidth, place.clientHeight];
  const before = moving ? last : null;
  const [forward, ...gradients] = linesOf(picture);
  const fit = before !== null && width(before.frame.x) !== width(picture.range);
  const range = (/** @type {Line[]} */ some, /** @type {"forward"|"gradient"} */ panel) => {
    const next = rangeOf(some, picture.curves.marks, panel === "gradient" ? (picture.room ?? ZERO) : NOWHERE);
    return before ? eased(before.frame[panel].range, next, fit) : next;
  };
  const ranges = [picture.range, range([forward], "forward"), range(gradients, "gradient")];
  const frame = frameOf(wide, tall, ranges[0], ranges[1], ranges[2], theme.type, before?.frame);
  const drawn = [
    forward,
    ...broadened(gradients, (1.5 * width(frame.gradient.range)) / frame.gradient.height),
  ];
  const lines = drawn.map((line) => uncrowded(line, frame));
  const { op, rules, parameters, g } = picture;
  return {
    choice: JSON.stringify([
      op.key,
      rules.map(({ key, hidden }) => [key, hidden]),
      parameters,
      g,
      picture.range,
    ]),
    lines,
    absent: picture.rules.filter((rule) => !lines.some(({ key }) => key === rule.key)),
    slots: Object.fromEntries(picture.rules.map(({ key, slot }) => [key, slot])),
    frame,
    pixels: lines.map((line) => pixelsOf(line, frame)),
    theme,
  };
}

/**
 * A line without its circles where they would hide it.
 * @param {Line} line
 * @param {import("./plot.js").Frame} frame
 */
function uncrowded(line, { inner }) {
  return line.closed.length * CIRCLE > inner ? { ...line, closed: [], open: [] } : line;
}

/** @param {[number, number]} range */
function width([start, stop]) {
  return stop - start;
}

/**
 * Whether only the paths of lines differ between two scenes.
 * @param {Scene} one
 * @param {Scene} other
 */
export function sameAxes(one, other) {
  const axes = (/** @type {Scene} */ { frame, lines }) =>
    JSON.stringify([frame, lines.map(({ key, colour }) => [key, colour])]);
  return axes(one) === axes(other);
}

/**
 * Whether curves are seen to move from one scene to another; torch's values in place of the browser's do not.
 * @param {Scene} one
 * @param {Scene} other
 */
export function differ(one, other) {
  const apart = (/** @type {"forward"|"gradient"} */ panel) => {
    const [range, next] = [one.frame[panel].range, other.frame[panel].range];
    return range.some((end, i) => Math.abs(end - next[i]) > width(next) / 1000);
  };
  return one.choice !== other.choice || apart("forward") || apart("gradient");
}

/**
 * Whether two scenes cannot be told apart on the screen: torch's values and the browser's, as a rule.
 * @param {Scene} one
 * @param {Scene} other
 */
export function alike(one, other) {
  const look = (/** @type {Scene} */ { choice, lines, absent, frame, theme }) =>
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
      [frame.width, frame.height, theme],
    ]);
  return (
    look(one) === look(other) &&
    !differ(one, other) &&
    one.pixels.every((curve, i) => near(curve, other.pixels[i]))
  );
}

/** @param {import("./paths.js").Pixels} one @param {import("./paths.js").Pixels} other */
function near(one, other) {
  const close = (/** @type {Float64Array} */ some, /** @type {Float64Array} */ others) =>
    some.length === others.length &&
    some.every((value, i) => Object.is(value, others[i]) || Math.abs(value - others[i]) < UNSEEN);
  return close(one.x, other.x) && close(one.y, other.y);
}

/**
 * The line of an earlier scene that a line takes the place of: its own, else that of its colour.
 * @param {Line} line
 * @param {Scene} scene
 * @param {Scene} before
 */
export function predecessor(line, scene, before) {
  const own = before.lines.findIndex(({ key }) => key === line.key);
  const slot = scene.slots[line.key];
  return own >= 0
    ? own
    : before.lines.findIndex(({ key }) => slot !== undefined && before.slots[key] === slot);
}

/** Whether any curve jumps. @param {Scene} scene */
export function hasJumps({ lines }) {
  return lines.some(({ closed }) => closed.length > 0);
}

/**
 * The circles of a line while it moves.
 * @param {Line} line
 * @param {import("./plot.js").Frame} frame
 */
export function circleShapes(line, frame) {
  const drawn = (/** @type {string} */ name, /** @type {number[]} */ at, /** @type {number} */ radius) =>
    shape("path", {
      d: circlesText(line, at, frame, radius),
      stroke: line.colour,
      fill: line.colour,
      class: name,
    });
  return [drawn("chart-open", line.open, 5.5), drawn("chart-closed", line.closed, 4)];
}
