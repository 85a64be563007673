// The form for a prediction: answers to pick from, by pointer or keyboard.

import { element, createId, setText } from "../elements/dom.js";
import { createOption } from "./pictures/question.js";

/** @import { Content } from "./pictures/question.js" */

/**
 * Create the form. ``onPick`` runs when an answer is picked, ``onClear`` when a drawing should be cleared (null if
 * nothing is drawn), ``onCheck`` when the reader decides, ``onSkip`` when the answer should be revealed (null if the
 * teacher reveals it). ``decide`` is the label of the button that decides.
 * @param {{hint: string, options: Content[], onPick: () => void, onClear: (() => void)|null,
 *   decide: string, onCheck: () => void, onSkip: (() => void)|null}} options
 */
export function createPrediction({ hint, options, decide, onPick, onClear, onCheck, onSkip }) {
  const name = createId();
  const check = element("button", { type: "submit", class: "check", disabled: true }, decide);
  const skip = element("button", { onclick: onSkip, hidden: onSkip === null }, "Skip");
  const clear = element("button", { onclick: handleClear, hidden: true }, "Clear");
  const form = element(
    "form",
    { class: "prediction", onsubmit: handleSubmit, onchange: handlePick },
    element(
      "fieldset",
      {},
      element("legend", {}, hint),
      ...options.map((content, index) => createOption(name, content, index)),
    ),
    element("div", { class: "decide" }, check, skip, clear),
  );
  const getButtons = () => /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll("input")]);

  function handlePick() {
    check.disabled = false;
    clear.hidden = onClear === null;
    onPick();
  }

  /** Submit the prediction. @param {Event} event */
  function handleSubmit(event) {
    event.preventDefault();
    onCheck();
  }

  function handleClear() {
    for (const button of getButtons()) button.checked = false;
    check.disabled = clear.hidden = true;
    onClear?.();
  }

  return {
    element: form,
    /** Return the index of the picked answer, or null. @returns {number|null} */
    picked() {
      const index = getButtons().findIndex((button) => button.checked);
      return index < 0 ? null : index;
    },
    /** Pick an answer for the reader. @param {number} index */
    pick(index) {
      getButtons()[index].checked = true;
      check.disabled = false;
      clear.hidden = onClear === null;
    },
    /** Accept a drawing as the answer. */
    markDrawn() {
      for (const button of getButtons()) button.checked = false;
      check.disabled = clear.hidden = false;
    },
    /** Disable or enable the button that decides. @param {boolean} resting whether it is disabled until a change */
    setResting(resting) {
      check.disabled = resting;
    },
    offerAnswer: () => setText(skip, "Show the answer"),
  };
}
