// Multiple-choice questions with a button that submits the answer, and a reply.

import { element, createId } from "../../elements/dom.js";

/**
 * Text and elements in order.
 * @typedef {(Node|string)[]} Content
 * A question, as Asked in explorer/lessons/pictures.py. Each answer has a reply; ``right``: index of the right one.
 * @typedef {{ask: string, answers: [string, string][], right: number}} Asked
 */

/**
 * Create the form of a multiple-choice question. After the right answer, the others are removed.
 * @param {{ask: Content, options: Content[], decide: string, onDecide: (index: number) => Content, above?: Content,
 *   right?: number, onRight?: () => void}} options ``decide``: the button's label; ``onDecide``: called with the index
 *   of the picked answer, returns the reply; ``right``: index of the right one; ``onRight``: called after it
 */
export function createQuestion({ ask, options, decide, onDecide, above = [], right, onRight }) {
  const name = createId();
  const status = element("p", { class: "said", role: "status" });
  const check = element("button", { type: "submit", class: "check primary", disabled: true }, decide);
  return element(
    "form",
    { class: "prediction", onsubmit: answer, onchange: begin },
    ...above,
    element(
      "fieldset",
      {},
      element("legend", {}, ...ask),
      ...options.map((each, index) => createOption(name, each, index)),
    ),
    element("div", { class: "decide" }, check),
    status,
  );

  function begin() {
    check.disabled = false;
    status.replaceChildren();
  }

  /** @this {HTMLFormElement} @param {Event} event */
  function answer(event) {
    event.preventDefault();
    check.disabled = true;
    const picked = Number(new FormData(this).get(name));
    status.replaceChildren(...onDecide(picked));
    status.scrollIntoView({ block: "nearest" });
    if (picked !== right) return;
    const set = /** @type {HTMLElement} */ (this.querySelector("fieldset"));
    set.replaceChildren(/** @type {Element} */ (set.firstElementChild), element("p", {}, ...options[picked]));
    check.parentElement?.remove();
    onRight?.();
  }
}

/**
 * Create an answer with its radio button.
 * @param {string} name the name of the group of radio buttons @param {Content} content @param {number} index
 */
export function createOption(name, content, index) {
  return element(
    "label",
    { class: "option" },
    element("input", { type: "radio", name, value: String(index) }),
    element("span", {}, ...content),
  );
}

/** Return the reply to an answer. @param {Asked} asked @param {number} picked its index */
export function getReply({ answers, right }, picked) {
  return `${picked === right ? "Yes." : "Try again."} ${answers[picked][1]}`;
}

/**
 * Create a multiple-choice question of a lesson.
 * @param {Asked} asked @param {{onRight: () => void}} options @returns {import("./pictures.js").Picture}
 */
export function createAsked(asked, { onRight }) {
  const options = asked.answers.map(([text]) => [text]);
  const onDecide = (/** @type {number} */ picked) => [getReply(asked, picked)];
  const form = createQuestion({
    ...{ ask: [asked.ask], options, decide: "Check", onDecide },
    ...{ right: asked.right, onRight },
  });
  return { element: element("section", { class: "asked" }, form), follow: () => undefined };
}
