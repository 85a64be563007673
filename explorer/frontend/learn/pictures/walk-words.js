// Sentences about the training of one random unit: mean and noise of a gradient estimator, and where its runs end.

/** @import { Measured } from "./walk.js" */

const ZERO = 5e-7; // smaller biases and gradients are 0 up to rounding

/** Format a gradient with its sign and four decimals. @param {number} value */
export function formatGradient(value) {
  const text = Math.abs(value).toFixed(4);
  if (Number(text) === 0) return text;
  return `${value < 0 ? "−" : "+"}${text}`;
}

/** Format a standard deviation with four decimals. @param {number} sd */
export const formatDeviation = (sd) => sd.toFixed(4);

/** Format a fraction in percent, without the unit. @param {number} share */
export const formatShare = (share) => (100 * share).toFixed(1);

/**
 * Describe in which direction p should go, and the bias and noise of a gradient estimator.
 * @param {string} name the estimator @param {Measured} measured
 */
export function describeEstimator(name, { mean, sd, exact }) {
  const goal = Math.abs(exact) < ZERO ? "every p is as good" : `p should go to ${exact > 0 ? 0 : 1}`;
  const aim = `The exact gradient is ${formatGradient(exact)}: ${goal}.`;
  return `${aim} ${name} ${describeBias(mean, exact)}${describeSpread(sd, exact)}.`;
}

/** @param {number} mean @param {number} exact */
function describeBias(mean, exact) {
  if (Math.abs(mean - exact) < ZERO) return "is right on average";
  const wrong = mean * exact < 0 && Math.abs(exact) >= ZERO ? ", the wrong way" : "";
  return `returns ${formatGradient(mean)} on average${wrong}`;
}

/** @param {number} sd @param {number} exact */
function describeSpread(sd, exact) {
  const times = sd / Math.abs(exact);
  const compared = Math.abs(exact) < ZERO ? "" : `, ${times.toFixed(1)} times the exact gradient`;
  return `; a draw strays from that by ${formatDeviation(sd)}${compared}`;
}

/**
 * Describe where training by the mean of an estimator ends.
 * @param {{rests: number[], ends: number[]}} ends the p from ``findEnds``
 */
export function describeEnds({ rests, ends }) {
  const places = [...rests.map((p) => p.toFixed(2)), ...ends.map(String)];
  if (!places.length) return "On average it stays where it is.";
  const verb = rests.length ? "comes to rest" : "leads";
  const target = places.map((place) => `p = ${place}`).join(" or ");
  return `Its mean ${verb} ${rests.length ? "at" : "to"} ${target}.`;
}

/**
 * Describe how many training runs end above and below p = 1/2.
 * @param {{above: number, below: number}} counts @param {number} runs their number @param {number} steps
 */
export function describeRuns({ above, below }, runs, steps) {
  const [up, total, down] = [above, runs, below].map((count) => count.toLocaleString("en-US"));
  return `After ${steps} steps ${up} of ${total} runs are above p = 0.5, ${down} below.`;
}

/**
 * Describe where training by the mean of an estimator has arrived.
 * @param {number} p the p after the last step @param {number} steps
 */
export const describeWalk = (p, steps) => `By its mean p is ${p.toFixed(3)} after ${steps} steps.`;
