// What lies around the means of a pair that draws: bands of a standard deviation, single draws, the exact gradient.

import { KINK } from "../../formula/curves.js";
import { jumps } from "./jumps.js";

/** @import { Floats } from "./jumps.js" */
/** @import { Line } from "./traces.js" */
/** @import { Picture } from "./picture.js" */
/** @typedef {{key: string, of: {key: string, label: string, colour: string}, panel: "forward"|"gradient", mean: Floats|null,
 *   draws: Float64Array|undefined}} Around */

const WIDTH = 2;
const PAST = 0.3; // of the colour of an exact gradient that is another choice's
const OVER = { over: true, open: [] };

/**
 * The bands, which lie under all curves; none where nothing is drawn.
 * @param {Picture} picture
 * @returns {Line[]}
 */
export function bandsOf(picture) {
  const { x, drawn, kinks } = picture.curves;
  return around(picture).flatMap(({ key, of, panel, mean }) => {
    const spread = drawn?.spread[key];
    if (!mean || !spread) return [];
    const { gaps } = jumps(picture.curves, mean, kinks[key] ?? []);
    const named = { ...OVER, key: `band ${key}`, label: "", colour: of.colour, rule: of.key };
    return [{ ...named, panel, width: 0, fill: true, closed: [], ...outline(x, mean, spread, gaps) }];
  });
}

/**
 * Single draws, and the exact gradient in the colour of letters, faded while it is another choice's.
 * @param {Picture} picture
 * @param {string} ink
 * @returns {Line[]}
 */
export function drawsOf(picture, ink) {
  const { drawn } = picture.curves;
  if (!drawn) return [];
  const dots = around(picture).flatMap(({ key, of, panel, draws: y }) => {
    if (!y) return [];
    const { x } = drawn.draws;
    const named = { ...OVER, key: `draws ${key}`, label: "", colour: of.colour, rule: of.key };
    const all = { gaps: new Uint8Array(x.length).fill(1), closed: [...x.keys()], dots: true };
    return [{ ...named, panel, width: 0, x, y, ...all }];
  });
  if (!drawn.exact) return dots;
  const { x, marks, y, isPast } = drawn.exact;
  const { gaps } = jumps(
    drawn.exact,
    y,
    [...x].filter((_, at) => marks[at] === KINK),
  );
  const named = { ...OVER, key: "exact", label: "", colour: isPast ? seeThrough(ink, PAST) : ink, rule: "" };
  return [...dots, { ...named, panel: "gradient", width: WIDTH, x, y, gaps, closed: [], solid: true }];
}

/** A colour that what lies under it shows through. @param {string} colour as #rrggbb or rgb(…) @param {number} opacity */
export function seeThrough(colour, opacity) {
  const [r, g, b] = colour.startsWith("#")
    ? [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16))
    : (colour.match(/[\d.]+/g) ?? []).map(Number);
  return `rgba(${r}, ${g}, ${b}, ${opacity})`;
}

/** The op and each rule that is shown. @param {Picture} picture @returns {Around[]} */
function around({ curves: { y, gradients, drawn }, op, rules, neutral }) {
  if (!drawn) return [];
  const of = { key: "", label: op.label, colour: neutral };
  const visible = rules.filter(({ hidden, key }) => !hidden && gradients[key]);
  return [
    { key: "forward", of, panel: "forward", mean: y, draws: drawn.draws.y },
    ...visible.map((rule) => ({
      key: rule.key,
      of: rule,
      panel: /** @type {const} */ ("gradient"),
      mean: gradients[rule.key],
      draws: drawn.draws.gradients[rule.key],
    })),
  ];
}

/**
 * The outline of a band: a ring for each stretch without a gap, there along the upper end, back along the lower one.
 * @param {Floats} x
 * @param {Floats} mean
 * @param {Floats} spread
 * @param {Uint8Array} gaps
 */
function outline(x, mean, spread, gaps) {
  /** @type {{x: number[], y: number[], gaps: number[]}} */
  const ring = { x: [], y: [], gaps: [] };
  /** @type {number[]} */
  let stretch = [];
  const close = () => {
    const back = stretch.toReversed();
    ring.x.push(...stretch.map((i) => x[i]), ...back.map((i) => x[i]));
    ring.y.push(...stretch.map((i) => mean[i] + spread[i]), ...back.map((i) => mean[i] - spread[i]));
    ring.gaps.push(...[...stretch, ...back].map((_, at) => Number(at === 2 * stretch.length - 1)));
    stretch = [];
  };
  for (let i = 0; i < x.length; i += 1) {
    const isThere = Number.isFinite(mean[i]) && Number.isFinite(spread[i]);
    if (isThere) stretch.push(i);
    if (stretch.length && (!isThere || gaps[i])) close();
  }
  if (stretch.length) close();
  return { x: Float64Array.from(ring.x), y: Float64Array.from(ring.y), gaps: Uint8Array.from(ring.gaps) };
}
