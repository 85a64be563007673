// An exercise: the reader puts steps in order. The reply explains the first misplaced step.

import { element, setText } from "../../elements/dom.js";

/**
 * The exercise, as Order in explorer/lessons/pictures.py. Each step has a reason for its place.
 * @typedef {{title: string, steps: [string, string][]}} Order
 */

/**
 * Return an initial order in which no step follows the one before it, and the first step is not the first.
 * @param {number} count number of steps, at least four @returns {number[]}
 */
export function makeDisorder(count) {
  const all = Array.from({ length: count }, (_, index) => index);
  return [...all.filter((index) => index % 2), ...all.filter((index) => index % 2 === 0)];
}

/**
 * Return the reply to an order: the first wrong position, and why another step belongs there.
 * @param {Order} recipe @param {number[]} order the right position of each step, in the reader's order
 */
export function judgeOrder({ steps }, order) {
  const wrong = order.findIndex((own, place) => own !== place);
  return wrong < 0
    ? "That is the order."
    : `Not yet at ${wrong + 1}: another step belongs there. ${steps[wrong][1]}`;
}

/**
 * Create the exercise in which the reader puts steps in order.
 * @param {Order} recipe @returns {import("./pictures.js").Picture}
 */
export function createOrder(recipe) {
  const status = element("p", { role: "status", class: "order-said" });
  let order = makeDisorder(recipe.steps.length);
  const items = recipe.steps.map(([text], own) => {
    const move = (/** @type {string} */ sign, /** @type {string} */ name, /** @type {number} */ by) =>
      element(
        "button",
        { "aria-label": `${name}: ${text.replaceAll("`", "")}`, onclick: () => shift(own, by) },
        sign,
      );
    const buttons = element("span", { class: "moves" }, move("↑", "Earlier", -1), move("↓", "Later", 1));
    const parts = text.split("`").map((part, index) => (index % 2 ? element("code", {}, part) : part));
    return element("li", {}, element("span", {}, ...parts), buttons);
  });
  const list = element("ol", {});
  const check = element(
    "button",
    { onclick: () => setText(status, judgeOrder(recipe, order)) },
    "Check the order",
  );
  const host = element("section", { class: "order", "aria-label": recipe.title });
  host.append(element("h3", {}, recipe.title), list, check, status);
  arrange();

  /** @param {number} own the right position of the step @param {number} by 1 to move it down, -1 to move it up */
  function shift(own, by) {
    const place = order.indexOf(own);
    const other = order[place + by];
    if (other === undefined) return;
    order = order.map((each) => (each === own ? other : each === other ? own : each));
    setText(status, "");
    const focused = /** @type {HTMLElement|null} */ (document.activeElement);
    arrange();
    focused?.focus();
  }

  function arrange() {
    list.replaceChildren(...order.map((own) => items[own]));
  }

  return { element: host, follow: () => undefined };
}
