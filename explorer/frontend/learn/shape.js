// The shape of a gradient in words, for screen readers.

import { formatFourDigits } from "../formula/substitution.js";

const LEVEL = 1e-3; // of the height of the curve, from one point to the next: that is no slope to the eye
const MOST_PARTS = 6;
const VERBS = /** @type {Object<string, string>} */ ({ "-1": "falls to ", 0: "", 1: "rises to " });

/** A number as exactly as a hand draws. @param {number} value */
export const about = (value) => formatFourDigits(Number(value.toPrecision(2)) + 0);

/**
 * The parts of a curve from the left to the right, "0 until x = −1, then rises to 2".
 * @param {ArrayLike<number>} x ascending
 * @param {ArrayLike<number>} y as many, finite
 */
export function shapeWords(x, y) {
  const values = Array.from(y);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const parts = partsOf(values, LEVEL * (high - low));
  if (parts.length === 1 && parts[0].turn === 0) return `${about(low)} everywhere`;
  if (parts.length > MOST_PARTS) return `up and down between ${about(low)} and ${about(high)}`;
  const last = parts.length - 1;
  const digits = -Math.floor(Math.log10((x[x.length - 1] - x[0]) / 20)); // as exactly as a picture shows it
  const texts = parts.map(({ turn, end }, index) => {
    const until = index === last ? "" : ` until x = ${about(Number(x[end].toFixed(Math.max(digits, 0))))}`;
    return `${index && index === last ? "then " : ""}${VERBS[turn]}${about(values[end])}${until}`;
  });
  return texts.join(", ");
}

/**
 * Runs of one direction; a jump from one point to the next ends a run and is none.
 * @param {number[]} values @param {number} level
 */
function partsOf(values, level) {
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
