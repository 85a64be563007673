// A bar for each layer of weights, with its name and its number, and a note below them.

import { counted } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";

/**
 * ``length`` is a share of the whole bar.
 * @typedef {{words: string, note?: string, bars: {name: string, value: string, length: number}[]}} Bars
 */

/**
 * The bars of numbers, in decades from no bar to a whole one.
 * @param {ArrayLike<number>} numbers by layer of weights
 * @param {[number, number]} decades
 * @param {(number: number) => string} text
 * @returns {Bars}
 */
export function barsOf(numbers, [low, high], text) {
  const bars = Array.from(numbers, (number, layer) => ({
    name: `w${layer + 1}`,
    value: text(number),
    length: number > 0 ? Math.min(Math.max((Math.log10(number) - low) / (high - low), 0), 1) : 0,
  }));
  return { words: bars.map(({ name, value }) => `${name} ${value}`).join(", "), bars };
}

/** The painter of a cell of bars. @param {HTMLElement} cell */
export function createBars(cell) {
  const [rows, below] = [element("div", {}), element("p", { class: "note" })];
  cell.append(rows, below);
  return {
    /** @param {Bars} picture */
    draw({ bars, note = "" }) {
      setText(below, note);
      setAttribute(below, "hidden", !note);
      counted(rows, bars, made, ({ children: [label, bar, number] }, { name, value, length }) => {
        setText(label, name);
        setAttribute(bar.firstChild, "style", `width:${(100 * length).toFixed(1)}%`);
        setText(number, value);
      });
    },
  };
}

function made() {
  const bar = element("span", { class: "bar-of-layer" }, element("i", {}));
  return element("div", { class: "layer-bar" }, element("span", {}), bar, element("span", {}));
}
