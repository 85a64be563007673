// An exercise: the reader finds the wrong line of a hidden autograd Function from its gradients.

import { element } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { formatShort } from "../../formula/numbers.js";
import { createQuestion } from "./question.js";

/**
 * The exercise, as Suspects in explorer/lessons/pictures.py. Each line has a reply; ``curves``, ``numbers``: the
 * Function's gradients for many ``x``, and for a ``few``.
 * @typedef {{title: string, lines: [string, string][], faulty: number, hidden_line: string, x: number[], curves:
 *   Object<string, number[]>, few: number[], numbers: Object<string, number[]>}} Suspects
 */

const [WIDTH, HEIGHT, PAD] = [160, 90, 6];

/**
 * Return the reply to a reader who names a line as wrong.
 * @param {Suspects} hidden @param {number} named the line's index
 */
export function getVerdict({ lines, faulty, hidden_line: line }, named) {
  return named === faulty ? `Yes: that line is ${line}.` : `It is not this one. ${lines[named][1]}`;
}

/**
 * Create the exercise in which the reader finds the wrong line of a hidden Function.
 * @param {Suspects} hidden @param {{onRight: () => void}} options @returns {import("./pictures.js").Picture}
 */
export function createSuspects(hidden, { onRight }) {
  const options = hidden.lines.map(([line]) => [element("code", {}, line)]);
  const onDecide = (/** @type {number} */ named) => [getVerdict(hidden, named)];
  const form = createQuestion({
    ...{ ask: ["Which line differs?"], options, decide: "Name this line", onDecide },
    ...{ right: hidden.faulty, onRight },
  });
  const host = element("section", { class: "suspects", "aria-label": hidden.title });
  host.append(element("h3", {}, hidden.title), createPlots(hidden), createTable(hidden), form);
  return { element: host, follow: () => undefined };
}

/** @param {Suspects} hidden */
function createPlots({ x, curves }) {
  const max = Math.max(...Object.values(curves).flat().map(Math.abs)) || 1;
  const toX = (/** @type {number} */ value) =>
    PAD + ((WIDTH - 2 * PAD) * (value - x[0])) / (x[x.length - 1] - x[0]);
  const toY = (/** @type {number} */ value) => (HEIGHT - (HEIGHT - 2 * PAD) * (value / max)) / 2;
  const createPlot = (/** @type {[string, number[]]} */ [name, y]) => {
    const points = y.map((value, index) => `${toX(x[index])},${toY(value)}`).join(" ");
    const picture = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
    const zero = shape("line", { class: "zero", x1: PAD, x2: WIDTH - PAD, y1: toY(0), y2: toY(0) });
    const middle = shape("line", { class: "zero", x1: toX(0), x2: toX(0), y1: PAD, y2: HEIGHT - PAD });
    picture.append(zero, middle, shape("polyline", { class: "curve", points }));
    return element(
      "figure",
      {},
      picture,
      element("figcaption", {}, `${name}, x from ${formatShort(x[0])} to ${formatShort(x[x.length - 1])}`),
    );
  };
  return element("div", { class: "plots" }, ...Object.entries(curves).map(createPlot));
}

/** @param {Suspects} hidden */
function createTable({ few, numbers }) {
  const head = element(
    "tr",
    {},
    element("td", {}),
    ...few.map((value) => element("th", { scope: "col" }, `x = ${formatShort(value)}`)),
  );
  const rows = Object.entries(numbers).map(([name, values]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      ...values.map((value) => element("td", {}, formatShort(value))),
    ),
  );
  return element(
    "table",
    {},
    element("caption", {}, "The gradient that it returns"),
    element("tbody", {}, head, ...rows),
  );
}
