// Descriptions of a gradient's shape in words, for screen readers.

import { formatFourDigits } from "../formula/substitution.js";

const LEVEL = 1e-3; // fraction of the curve's height; smaller changes between points are invisible
const MAX_PARTS = 6;
const VERBS = /** @type {Object<string, string>} */ ({ "-1": "falls to ", 0: "", 1: "rises to " });

/** Format a number with two significant digits, 0 below 1e-6: as accurate as a drawing. @param {number} value */
export const roundText = (value) =>
  formatFourDigits(Math.abs(value) < 1e-6 ? 0 : Number(value.toPrecision(2)));

/**
 * Describe a curve from left to right, as in "0 until x = −1, then rises to 2".
 * @param {ArrayLike<number>} x positions in ascending order @param {ArrayLike<number>} y a finite value for each x
 */
export function describeShape(x, y) {
  const values = Array.from(y);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const parts = splitParts(values, LEVEL * (high - low));
  if (parts.length === 1 && parts[0].turn === 0) return `${roundText(low)} everywhere`;
  if (parts.length > MAX_PARTS) return `up and down between ${roundText(low)} and ${roundText(high)}`;
  const last = parts.length - 1;
  const digits = -Math.floor(Math.log10((x[x.length - 1] - x[0]) / 20)); // decimals that matter on a chart
  const texts = parts.map(({ turn, end }, index) => {
    const limit =
      index === last ? "" : ` until x = ${roundText(Number(x[end].toFixed(Math.max(digits, 0))))}`;
    return `${index && index === last ? "then " : ""}${VERBS[turn]}${roundText(values[end])}${limit}`;
  });
  return texts.join(", ");
}

/**
 * Split a curve into parts that rise, fall or stay level. A part also ends at a jump.
 * @param {number[]} values @param {number} level a change up to this is level
 */
function splitParts(values, level) {
  const turns = values
    .slice(1)
    .map((value, i) => (Math.abs(value - values[i]) <= level ? 0 : Math.sign(value - values[i])));
  const parts = /** @type {{turn: number, length: number, end: number}[]} */ ([]);
  turns.forEach((turn, i) => {
    const run = parts[parts.length - 1];
    if (run?.turn === turn) Object.assign(run, { length: run.length + 1, end: i + 1 });
    else parts.push({ turn, length: 1, end: i + 1 });
  });
  const lasting = parts.filter(({ turn, length }) => length > 1 || turn === 0);
  return lasting.length ? lasting : parts;
}
