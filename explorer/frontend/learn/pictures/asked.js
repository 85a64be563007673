// A further question of a lesson: answers to pick from, and what is said to each.

import { element, freshId, setText } from "../../elements/dom.js";

/** See Asked in explorer/lessons/pictures.py. @typedef {{ask: string, answers: [string, string][], right: number}} Asked */

/**
 * What is said to whoever has picked an answer, null for none.
 * @param {Asked} asked
 * @param {number|null} picked
 */
export function replyOf({ answers, right }, picked) {
  if (picked === null) return "Pick an answer first.";
  return `${picked === right ? "Yes." : "Try again."} ${answers[picked][1]}`;
}

/**
 * @param {Asked} asked
 * @returns {import("./pictures.js").Picture}
 */
export function createAsked(asked) {
  const said = element("p", { role: "status", class: "asked-said" });
  const group = freshId();
  let picked = /** @type {number|null} */ (null);
  const pick = (/** @type {number} */ index) => {
    picked = index;
    setText(said, "");
  };
  const options = asked.answers.map(([text], index) =>
    element(
      "label",
      {},
      element("input", { type: "radio", name: group, onchange: () => pick(index) }),
      element("span", {}, text),
    ),
  );
  const check = element("button", { onclick: () => setText(said, replyOf(asked, picked)) }, "Check");
  const host = element("section", { class: "asked" });
  host.append(element("fieldset", {}, element("legend", {}, asked.ask), ...options), check, said);
  return { element: host, follow: () => undefined };
}
