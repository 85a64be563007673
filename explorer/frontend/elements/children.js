// Creating, ordering and removing the children of an element to match a list of values.

import { getFocused } from "./dom.js";

/**
 * Update the children of an element, matched by position, so that there is one for each value.
 *
 * Missing children are created and excess ones are removed.
 * @template Value
 * @param {Element} host of these children alone
 * @param {readonly Value[]} values @param {(index: number) => Element} make
 * @param {(child: *, value: Value, index: number) => void} draw
 */
export function updateChildren(host, values, make, draw) {
  while (host.children.length > values.length) host.lastElementChild?.remove();
  while (host.children.length < values.length) host.append(make(host.children.length));
  values.forEach((value, index) => draw(host.children[index], value, index));
}

/**
 * Create a function that updates the children of an element, matched by key, so that there is one for each value.
 *
 * A child whose key stays keeps its element and focus. Other children of the element follow after them. A child's
 * ``leaves`` is called before it is removed.
 * @template Value
 * @template {{element: HTMLElement, show: (value: Value) => void, leaves?: () => void}} Part @param {Element} host
 * @param {(value: Value) => Part} make @param {(value: Value, index: number) => *} keyOf
 */
export function createChildren(host, make, keyOf = (_, index) => index) {
  const parts = /** @type {Map<*, Part>} */ (new Map());

  /** Update the children to match a list of values. @param {readonly Value[]} values */
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
