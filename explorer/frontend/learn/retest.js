// Two fresh questions at the end of a lesson: who answers both has learned it.

import { element } from "../elements/dom.js";
import { coloured } from "./code.js";
import { learn, twoFresh } from "./memory.js";
import { createQuestion } from "./pictures/question.js";
import { inline } from "./words.js";

/** @import { OnTerm } from "./words.js" */
/** @import { Spans } from "./code.js" */
/** @typedef {{ask: string, code: Spans, answers: {text: string, why: string}[], right: number}} Question */

const KEPT = "The dot of this lesson is filled. It is kept in this browser alone.";

/**
 * @param {string} key of the lesson
 * @param {Question[]} questions
 * @param {OnTerm} onTerm
 */
export function createRetest(key, questions, onTerm) {
  const begin = element("button", { onclick: ask }, "Two fresh questions");
  const place = element("div", { class: "fresh" }, begin);

  function ask() {
    const [first, second] = twoFresh(key, questions.length);
    show(first, 1, () => show(second, 2, finish));
  }

  function finish() {
    learn(key);
    put(element("p", { class: "learned", role: "status" }, `Both right. ${KEPT}`));
  }

  /** @param {number} index @param {number} place of two @param {() => void} onRight */
  function show(index, place, onRight) {
    const { ask: asked, code, answers, right } = questions[index];
    const shown = element("pre", { tabindex: 0, role: "region", "aria-label": "Code of the question" });
    shown.append(element("code", {}, ...coloured(code)));
    const onDecide = (/** @type {number} */ picked) => {
      if (picked !== right) return ["No. ", ...inline(answers[picked].why, onTerm), " ", others()];
      onRight();
      return [];
    };
    const options = answers.map(({ text }) => [text]);
    const confirmed =
      place === 1 ? [] : [element("p", { class: "said", role: "status" }, "Right. One more:")];
    const question = [`${place} of 2: `, ...inline(asked, onTerm)];
    put(createQuestion({ ask: question, options, decide: "Check", onDecide, above: [...confirmed, shown] }));
  }

  const others = () => element("button", { type: "button", onclick: ask }, "Two others");

  /** @param {HTMLElement} content */
  function put(content) {
    place.replaceChildren(content);
    content.setAttribute("tabindex", "-1");
    content.focus({ preventScroll: true });
    content.scrollIntoView({ block: "nearest" });
  }

  return element("section", { class: "retest", "aria-label": "Does it hold elsewhere?" }, place);
}
