// Two fresh questions at the end of a lesson: who answers both has learned it.

import { element, freshId } from "../elements/dom.js";
import { coloured } from "./code.js";
import { learn, twoFresh } from "./memory.js";
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
    const name = freshId();
    const check = element("button", { type: "submit", class: "check", disabled: true }, "Check");
    const said = element("p", { class: "said", role: "status" });
    const options = answers.map(({ text }, answer) =>
      element(
        "label",
        { class: "option" },
        element("input", { type: "radio", name, value: String(answer) }),
        element("span", {}, text),
      ),
    );
    const form = element(
      "form",
      { class: "prediction", onsubmit: judge, onchange: () => (check.disabled = false) },
      element("pre", { tabindex: 0, role: "region", "aria-label": "Code of the question" }),
      element("fieldset", {}, element("legend", {}, `${place} of 2: `, ...inline(asked, onTerm)), ...options),
      element("div", { class: "decide" }, check),
      said,
    );
    form.querySelector("pre").append(element("code", {}, ...coloured(code)));
    put(form);

    /** @param {Event} event */
    function judge(event) {
      event.preventDefault();
      const picked = Number(new FormData(form).get(name));
      if (picked === right) return onRight();
      said.replaceChildren("No. ", ...inline(answers[picked].why, onTerm), " ");
      check.disabled = true;
      return said.append(element("button", { onclick: ask }, "Two others"));
    }
  }

  /** @param {HTMLElement} content */
  function put(content) {
    place.replaceChildren(content);
    content.setAttribute("tabindex", "-1");
    content.focus({ preventScroll: true });
  }

  return element("section", { class: "retest", "aria-label": "Does it hold elsewhere?" }, place);
}
