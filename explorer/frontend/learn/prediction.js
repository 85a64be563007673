// The form in which the reader predicts the answer to a lesson's question.

import { element, createId, setText } from "../elements/dom.js";
import { createOption } from "./pictures/question.js";

/** @import { Content } from "./pictures/question.js" */

/**
 * Create the form in which the reader picks an answer or confirms a drawing.
 *
 * ``onPick`` runs when an answer is picked. ``onClear`` runs when the drawing should be cleared; it is null if nothing
 * is drawn. ``onCheck`` runs when the reader submits the prediction. ``onSkip`` runs when the answer should be
 * revealed; it is null if the teacher reveals it. ``decide`` is the label of the submit button.
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

  /** Submit the reader's prediction. @param {Event} event */
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
    /** Pick the answer with this index. @param {number} index */
    pick(index) {
      getButtons()[index].checked = true;
      check.disabled = false;
      clear.hidden = onClear === null;
    },
    /** Mark the prediction as a drawing instead of a picked answer. */
    markDrawn() {
      for (const button of getButtons()) button.checked = false;
      check.disabled = clear.hidden = false;
    },
    /**
     * Disable the submit button until the prediction changes, or enable it.
     * @param {boolean} resting whether it is disabled
     */
    setResting(resting) {
      check.disabled = resting;
    },
    offerAnswer: () => setText(skip, "Show the answer"),
  };
}
