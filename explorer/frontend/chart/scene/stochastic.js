// Additions for stochastic ops and rules: standard deviation bands, single random values, and the unbiased gradient.

import { parseColour } from "../../elements/colours.js";
import { KINK } from "../../formula/curves.js";
import { findJumps } from "./jumps.js";

/** @import { Floats } from "./jumps.js" */
/** @import { Line } from "./traces.js" */
/** @import { Picture } from "./picture.js" */
/**
 * The mean curve of the op or a rule. ``draws``: single random values.
 * @typedef {{key: string, of: {key: string, label: string, colour: string}, panel: "forward"|"gradient", mean:
 *   Floats|null, draws: Float64Array|undefined}} MeanCurve
 */

const WIDTH = 2;
const PAST_OPACITY = 0.3; // opacity of an unbiased gradient from before the current drag
const OVER = { over: true, open: [] };

/**
 * Return a band of one standard deviation around each mean curve, or [] if nothing is stochastic.
 * @param {Picture} picture @returns {Line[]}
 */
export function makeSpreadBands(picture) {
  const { x, drawn: stochastic, kinks } = picture.curves;
  return listMeanCurves(picture).flatMap(({ key, of, panel, mean }) => {
    const spread = stochastic?.spread[key];
    if (!mean || !spread) return [];
    const { gaps } = findJumps(picture.curves, mean, kinks[key] ?? []);
    const named = { ...OVER, key: `band ${key}`, label: "", colour: of.colour, rule: of.key };
    return [{ ...named, panel, width: 0, fill: true, closed: [], ...traceOutline(x, mean, spread, gaps) }];
  });
}

/**
 * Return the dots of single random values, and the line of the unbiased gradient. The line is faded if it belongs to
 * earlier settings.
 * @param {Picture} picture @param {string} ink the text colour, for that line @returns {Line[]}
 */
export function makeDrawLines(picture, ink) {
  const { drawn: stochastic } = picture.curves;
  if (!stochastic) return [];
  const dots = listMeanCurves(picture).flatMap(({ key, of, panel, draws: y }) => {
    if (!y) return [];
    const { x } = stochastic.draws;
    const named = { ...OVER, key: `draws ${key}`, label: "", colour: of.colour, rule: of.key };
    const all = { gaps: new Uint8Array(x.length).fill(1), closed: [...x.keys()], dots: true };
    return [{ ...named, panel, width: 0, x, y, ...all }];
  });
  if (!stochastic.exact) return dots;
  const { x, marks, y, isPast } = stochastic.exact;
  const { gaps } = findJumps(
    stochastic.exact,
    y,
    [...x].filter((_, at) => marks[at] === KINK),
  );
  const named = {
    ...OVER,
    key: "exact",
    label: "",
    colour: isPast ? makeTranslucent(ink, PAST_OPACITY) : ink,
    rule: "",
  };
  return [...dots, { ...named, panel: "gradient", width: WIDTH, x, y, gaps, closed: [], solid: true }];
}

/** Return a colour with an opacity as "rgba(…)". @param {string} colour #rrggbb or rgb(…) @param {number} opacity */
export function makeTranslucent(colour, opacity) {
  return `rgba(${parseColour(colour).join(", ")}, ${opacity})`;
}

/** @param {Picture} picture @returns {MeanCurve[]} */
function listMeanCurves({ curves: { y, gradients, drawn }, op, rules, neutral }) {
  if (!drawn) return [];
  const opSource = { key: "", label: op.label, colour: neutral };
  const visible = rules.filter(({ hidden, key }) => !hidden && gradients[key]);
  return [
    { key: "forward", of: opSource, panel: "forward", mean: y, draws: drawn.draws.y },
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
 * Return the outline of a band around a mean curve. Each interval without a gap is a ring: along the upper edge, and
 * back along the lower one.
 * @param {Floats} x @param {Floats} mean @param {Floats} spread half the width of the band
 * @param {Uint8Array} gaps as in ``Line``
 */
function traceOutline(x, mean, spread, gaps) {
  /** @type {{x: number[], y: number[], gaps: number[]}} */
  const ring = { x: [], y: [], gaps: [] };
  /** @type {number[]} */
  let interval = [];
  const close = () => {
    const back = interval.toReversed();
    ring.x.push(...interval.map((i) => x[i]), ...back.map((i) => x[i]));
    ring.y.push(...interval.map((i) => mean[i] + spread[i]), ...back.map((i) => mean[i] - spread[i]));
    ring.gaps.push(...[...interval, ...back].map((_, at) => Number(at === 2 * interval.length - 1)));
    interval = [];
  };
  for (let i = 0; i < x.length; i += 1) {
    const isThere = Number.isFinite(mean[i]) && Number.isFinite(spread[i]);
    if (isThere) interval.push(i);
    if (interval.length && (!isThere || gaps[i])) close();
  }
  if (interval.length) close();
  return { x: Float64Array.from(ring.x), y: Float64Array.from(ring.y), gaps: Uint8Array.from(ring.gaps) };
}
