// A further multiple-choice question in a lesson, with a reply to each answer.

import { element } from "../../elements/dom.js";
import { createQuestion } from "./question.js";

/**
 * A question, as Asked in explorer/lessons/pictures.py. Each answer has a reply; ``right``: index of the right one.
 * @typedef {{ask: string, answers: [string, string][], right: number}} Asked
 */

/** Return the reply to an answer. @param {Asked} asked @param {number} picked its index */
export function getReply({ answers, right }, picked) {
  return `${picked === right ? "Yes." : "Try again."} ${answers[picked][1]}`;
}

/**
 * Create a multiple-choice question of a lesson.
 * @param {Asked} asked @param {{onRight: () => void}} options @returns {import("./pictures.js").Picture}
 */
export function createAsked(asked, { onRight }) {
  const options = asked.answers.map(([text]) => [text]);
  const onDecide = (/** @type {number} */ picked) => [getReply(asked, picked)];
  const form = createQuestion({
    ...{ ask: [asked.ask], options, decide: "Check", onDecide },
    ...{ right: asked.right, onRight },
  });
  return { element: element("section", { class: "asked" }, form), follow: () => undefined };
}
