// Draws one bar per weight layer, on a logarithmic scale.

import { updateChildren } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";

/**
 * ``length`` is a fraction of the full bar.
 * @typedef {{words: string, note?: string, bars: {name: string, value: string, length: number}[]}} Bars
 */

/**
 * Convert numbers to bars on a logarithmic scale.
 * @param {ArrayLike<number>} numbers by layer of weights
 * @param {[number, number]} decades exponents of an empty and of a full bar
 * @param {(number: number) => string} text
 * @returns {Bars}
 */
export function makeLogBars(numbers, [low, high], text) {
  const bars = Array.from(numbers, (number, layer) => ({
    name: `w${layer + 1}`,
    value: text(number),
    length: number > 0 ? Math.min(Math.max((Math.log10(number) - low) / (high - low), 0), 1) : 0,
  }));
  return { words: bars.map(({ name, value }) => `${name} ${value}`).join(", "), bars };
}

/** Create the function that draws bars in one cell of a panel. @param {HTMLElement} cell */
export function createBars(cell) {
  const [rows, below] = [element("div", {}), element("p", { class: "note" })];
  cell.append(rows, below);
  return {
    /** @param {Bars} picture */
    draw({ bars, note = "" }) {
      setText(below, note);
      setAttribute(below, "hidden", !note);
      updateChildren(rows, bars, createBar, ({ children: [label, bar, number] }, { name, value, length }) => {
        setText(label, name);
        setAttribute(bar.firstChild, "style", `width:${(100 * length).toFixed(1)}%`);
        setText(number, value);
      });
    },
  };
}

function createBar() {
  const bar = element("span", { class: "bar-of-layer" }, element("i", {}));
  return element("div", { class: "layer-bar" }, element("span", {}), bar, element("span", {}));
}
