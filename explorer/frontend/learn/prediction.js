// Predict first: a form with answers to pick from, by pointer or keyboard. Nothing of it leaves the browser.

import { element, freshId, setText } from "../elements/dom.js";

/** The content beside the button of an answer. @typedef {(Node|string)[]} Content */

/**
 * The form. ``onPick`` gets a picked answer, ``onClear`` that a drawing is to go (null where
 * there is none), ``onCheck`` that the reader has decided, ``onSkip`` that the answer is to be revealed.
 * @param {{hint: string, options: Content[], onPick: () => void, onClear: (() => void)|null,
 *   onCheck: () => void, onSkip: () => void}} options
 */
export function createPrediction({ hint, options, onPick, onClear, onCheck, onSkip }) {
  const name = freshId();
  const check = element("button", { type: "submit", class: "check", disabled: true }, "Check my prediction");
  const skip = element("button", { onclick: onSkip }, "Skip");
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
    offerAnswer: () => setText(skip, "Show the answer"),
  };
}

/** @param {string} name @param {Content} content @param {number} index */
function optionOf(name, content, index) {
  return element(
    "label",
    { class: "option" },
    element("input", { type: "radio", name, value: String(index) }),
    element("span", {}, ...content),
  );
}
