// Sentences on a prediction.

import { nameOf, valueAt } from "./judging.js";
import { formatFourDigits } from "../formula/substitution.js";
import { about } from "./shape.js";

/** @import { Curve, Excursion, Judgement } from "./judging.js" */
/**
 * An answer of a lesson, with the sentence of its own.
 * @typedef {{text: string, why: string, picture: string|null}} Answer
 */

const AGAIN = "Try again, or see the answer.";

/** Of a picked answer that is right. @param {Answer} answer */
export const rightWords = ({ text, why }) => `Yes${text ? `, “${text}”` : ""}. ${why}`;

/** Of a picked answer, or of a drawing that looks like one, that is not right. @param {Answer} answer */
export const wrongWords = ({ text, why }) => `Not${text ? ` “${text}”` : " this one"}. ${why} ${AGAIN}`;

/** Of the right answer, for who asks for it. @param {Answer} answer */
export const answerWords = ({ text, why }) => (text ? `The answer is “${text}”. ${why}` : why);

/**
 * Of a drawing that is right as far as it goes.
 * @param {Judgement} judgement
 * @param {string} name of the true gradient
 */
export function drawnRightWords({ mean, whole, share }, name) {
  if (whole) return `Yes, as well as a hand draws: on average ${about(mean)} from ${name}.`;
  return `Right so far: you drew ${Math.round(100 * share)} % of the range. Draw the rest, or see the answer.`;
}

/**
 * Of a drawing that is not right and looks like no other
 * answer: where it leaves the gradient, not what is there.
 * @param {Judgement} judgement
 * @param {Curve} drawn
 */
export function drawnWrongWords({ excursions }, drawn) {
  const x = nameOf(worstOf(excursions));
  const places = excursions.length > 2 ? `in ${excursions.length} places, among them` : "";
  return `Not yet. Look again ${places || "near"} x = ${formatFourDigits(x)}, where you drew ${about(valueAt(drawn, x))}. ${AGAIN}`;
}

/**
 * Of a drawing that was not right, once the answer is revealed.
 * @param {Judgement} judgement
 * @param {Curve} drawn
 * @param {Curve} truth
 * @param {string} name of the true gradient
 */
export function apartWords({ mean, excursions }, drawn, truth, name) {
  const x = nameOf(worstOf(excursions));
  const apart = `Your drawing is on average ${about(mean)} from ${name}.`;
  return `${apart} At x = ${formatFourDigits(x)} you drew ${about(valueAt(drawn, x))}; it is ${about(valueAt(truth, x))}.`;
}

/**
 * The value expected at one x, and what each rule returns there.
 * @param {number} x
 * @param {number} guess NaN where there is none
 * @param {{label: string, value: number}[]} rules
 */
export function pointWords(x, guess, rules) {
  const returns = rules.map(({ label, value }) => `${label} returns ${about(value)}`).join(", ");
  return Number.isNaN(guess)
    ? `At x = ${about(x)} ${returns}.`
    : `At x = ${about(x)} you expect ${about(guess)}: ${returns}.`;
}

/** The widest stretch where a drawing is wrong. @param {Excursion[]} excursions */
function worstOf(excursions) {
  const area = (/** @type {Excursion} */ { from, to, peak }) => (to - from) * peak;
  return excursions.reduce((worst, one) => (area(one) > area(worst) ? one : worst));
}
