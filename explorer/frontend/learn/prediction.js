// The form with which the reader predicts the answer to a lesson's question.

import { element, createId, setText } from "../elements/dom.js";
import { createOption } from "./pictures/question.js";

/** @import { Content } from "./pictures/question.js" */

/**
 * Create the form in which the reader picks an answer, or confirms a drawn curve.
 * @param {{hint: string, options: Content[], isPictured: boolean, onPick: () => void, onClear: (() => void)|null, decide:
 *   string, onCheck: () => void, onSkip: (() => void)|null}} options ``isPictured``: whether the answers have thumbnails;
 *   ``onPick``: called when an answer is picked; ``onClear``: clears the drawing, null if the reader does not draw;
 *   ``onCheck``: called when the button labelled ``decide`` is pressed; ``onSkip``: called when the reader asks for the
 *   answer, null if the teacher reveals it
 */
export function createPrediction({ hint, options, isPictured, decide, onPick, onClear, onCheck, onSkip }) {
  const name = createId();
  const check = element("button", { type: "submit", class: "check primary", disabled: true }, decide);
  const skip = element("button", { onclick: onSkip, hidden: onSkip === null }, "Skip");
  const clear = element("button", { onclick: handleClear, hidden: true }, "Clear");
  const form = element(
    "form",
    { class: `prediction ${isPictured ? "pictured" : ""}`, onsubmit: handleSubmit, onchange: handlePick },
    element(
      "fieldset",
      {},
      element("legend", {}, hint),
      ...options.map((content, index) => createOption(name, content, index)),
    ),
    element("div", { class: "decide" }, check, skip, clear),
  );
  const getButtons = () => /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll("input")]);

  /** Enable the submit button. @param {boolean} isClearable whether there is also a button to clear */
  function enable(isClearable) {
    check.disabled = false;
    clear.hidden = !isClearable;
    setText(check, decide);
  }

  function handlePick() {
    enable(onClear !== null);
    onPick();
  }

  /** @param {Event} event */
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
    /** @param {number} index */
    pick(index) {
      getButtons()[index].checked = true;
      enable(onClear !== null);
    },
    markDrawn() {
      for (const button of getButtons()) button.checked = false;
      enable(true);
    },
    /**
     * Disable the submit button until the prediction changes, or enable it.
     * @param {boolean} resting whether to disable it @param {string} [words] its label
     */
    setResting(resting, words = decide) {
      check.disabled = resting;
      setText(check, words);
    },
    offerAnswer: () => setText(skip, "Show the answer"),
  };
}
