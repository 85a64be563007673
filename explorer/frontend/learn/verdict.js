// Replies to the reader's prediction of a lesson's answer.

import { pickX, interpolateAt } from "./judging.js";
import { formatFourDigits } from "../formula/substitution.js";
import { roundText } from "./shape.js";

/** @import { Curve, Deviation, Judgement } from "./judging.js" */
/**
 * An answer to choose from, with the reply (``why``) to readers who pick it.
 * @typedef {{text: string, why: string, picture: string|null}} Answer
 */

const RETRY_TEXT = "Try again, or see the answer.";
/** What a student of a class is told who has changed a prediction that the class has. */
export const UNSENT_TEXT = "Changed, but not sent: your earlier answer still counts.";

/** Return the reply to a right answer. @param {Answer} answer */
export const describeRight = ({ text, why }) => `Yes${text ? `, “${text}”` : ""}. ${why}`;

/** Return the reply to a wrong answer, or to a drawing that resembles one. @param {Answer} answer */
export const describeWrong = ({ text, why }) =>
  `Not${text ? ` “${text}”` : " this one"}. ${why} ${RETRY_TEXT}`;

/** Return the text for a student whose prediction has arrived. @param {string} name the prediction in words */
export const describeSent = (name) => `Sent: ${name}. You can change it until the answers are shown.`;

/** Return the text for a reader who asks for the answer. @param {Omit<Answer, "picture">} answer */
export const describeAnswer = ({ text, why }) => (text ? `The answer is “${text}”. ${why}` : why);

/**
 * Return the reply to a drawing without errors, which may be incomplete.
 * @param {Judgement} judgement
 */
export function describeRightDrawing({ whole, share }) {
  if (whole) return "Yes, close enough for a hand.";
  return `Right so far: you drew ${Math.round(100 * share)} % of the range. Draw the rest, or see the answer.`;
}

/**
 * Return the reply to a wrong drawing, without the true values. The chart is red where it is wrong.
 * @param {Judgement} judgement @param {Curve} drawn
 */
export function describeWrongDrawing({ deviations }, drawn) {
  const x = pickX(findWorst(deviations));
  const there = `At x = ${formatFourDigits(x)} you drew ${roundText(interpolateAt(drawn, x))}.`;
  return `Not yet. Look again where it is red. ${there} ${RETRY_TEXT}`;
}

/**
 * Return the reply to a wrong drawing once the answer is revealed: where it is wrong, and by how much.
 * @param {Judgement} judgement @param {Curve} drawn @param {Curve} truth
 */
export function describeDistance({ deviations }, drawn, truth) {
  const x = pickX(findWorst(deviations));
  const [own, right] = [drawn, truth].map((curve) => roundText(interpolateAt(curve, x)));
  return `At x = ${formatFourDigits(x)} you drew ${own}; the gradient there is ${right}.`;
}

/**
 * Compare the value that the reader has drawn at an x with the value of each rule.
 * @param {number} x @param {number} guess the drawn value, or NaN @param {{label: string, value: number}[]} rules
 */
export function describePoint(x, guess, rules) {
  const returns = rules.map(({ label, value }) => `${label} returns ${roundText(value)}`).join(", ");
  return Number.isNaN(guess)
    ? `At x = ${roundText(x)} ${returns}.`
    : `At x = ${roundText(x)}, which is not judged, you expect ${roundText(guess)}: ${returns}.`;
}

/**
 * Return the first sentences for a student of a class when the answers are revealed, with a space at the end, or "".
 * @param {{hasAnswered: boolean, isRight: boolean, hasArrived: boolean, isLatest: boolean, isSent: boolean}} outcome
 *   ``hasArrived``: whether the class has an answer of the student; ``isLatest``: whether it is the one on the screen;
 *   ``isSent``: whether the student has sent the one on the screen
 */
export function describeOutcome({ hasAnswered, isRight, hasArrived, isLatest, isSent }) {
  if (!hasAnswered) return hasArrived ? "" : "You have not answered. ";
  const late = `${hasArrived ? "change" : "answer"} ${isSent ? "did not arrive" : "was not sent"}`;
  const counted =
    hasArrived && isLatest ? "" : `Your ${late} before the answers were shown: it is not counted. `;
  return `${counted}${isRight ? "" : "Not right. "}`;
}

/** Return the wrong part of a drawing with the largest area. @param {Deviation[]} deviations */
function findWorst(deviations) {
  const getArea = (/** @type {Deviation} */ { from, to, peak }) => (to - from) * peak;
  return deviations.reduce((worst, other) => (getArea(other) > getArea(worst) ? other : worst));
}
