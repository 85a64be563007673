// Children of an element that match a list of values: created, ordered and removed.

import { getFocused } from "./dom.js";

/**
 * Return a function ``show`` that makes the children of an element match a list of values by key. A child whose key
 * remains keeps its element and focus. Other children come after them. A child's ``leaves`` runs before its removal.
 * @template Value @template {{element: HTMLElement, show: (value: Value) => void, leaves?: () => void}} Part
 * @param {Element} host @param {(value: Value) => Part} make creates the child of a new key
 * @param {(value: Value, index: number) => *} keyOf returns the key of a value, by default its index
 */
export function createChildren(host, make, keyOf = (_, index) => index) {
  const parts = /** @type {Map<*, Part>} */ (new Map());

  /** @param {readonly Value[]} values */
  function show(values) {
    const keys = values.map(keyOf);
    const focused = /** @type {HTMLElement|null} */ (getFocused(host));
    for (const [key, part] of parts) {
      if (keys.includes(key)) continue;
      part.leaves?.();
      part.element.remove();
      parts.delete(key);
    }
    values.forEach((value, index) => {
      const part = parts.get(keys[index]) ?? make(value);
      parts.set(keys[index], part);
      const next = host.children[index] ?? null;
      if (next !== part.element) host.insertBefore(part.element, next);
      part.show(value);
    });
    if (focused !== getFocused(host) && host.contains(focused)) focused?.focus({ preventScroll: true });
  }

  return { show, parts: /** @type {ReadonlyMap<*, Part>} */ (parts) };
}
