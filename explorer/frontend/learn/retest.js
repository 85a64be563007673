// Two questions at the end of a lesson. When both are answered, the lesson counts as learned.

import { element } from "../elements/dom.js";
import { renderCode } from "./code.js";
import { markLearned, pickTwoQuestions } from "./memory.js";
import { createQuestion } from "./pictures/question.js";
import { describeAnswer } from "./verdict.js";
import { renderInline } from "./words.js";

/** @import { OnTerm } from "./words.js" */
/** @import { Spans } from "./code.js" */
/**
 * A question at the end of a lesson. ``right``: index of the right answer.
 * @typedef {{ask: string, code: Spans, answers: {text: string, why: string}[], right: number}} Question
 */

const STORAGE_TEXT = "(Saved in this browser only.)";

/**
 * Create the two multiple-choice questions at the end of a lesson.
 * @param {string} key the lesson's key @param {Question[]} questions
 * @param {{onTerm: OnTerm, onLearned: () => void}} around ``onLearned``: called when both are answered
 */
export function createRetest(key, questions, { onTerm, onLearned }) {
  const begin = element("button", { onclick: ask }, "Two fresh questions");
  const place = element("div", { class: "fresh" }, begin);

  function ask() {
    const [first, second] = pickTwoQuestions(key, questions.length);
    show(first, 1, false, (one) => show(second, 2, one, (two) => (two ? finish(one) : ask())));
  }

  /** Tell the reader of the right second answer. @param {boolean} areBoth whether the first one was right too */
  function finish(areBoth) {
    if (!areBoth) return put(element("p", { role: "status" }, "Right. Both must be: ", begin));
    markLearned(key);
    onLearned();
    return put(
      element("p", { class: "learned", role: "status" }, `Both right: lesson complete. ${STORAGE_TEXT}`),
    );
  }

  /**
   * @param {number} index @param {number} place 1 or 2 @param {boolean} isRight whether the one before was answered
   * @param {(isRight: boolean) => void} onDone called after the right answer, or once the reader has seen it
   */
  function show(index, place, isRight, onDone) {
    const { ask: asked, code, answers, right } = questions[index];
    const labelled = { tabindex: 0, role: "region", "aria-label": "Code of the question" };
    const codeBlock = element("pre", labelled, renderCode(code));
    const next = place === 1 ? "The second question" : "Two other questions";
    const others = element("button", { type: "button", onclick: () => onDone(false) }, next);
    const showing = element("button", { type: "button", onclick: showAnswer }, "Show the answer");
    const onDecide = (/** @type {number} */ picked) => {
      if (picked !== right) return ["No. ", ...renderInline(answers[picked].why, onTerm), " ", showing];
      onDone(true);
      return [];
    };
    const options = answers.map(({ text }) => [text]);
    const confirmed = isRight ? [element("p", { class: "said", role: "status" }, "Right. One more:")] : [];
    const question = [`${place} of 2: `, ...renderInline(asked, onTerm)];
    const above = [...confirmed, codeBlock];
    const form = createQuestion({ ask: question, options, decide: "Check", onDecide, above });
    put(form);

    function showAnswer() {
      const set = /** @type {HTMLFieldSetElement} */ (form.querySelector("fieldset"));
      set.disabled = true; // a right answer would no longer count
      showing.replaceWith(...renderInline(describeAnswer(answers[right]), onTerm), " ", others);
      others.focus();
    }
  }

  /** @param {HTMLElement} content */
  function put(content) {
    place.replaceChildren(content);
    place.closest(".screen")?.classList.toggle("asks-anew", content.matches("form")); // faster than :has()
    content.setAttribute("tabindex", "-1");
    content.focus({ preventScroll: true });
    content.scrollIntoView({ block: "nearest" });
  }

  return element("section", { class: "retest", "aria-label": "Does it hold elsewhere?" }, place);
}
