// The figures and exercises of lessons. Heat maps and line charts are here, all others have modules of their own.

import { createFigure } from "../../chart/plotly/figure.js";
import { element } from "../../elements/dom.js";
import { getCurveColours } from "../../explore/stage/colours.js";
import { formatNumber, formatPower } from "../../formula/numbers.js";
import { createByHand } from "./by-hand.js";
import { createCorner } from "./corner.js";
import { createOrder } from "./order.js";
import { createAsked } from "./question.js";
import { createSuspects } from "./suspects.js";
import { createSweep } from "./sweep.js";
import { createUnitPicture } from "./walker.js";

/**
 * A small matrix in colours. ``entry``: row and column of a marked entry; all rows are marked if the row is null.
 * @typedef {{title: string, values: number[][], entry: [number|null, number]|null}} HeatMap
 */
/**
 * Curves over x, by name.
 * @typedef {{x_name: string, y_name: string, x: number[], y: Object<string, number[]>}} Lines
 */
/**
 * A figure or exercise on the page. ``follow`` updates it when the live chart of the lesson changes.
 * @typedef {{element: HTMLElement, follow: (choice: import("../../choice/choice.js").Choice) => void}} Picture
 */

/**
 * Functions by class in explorer/lessons/pictures.py. Each creates a figure or exercise.
 * @type {Object<string, (picture: *, options: {plotly: string, signal: AbortSignal, onRight: () => void}) => Picture>}
 */
const KINDS = {
  HeatMap: (picture) => makeStatic(createHeatMap(picture)),
  Lines: (picture, options) => makeStatic(createLines(picture, options)),
  Sweep: createSweep,
  ByHand: createByHand,
  Order: createOrder,
  Corner: createCorner,
  Suspects: createSuspects,
  Asked: createAsked,
  Walker: createUnitPicture,
};
const QUESTIONS = ["Asked", "Suspects"];

/** The labels of the buttons that open large exercises. @type {Object<string, string>} */
const OPENERS = { ByHand: "Do one step by hand", Order: "Put the steps in order" };

/**
 * Create the figures and exercises of a lesson. Those after a question appear once it is answered correctly.
 * @param {{kind: string}[]} records @param {{plotly: string, signal: AbortSignal}} options
 */
export function createPictures(records, options) {
  const host = element("div", { class: "pictures" });
  const pictures = /** @type {Picture[]} */ ([]);
  let choice = /** @type {*} */ (null);
  showNext();

  /** Show everything up to and including the next question. */
  function showNext() {
    const record = records[pictures.length];
    if (!record) return;
    const create = () => KINDS[record.kind](record, { ...options, onRight: showNext });
    const picture = OPENERS[record.kind] ? createOpener(OPENERS[record.kind], create) : create();
    pictures.push(picture);
    host.append(picture.element);
    if (choice) picture.follow(choice);
    if (!QUESTIONS.includes(record.kind)) showNext();
  }

  return {
    element: host,
    /** @param {*} next */
    follow(next) {
      choice = next;
      for (const picture of pictures) picture.follow(next);
    },
  };
}

/** @param {string} name @param {() => Picture} create @returns {Picture} */
function createOpener(name, create) {
  const button = element("button", { onclick: open }, name);

  function open() {
    const { element: exercise } = create();
    button.replaceWith(exercise);
    /** @type {HTMLElement|null} */ (exercise.querySelector("input, button"))?.focus();
  }

  return makeStatic(button);
}

/** @param {HTMLElement} element @returns {Picture} */
const makeStatic = (element) => ({ element, follow: () => undefined });

/** @param {HeatMap} picture */
function createHeatMap({ title, values, entry }) {
  const max = Math.max(...values.flat().map(Math.abs)) || 1;
  const createCell = (
    /** @type {number} */ value,
    /** @type {number} */ row,
    /** @type {number} */ column,
  ) => {
    const isFollowed = entry && [row, null].includes(entry[0]) && entry[1] === column;
    const style = `--share: ${Math.round((100 * Math.abs(value)) / max)}%`;
    return element("td", { style, class: isFollowed ? "followed" : null }, formatNumber(value));
  };
  const rows = values.map((row, index) =>
    element("tr", {}, ...row.map((value, column) => createCell(value, index, column))),
  );
  return element("table", { class: "heat" }, element("caption", {}, title), element("tbody", {}, ...rows));
}

/** @param {Lines} picture @param {{plotly: string, signal: AbortSignal}} options ``plotly``: its script's address */
function createLines({ x_name: xName, y_name: yName, x, y }, { plotly, signal }) {
  const host = element("div", { class: "lines" });
  const legend = { orientation: "h", x: 0, y: 1, yanchor: "bottom" };
  const axes = { xaxis: makeLogAxis(xName, x), yaxis: makeLogAxis(yName, Object.values(y).flat()) };
  const compose = () => {
    const { rules: colours } = getCurveColours(host);
    const traces = Object.entries(y).map(([name, values], slot) => ({
      type: "scatter",
      mode: "lines+markers",
      name,
      x,
      y: values,
      line: { color: colours[slot] },
    }));
    return { traces, layout: { ...axes, legend, showlegend: true } };
  };
  const plot = createFigure(host, { plotly, hover: false, compose });
  plot.draw({ words: `${yName} against ${xName}` });
  signal.addEventListener("abort", plot.destroy);
  return host;
}

/** @param {string} text @param {number[]} values */
function makeLogAxis(text, values) {
  const [first, last] = [Math.min(...values), Math.max(...values)].map((value) =>
    Math.ceil(Math.log10(value)),
  );
  const step = last - first > 8 ? 4 : 2; // so few that no number is slanted
  const powers = Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => first + step * i);
  return {
    title: { text },
    type: "log",
    tickvals: powers.map((power) => 10 ** power),
    ticktext: powers.map(formatPower),
  };
}
