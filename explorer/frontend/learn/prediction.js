// Predict first: a form with answers to pick from, by pointer or keyboard.

import { element, freshId, setText } from "../elements/dom.js";
import { optionOf } from "./pictures/question.js";

/** @import { Content } from "./pictures/question.js" */

/**
 * The form. ``onPick`` gets a picked answer, ``onClear`` that a drawing is to go (null where
 * there is none), ``onCheck`` that the reader has decided, ``onSkip`` that the answer is to be revealed (null where
 * somebody else reveals it). ``decide`` is the name of the button that decides.
 * @param {{hint: string, options: Content[], onPick: () => void, onClear: (() => void)|null,
 *   decide: string, onCheck: () => void, onSkip: (() => void)|null}} options
 */
export function createPrediction({ hint, options, decide, onPick, onClear, onCheck, onSkip }) {
  const name = freshId();
  const check = element("button", { type: "submit", class: "check", disabled: true }, decide);
  const skip = element("button", { onclick: onSkip, hidden: onSkip === null }, "Skip");
  const clear = element("button", { onclick: cleared, hidden: true }, "Clear");
  const form = element(
    "form",
    { class: "prediction", onsubmit: decided, onchange: picked },
    element(
      "fieldset",
      {},
      element("legend", {}, hint),
      ...options.map((content, index) => optionOf(name, content, index)),
    ),
    element("div", { class: "decide" }, check, skip, clear),
  );
  const buttons = () => /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll("input")]);

  function picked() {
    check.disabled = false;
    clear.hidden = onClear === null;
    onPick();
  }

  /** @param {Event} event */
  function decided(event) {
    event.preventDefault();
    onCheck();
  }

  function cleared() {
    for (const button of buttons()) button.checked = false;
    check.disabled = clear.hidden = true;
    onClear?.();
  }

  return {
    element: form,
    /** The index of the picked answer, or null. @returns {number|null} */
    picked() {
      const index = buttons().findIndex((button) => button.checked);
      return index < 0 ? null : index;
    },
    /** Pick an answer for the reader. @param {number} index */
    pick(index) {
      buttons()[index].checked = true;
      check.disabled = false;
      clear.hidden = onClear === null;
    },
    /** Something was drawn: it counts as an answer. */
    drawn() {
      for (const button of buttons()) button.checked = false;
      check.disabled = clear.hidden = false;
    },
    /** Whether there is nothing to decide until something is changed. @param {boolean} resting */
    rest(resting) {
      check.disabled = resting;
    },
    offerAnswer: () => setText(skip, "Show the answer"),
  };
}
