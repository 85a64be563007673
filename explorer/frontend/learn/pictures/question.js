// A question: answers to pick from, one button that decides, and what is said to the answer.

import { element, freshId } from "../../elements/dom.js";

/** @typedef {(Node|string)[]} Content */

/**
 * The form of a question. ``onDecide`` gets the index of the picked answer and returns what is said to it; the button
 * rests until another one is picked.
 * @param {{ask: Content, options: Content[], decide: string, onDecide: (index: number) => Content, above?: Content}} options
 */
export function createQuestion({ ask, options, decide, onDecide, above = [] }) {
  const name = freshId();
  const said = element("p", { class: "said", role: "status" });
  const check = element("button", { type: "submit", class: "check", disabled: true }, decide);
  return element(
    "form",
    { class: "prediction", onsubmit: answer, onchange: begin },
    ...above,
    element(
      "fieldset",
      {},
      element("legend", {}, ...ask),
      ...options.map((each, index) => optionOf(name, each, index)),
    ),
    element("div", { class: "decide" }, check),
    said,
  );

  function begin() {
    check.disabled = false;
    said.replaceChildren();
  }

  /** @this {HTMLFormElement} @param {Event} event */
  function answer(event) {
    event.preventDefault();
    check.disabled = true;
    said.replaceChildren(...onDecide(Number(new FormData(this).get(name))));
  }
}

/** An answer beside its button. @param {string} name of all buttons @param {Content} content @param {number} index */
export function optionOf(name, content, index) {
  return element(
    "label",
    { class: "option" },
    element("input", { type: "radio", name, value: String(index) }),
    element("span", {}, ...content),
  );
}
