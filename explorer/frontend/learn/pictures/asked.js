// A further question of a lesson: answers to pick from, and what is said to each.

import { element } from "../../elements/dom.js";
import { createQuestion } from "./question.js";

/** See Asked in explorer/lessons/pictures.py. @typedef {{ask: string, answers: [string, string][], right: number}} Asked */

/** What is said to an answer. @param {Asked} asked @param {number} picked */
export function replyOf({ answers, right }, picked) {
  return `${picked === right ? "Yes." : "Try again."} ${answers[picked][1]}`;
}

/**
 * @param {Asked} asked
 * @returns {import("./pictures.js").Picture}
 */
export function createAsked(asked) {
  const options = asked.answers.map(([text]) => [text]);
  const onDecide = (/** @type {number} */ picked) => [replyOf(asked, picked)];
  const form = createQuestion({ ask: [asked.ask], options, decide: "Check", onDecide });
  return { element: element("section", { class: "asked" }, form), follow: () => undefined };
}
