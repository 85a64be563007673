// What is said of a walker: where p should go, what an estimator does on average and by single draws, where runs end.

/** @import { Control, Measured } from "./walk.js" */

const NOTHING = 5e-7; // a bias or a gradient that is 0 but for rounding

/** A gradient with its sign. @param {number} value */
export function gradientText(value) {
  const text = Math.abs(value).toFixed(4);
  if (Number(text) === 0) return text;
  return `${value < 0 ? "−" : "+"}${text}`;
}

/** A standard deviation. @param {number} sd */
export const spreadText = (sd) => sd.toFixed(4);

/** A share in percent, of which the column's head says so. @param {number} share */
export const shareText = (share) => (100 * share).toFixed(1);

/**
 * Where p should go, and what the estimator does here.
 * @param {string} name
 * @param {Measured} measured
 */
export function hereWords(name, { mean, sd, exact }) {
  const toward = Math.abs(exact) < NOTHING ? "every p is as good" : `p should go to ${exact > 0 ? 0 : 1}`;
  const aim = `The exact gradient is ${gradientText(exact)}: ${toward}.`;
  return `${aim} ${name} ${biasWords(mean, exact)}${spreadWords(sd, exact)}.`;
}

/** @param {number} mean @param {number} exact */
function biasWords(mean, exact) {
  if (Math.abs(mean - exact) < NOTHING) return "is right on average";
  const wrong = mean * exact < 0 && Math.abs(exact) >= NOTHING ? ", the wrong way" : "";
  return `returns ${gradientText(mean)} on average${wrong}`;
}

/** @param {number} sd @param {number} exact */
function spreadWords(sd, exact) {
  const times = sd / Math.abs(exact);
  const compared = Math.abs(exact) < NOTHING ? "" : `, ${times.toFixed(1)} times the exact gradient`;
  return `; a draw strays from that by ${spreadText(sd)}${compared}`;
}

/**
 * Where its mean leads.
 * @param {{rests: number[], ends: number[]}} ends as of endsOf
 */
export function endWords({ rests, ends }) {
  const places = [...rests.map((p) => p.toFixed(2)), ...ends.map(String)];
  if (!places.length) return "On average it stays where it is.";
  const verb = rests.length ? "comes to rest" : "leads";
  const where = places.map((place) => `p = ${place}`).join(" or ");
  return `Its mean ${verb} ${rests.length ? "at" : "to"} ${where}.`;
}

/**
 * Where runs are after the last step.
 * @param {{above: number, below: number}} counts
 * @param {number} runs
 * @param {number} steps
 */
export function runWords({ above, below }, runs, steps) {
  const [up, of, down] = [above, runs, below].map((count) => count.toLocaleString("en-US"));
  return `After ${steps} steps ${up} of ${of} runs are above p = 0.5, ${down} below.`;
}

/** Where the walk by the mean is after its last step. @param {number} p @param {number} steps */
export const walkWords = (p, steps) => `By its mean p is ${p.toFixed(3)} after ${steps} steps.`;
