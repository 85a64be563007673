// One child a rule, in the order of the cards: made, moved and taken away as the rules are.

import { setAttribute } from "../../elements/dom.js";

/** @typedef {import("../state/series.js").Lane} Lane */

/**
 * Children of a host, one for each rule that is shown; each carries the rule's key and colour.
 * @template {{lane: Lane}} Shown
 * @param {HTMLElement} host
 * @param {() => {element: HTMLElement, show: (shown: Shown) => void}} create
 */
export function createByRule(host, create) {
  const children = /** @type {Map<string, ReturnType<typeof create>>} */ (new Map());

  /** @param {string} key */
  function made(key) {
    const child = create();
    setAttribute(child.element, "data-rule", key);
    children.set(key, child);
    return child;
  }

  return {
    /** @param {Shown[]} all */
    show(all) {
      for (const [key, child] of children) {
        if (all.some(({ lane }) => lane.key === key)) continue;
        child.element.remove();
        children.delete(key);
      }
      all.forEach((shown, index) => {
        const child = children.get(shown.lane.key) ?? made(shown.lane.key);
        if (host.children[index] !== child.element)
          host.insertBefore(child.element, host.children[index] ?? null);
        child.element.style.setProperty("--colour", shown.lane.colour);
        child.show(shown);
      });
    },
  };
}
