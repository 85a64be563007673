// Steps that the reader puts in order; the first one that is not in its place is named, with the reason.

import { element, setText } from "../../elements/dom.js";

/** See Order in explorer/lessons/pictures.py. @typedef {{title: string, steps: [string, string][]}} Order */

/**
 * An order in which no step comes right after the one before it, nor the first one first; the same for everybody.
 * @param {number} count of steps, at least four
 * @returns {number[]}
 */
export function outOfOrder(count) {
  const all = Array.from({ length: count }, (_, index) => index);
  return [...all.filter((index) => index % 2), ...all.filter((index) => index % 2 === 0)];
}

/**
 * What is said to an order: all is right, or the place of the first wrong step with the reason of the right one.
 * @param {Order} recipe
 * @param {number[]} order the steps' own places, as they stand
 */
export function judgementOf({ steps }, order) {
  const wrong = order.findIndex((own, place) => own !== place);
  return wrong < 0
    ? "That is the order."
    : `Not yet at ${wrong + 1}: another step stands there. ${steps[wrong][1]}`;
}

/**
 * @param {Order} recipe
 * @returns {import("./pictures.js").Picture}
 */
export function createOrder(recipe) {
  const said = element("p", { role: "status", class: "order-said" });
  let order = outOfOrder(recipe.steps.length);
  const items = recipe.steps.map(([text], own) => {
    const move = (/** @type {string} */ sign, /** @type {string} */ name, /** @type {number} */ by) =>
      element(
        "button",
        { "aria-label": `${name}: ${text.replaceAll("`", "")}`, onclick: () => shift(own, by) },
        sign,
      );
    const buttons = element("span", { class: "moves" }, move("↑", "Earlier", -1), move("↓", "Later", 1));
    return element("li", {}, element("span", {}, ...withCode(text)), buttons);
  });
  const list = element("ol", {});
  const check = element(
    "button",
    { onclick: () => setText(said, judgementOf(recipe, order)) },
    "Check the order",
  );
  const host = element("section", { class: "order", "aria-label": recipe.title });
  host.append(element("h3", {}, recipe.title), list, check, said);
  arrange();

  /** @param {number} own @param {number} by */
  function shift(own, by) {
    const place = order.indexOf(own);
    const other = order[place + by];
    if (other === undefined) return;
    order = order.map((each) => (each === own ? other : each === other ? own : each));
    setText(said, "");
    const focused = /** @type {HTMLElement|null} */ (document.activeElement);
    arrange();
    focused?.focus();
  }

  function arrange() {
    list.replaceChildren(...order.map((own) => items[own]));
  }

  return { element: host, follow: () => undefined };
}

/** A text with its code. @param {string} text */
function withCode(text) {
  return text.split("`").map((part, index) => (index % 2 ? element("code", {}, part) : part));
}
