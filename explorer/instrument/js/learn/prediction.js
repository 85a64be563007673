// Predict first: a form with answers to pick from, by pointer or keyboard. Nothing of it leaves the browser.

import { element, freshId } from "../elements/dom.js";

/** An answer to pick: its value, and what stands beside the button. @typedef {{value: string, content: (Node|string)[]}} Option */

/**
 * The form. ``onPick`` is told of a picked answer, ``onCheck`` that the reader has decided, ``onSkip`` that
 * the answer is to be shown.
 * @param {{hint: string, options: Option[], onPick: () => void, onCheck: () => void, onSkip: () => void}} options
 */
export function createPrediction({ hint, options, onPick, onCheck, onSkip }) {
  const name = freshId();
  const check = element("button", { type: "submit", class: "check", disabled: true }, "Check my prediction");
  const skip = element("button", { type: "button", onclick: onSkip }, "Skip");
  const form = element(
    "form",
    { class: "prediction", onsubmit: decided, onchange: picked },
    element("fieldset", {}, element("legend", {}, hint), ...options.map((option) => choiceOf(name, option))),
    element("div", { class: "decide" }, check, skip),
  );

  function picked() {
    check.disabled = false;
    onPick();
  }

  /** @param {Event} event */
  function decided(event) {
    event.preventDefault();
    onCheck();
  }

  return {
    element: form,
    /** The picked answer, or null. */
    picked: () => /** @type {string|null} */ (new FormData(form).get(name)),
    /** Something was drawn: it counts in the place of an answer. */
    drawn() {
      for (const input of form.querySelectorAll("input")) input.checked = false;
      check.disabled = false;
    },
  };
}

/** @param {string} name @param {Option} option */
function choiceOf(name, { value, content }) {
  return element(
    "label",
    { class: "option" },
    element("input", { type: "radio", name, value }),
    element("span", {}, ...content),
  );
}
