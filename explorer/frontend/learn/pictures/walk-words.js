// Sentences about a walker: its target, an estimator's mean and deviation, and the ends of runs.

/** @import { Control, Measured } from "./walk.js" */

const ZERO = 5e-7; // a bias or gradient below this is 0 up to rounding

/** Format a gradient with its sign. @param {number} value */
export function formatGradient(value) {
  const text = Math.abs(value).toFixed(4);
  if (Number(text) === 0) return text;
  return `${value < 0 ? "−" : "+"}${text}`;
}

/** Format a standard deviation. @param {number} sd */
export const formatDeviation = (sd) => sd.toFixed(4);

/** Format a share in percent, without the unit, which is in the column's header. @param {number} share */
export const formatShare = (share) => (100 * share).toFixed(1);

/**
 * Describe the direction in which p should go, and the estimator at p.
 * @param {string} name
 * @param {Measured} measured
 */
export function describeEstimator(name, { mean, sd, exact }) {
  const goal = Math.abs(exact) < ZERO ? "every p is as good" : `p should go to ${exact > 0 ? 0 : 1}`;
  const aim = `The exact gradient is ${formatGradient(exact)}: ${goal}.`;
  return `${aim} ${name} ${describeBias(mean, exact)}${describeSpread(sd, exact)}.`;
}

/** Describe the mean of an estimator. @param {number} mean @param {number} exact */
function describeBias(mean, exact) {
  if (Math.abs(mean - exact) < ZERO) return "is right on average";
  const wrong = mean * exact < 0 && Math.abs(exact) >= ZERO ? ", the wrong way" : "";
  return `returns ${formatGradient(mean)} on average${wrong}`;
}

/** Describe the standard deviation of an estimator. @param {number} sd @param {number} exact */
function describeSpread(sd, exact) {
  const times = sd / Math.abs(exact);
  const compared = Math.abs(exact) < ZERO ? "" : `, ${times.toFixed(1)} times the exact gradient`;
  return `; a draw strays from that by ${formatDeviation(sd)}${compared}`;
}

/** Describe the ends of walks by the mean. @param {{rests: number[], ends: number[]}} ends from ``findEnds`` */
export function describeEnds({ rests, ends }) {
  const places = [...rests.map((p) => p.toFixed(2)), ...ends.map(String)];
  if (!places.length) return "On average it stays where it is.";
  const verb = rests.length ? "comes to rest" : "leads";
  const target = places.map((place) => `p = ${place}`).join(" or ");
  return `Its mean ${verb} ${rests.length ? "at" : "to"} ${target}.`;
}

/**
 * Describe the positions of runs after the last step.
 * @param {{above: number, below: number}} counts
 * @param {number} runs
 * @param {number} steps
 */
export function describeRuns({ above, below }, runs, steps) {
  const [up, total, down] = [above, runs, below].map((count) => count.toLocaleString("en-US"));
  return `After ${steps} steps ${up} of ${total} runs are above p = 0.5, ${down} below.`;
}

/** Describe the position of the walk by the mean after its last step. @param {number} p @param {number} steps */
export const describeWalk = (p, steps) => `By its mean p is ${p.toFixed(3)} after ${steps} steps.`;
