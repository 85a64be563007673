// Children of an element, one for each of some values: made, put in order and removed as the values are.

import { focusedNear } from "./dom.js";

/**
 * One child for each value, by position: the last ones are removed where there are fewer values.
 * @template Value
 * @param {Element} host of these children alone
 * @param {readonly Value[]} values
 * @param {(index: number) => Element} make
 * @param {(child: *, value: Value, index: number) => void} draw
 */
export function counted(host, values, make, draw) {
  while (host.children.length > values.length) host.lastElementChild?.remove();
  while (host.children.length < values.length) host.append(make(host.children.length));
  values.forEach((value, index) => draw(host.children[index], value, index));
}

/**
 * One part for each key, in the order of the values: a part whose key stays keeps its element, and the focus
 * in it. Other children of the host stand behind them. A part that ``leaves`` does so before it is removed.
 * @template Value
 * @template {{element: HTMLElement, show: (value: Value) => void, leaves?: () => void}} Part
 * @param {Element} host
 * @param {(value: Value) => Part} make
 * @param {(value: Value, index: number) => *} keyOf
 */
export function keyed(host, make, keyOf = (_, index) => index) {
  const parts = /** @type {Map<*, Part>} */ (new Map());

  /** @param {readonly Value[]} values */
  function show(values) {
    const keys = values.map(keyOf);
    const focused = /** @type {HTMLElement|null} */ (focusedNear(host));
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
    if (focused !== focusedNear(host) && host.contains(focused)) focused?.focus({ preventScroll: true });
  }

  return { show, parts: /** @type {ReadonlyMap<*, Part>} */ (parts) };
}
