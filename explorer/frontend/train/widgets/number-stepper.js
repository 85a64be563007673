// A number field between two buttons. Values count from 0, and are shown from 1.

import { createNumberField } from "../../elements/number.js";
import { element, setAttribute } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { clampTo } from "../../formula/numbers.js";

/**
 * A value, counted from 0, and its maximum, which is null until known.
 * @typedef {{value: number, most: number|null}} StepperValue
 */

/**
 * Create a number input with buttons to decrease and increase it.
 * @param {string} label @param {(value: number) => void} onNumber called with the number, counted from 0
 */
export function createNumberStepper(label, onNumber) {
  let displayed = /** @type {StepperValue} */ ({ value: 0, most: null });
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
  const host = element("span", { class: "counter" });
  const name = label.toLowerCase();
  return {
    element: host,
    /** @param {StepperValue} counted */
    show(counted) {
      displayed = counted;
      const { value, most } = counted;
      const back = { disabled: value <= 0, onclick: () => choose(value) };
      const on = { disabled: most !== null && value >= most, onclick: () => choose(value + 2) };
      number.show(String(value + 1));
      setAttribute(host, "inert", most === null);
      render(
        host,
        `${label} `,
        h("button", { "aria-label": `Previous ${name}`, ...back }, "‹"),
        number.field,
        h("button", { "aria-label": `Next ${name}`, ...on }, "›"),
        h("span", {}, most !== null && `of ${most + 1}`),
        number.message,
      );
    },
  };
}
