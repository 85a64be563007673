// A number input between two buttons. Values count from 0, but are shown from 1.

import { createNumberField } from "../../elements/number.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { clampTo } from "../../formula/numbers.js";

/** ``value`` and its maximum ``most`` are counted from 0; ``most`` is null before it is known. */
/** @typedef {{value: number, most: number|null}} CounterValue */

/**
 * Create a number input with buttons to decrease and increase it.
 * @param {string} label @param {(value: number) => void} onNumber gets the number counted from 0
 */
export function createCounter(label, onNumber) {
  let displayed = /** @type {CounterValue} */ ({ value: 0, most: null });
  const clamp = (/** @type {number} */ value) => clampTo(Math.round(value), 1, (displayed.most ?? 0) + 1);
  const choose = (/** @type {number} */ value) => {
    number.show(String(clamp(value)));
    onNumber(clamp(value) - 1);
  };
  const number = createNumberField({
    name: label,
    class: "counted",
    onNumber(value) {
      choose(value);
      const most = (displayed.most ?? 0) + 1;
      number.say(clamp(value) === value ? "" : `A whole number from 1 to ${most}: ${clamp(value)} is taken.`);
    },
    next: (value, way) => clamp(value + way),
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
    /** @param {CounterValue} counted */
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
