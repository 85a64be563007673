// A whole number to choose as people count it, from 1: a field between two buttons, and how many there are.

import { createNumberField } from "../../elements/number.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { clampTo } from "../../formula/numbers.js";

/** ``value`` and ``most`` are counted from 0; ``most`` is null before it is known. */
/** @typedef {{value: number, most: number|null}} Counted */

/** @param {string} label @param {(value: number) => void} onNumber gets it counted from 0 */
export function createCounter(label, onNumber) {
  let displayed = /** @type {Counted} */ ({ value: 0, most: null });
  const held = (/** @type {number} */ value) => clampTo(Math.round(value), 1, (displayed.most ?? 0) + 1);
  const choose = (/** @type {number} */ value) => {
    number.show(String(held(value)));
    onNumber(held(value) - 1);
  };
  const number = createNumberField({
    name: label,
    class: "counted",
    onNumber(value) {
      choose(value);
      const most = (displayed.most ?? 0) + 1;
      number.say(held(value) === value ? "" : `A whole number from 1 to ${most}: ${held(value)} is taken.`);
    },
    next: (value, way) => held(value + way),
  });
  const go = (/** @type {string} */ sign, /** @type {string} */ name, /** @type {1|-1} */ way) =>
    element(
      "button",
      {
        "aria-label": `${name} ${label.toLowerCase()}`,
        onclick: () => choose(displayed.value + 1 + way),
      },
      sign,
    );
  const [back, on] = [go("‹", "Previous", -1), go("›", "Next", 1)];
  const count = element("span", {});
  const host = element(
    "span",
    { class: "counter" },
    `${label} `,
    back,
    number.field,
    on,
    count,
    number.message,
  );
  return {
    element: host,
    /** @param {Counted} counted */
    show(counted) {
      displayed = counted;
      const { value, most } = counted;
      number.show(String(value + 1));
      setAttribute(host, "inert", most === null);
      setAttribute(back, "disabled", value <= 0);
      setAttribute(on, "disabled", most !== null && value >= most);
      setText(count, most === null ? "" : `of ${most + 1}`);
    },
  };
}
