// How far a predicted gradient is from the true one, in words.

import { about } from "./shape.js";

/** What somebody expects at an x; NaN where nothing. @typedef {(x: number) => number} Guess */
/**
 * ``mean`` over all x of the even grid that have a guess, ``far`` where it is worst, ``share`` of the grid
 * that has one, ``size`` of the true gradient.
 * @typedef {{mean: number, far: {x: number, guess: number, truth: number}, share: number, size: number}} Distance
 */

const CLOSE = 0.1; // of the size of the gradient: as well as a hand draws
const WHOLE = 0.9;

/**
 * The distance between a guess and a sampled gradient; null where there is nothing to compare.
 * @param {Guess} guess
 * @param {{x: ArrayLike<number>, y: ArrayLike<number>, marks: ArrayLike<number>}} truth
 * @returns {Distance|null}
 */
export function distanceOf(guess, { x, y, marks }) {
  const even = Array.from(x, (_, i) => i).filter((i) => !marks[i] && Number.isFinite(y[i]));
  const guessed = even
    .map((i) => ({ x: x[i], guess: guess(x[i]), truth: y[i] }))
    .filter((at) => Number.isFinite(at.guess));
  if (!guessed.length) return null;
  const gap = (/** @type {{guess: number, truth: number}} */ at) => Math.abs(at.guess - at.truth);
  return {
    mean: guessed.reduce((sum, at) => sum + gap(at), 0) / guessed.length,
    far: guessed.reduce((worst, at) => (gap(at) > gap(worst) ? at : worst)),
    share: guessed.length / even.length,
    size: Math.max(1, ...even.map((i) => Math.abs(y[i]))),
  };
}

/**
 * The distance as sentences.
 * @param {Distance} distance
 * @param {string} name of the true gradient
 */
export function distanceWords({ mean, far, share, size }, name) {
  const part = share < WHOLE ? ` You drew ${Math.round(100 * share)} % of the range.` : "";
  if (mean === 0) return `Yes, exactly: this is ${name}.${part}`;
  const apart = `on average ${about(mean)} from ${name}`;
  if (mean <= CLOSE * size) return `Yes, as well as a hand draws: ${apart}.${part}`;
  const { x, guess, truth } = far;
  return `Not quite: ${apart}. Farthest at x = ${about(x)}: you expect ${about(guess)}, it is ${about(truth)}.${part}`;
}

/**
 * What was expected at one x, and what each rule returns there.
 * @param {number} x
 * @param {number} guess NaN where there is none
 * @param {{label: string, value: number}[]} rules
 */
export function pointWords(x, guess, rules) {
  const found = rules.map(({ label, value }) => `${label} returns ${about(value)}`).join(", ");
  return Number.isNaN(guess)
    ? `At x = ${about(x)} ${found}.`
    : `At x = ${about(x)} you expect ${about(guess)}: ${found}.`;
}
