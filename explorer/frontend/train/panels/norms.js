// Norms of the gradient of each layer of weights: one bar a layer, in decades.

import { counted } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { shortText } from "../../formula/numbers.js";

/** @import { Declared, Observation } from "./panel.js" */
/** @typedef {{words: string, bars: {name: string, value: string, length: number}[]}} Picture */

const DECADES = [-6, 3]; // from no bar to a whole one

/** @type {Declared} */
export const panel = {
  order: 8,
  opens: false,
  layered: false,
  suits: () => true,
  rows: 2.5,
  picture: pictureOf,
  create,
};

/** @param {Observation} observation @returns {Picture} */
function pictureOf({ measured }) {
  const bars = Array.from(measured.norms, (norm, layer) => ({
    name: `w${layer + 1}`,
    value: shortText(norm),
    length: lengthOf(norm),
  }));
  return { words: bars.map(({ name, value }) => `${name} ${value}`).join(", "), bars };
}

/** @param {number} norm */
function lengthOf(norm) {
  const [low, high] = DECADES;
  return norm > 0 ? Math.min(Math.max((Math.log10(norm) - low) / (high - low), 0), 1) : 0;
}

/** @param {HTMLElement} cell */
function create(cell) {
  return {
    /** @param {Picture} picture */
    draw({ bars }) {
      counted(cell, bars, made, ({ children: [label, bar, number] }, { name, value, length }) => {
        setText(label, name);
        setAttribute(bar.firstChild, "style", `width:${(100 * length).toFixed(1)}%`);
        setText(number, value);
      });
    },
  };
}

function made() {
  const bar = element("span", { class: "bar-of-norm" }, element("i", {}));
  return element("div", { class: "norm" }, element("span", {}), bar, element("span", {}));
}
