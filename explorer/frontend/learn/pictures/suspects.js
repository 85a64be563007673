// A hidden Function: curves and numbers that it returns, and lines of which the reader names the one that differs.

import { element } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { formatNumber } from "../../formula/numbers.js";
import { createQuestion } from "./question.js";

/**
 * See Suspects in explorer/lessons/pictures.py.
 * @typedef {{title: string, lines: [string, string][], faulty: number, hidden_line: string, x: number[],
 *   curves: Object<string, number[]>, few: number[], numbers: Object<string, number[]>}} Suspects
 */

const [WIDTH, HEIGHT, PAD] = [160, 90, 6];

/** What is said to whoever has named a line. @param {Suspects} hidden @param {number} named */
export function verdictOf({ lines, faulty, hidden_line: line }, named) {
  return named === faulty ? `Yes: there stands ${line}.` : `It is not this one. ${lines[named][1]}`;
}

/**
 * @param {Suspects} hidden
 * @returns {import("./pictures.js").Picture}
 */
export function createSuspects(hidden) {
  const options = hidden.lines.map(([line]) => [element("code", {}, line)]);
  const onDecide = (/** @type {number} */ named) => [verdictOf(hidden, named)];
  const form = createQuestion({ ask: ["Which line differs?"], options, decide: "Name this line", onDecide });
  const host = element("section", { class: "suspects", "aria-label": hidden.title });
  host.append(element("h3", {}, hidden.title), plots(hidden), table(hidden), form);
  return { element: host, follow: () => undefined };
}

/** Small curves beside each other, all to one scale. @param {Suspects} hidden */
function plots({ x, curves }) {
  const most = Math.max(...Object.values(curves).flat().map(Math.abs)) || 1;
  const across = (/** @type {number} */ value) =>
    PAD + ((WIDTH - 2 * PAD) * (value - x[0])) / (x[x.length - 1] - x[0]);
  const up = (/** @type {number} */ value) => (HEIGHT - (HEIGHT - 2 * PAD) * (value / most)) / 2;
  const plot = (/** @type {[string, number[]]} */ [name, y]) => {
    const points = y.map((value, index) => `${across(x[index])},${up(value)}`).join(" ");
    const picture = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
    const zero = shape("line", { class: "zero", x1: PAD, x2: WIDTH - PAD, y1: up(0), y2: up(0) });
    const middle = shape("line", { class: "zero", x1: across(0), x2: across(0), y1: PAD, y2: HEIGHT - PAD });
    picture.append(zero, middle, shape("polyline", { class: "curve", points }));
    return element(
      "figure",
      {},
      picture,
      element("figcaption", {}, `${name}, x from ${x[0]} to ${x[x.length - 1]}`),
    );
  };
  return element("div", { class: "plots" }, ...Object.entries(curves).map(plot));
}

/** @param {Suspects} hidden */
function table({ few, numbers }) {
  const head = element(
    "tr",
    {},
    element("td", {}),
    ...few.map((value) => element("th", { scope: "col" }, `x = ${value}`)),
  );
  const rows = Object.entries(numbers).map(([name, values]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      ...values.map((value) => element("td", {}, formatNumber(value))),
    ),
  );
  return element(
    "table",
    {},
    element("caption", {}, "The gradient that it returns"),
    element("tbody", {}, head, ...rows),
  );
}
