// A panel of the section "Why", with one drawing per backward rule.

import { saveCarried } from "../../choice/data.js";
import { createChildren } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { createCounter } from "../widgets/number-stepper.js";
import { findInstrument } from "../state/instruments.js";

/** @import { Snapshot } from "../state/records.js" */
/** @import { LegendEntry } from "../state/series.js" */
/**
 * The source of a small picture: the instrument's record of the rule (``measured``), its snapshot, and the entries of
 * the current op and rule, undefined if the browser has no such entries; ``layer`` is the index of the op's site;
 * ``picked`` is the number that this panel sets in another one, or null; ``ink`` is the text colour as a pixel.
 * @typedef {{measured: *, snapshot: Snapshot, line: LegendEntry, op: *, rule: *, parameters: Object<string, number>,
 *   task: import("../state/tasks.js").Task, layer: number, picked: number|null, ink: number}} Observation
 * A small picture; ``words`` is its text for screen readers.
 * @typedef {{words: string}&Object<string, *>} CellPicture
 * The server's answer about a rule: a sentence, and a formula with its numbers.
 * @typedef {{words: string, formula: string}} Answer
 * Data to show on Explore, at ``address``.
 * @typedef {{address: string, label: string, data: import("../../choice/data.js").Carried}} Carry
 * A legend entry next to the title. With ``numbers`` it is a button that requests an answer. ``of`` returns its text
 * for a record, or "" for the default: ``text``, or else the entry of the instrument's legend.
 * @typedef {{text?: string, swatch: string, numbers?: Object<string, number>,
 *   of?: (measured: *) => string}} Legend
 */
/**
 * A panel, as its module declares it. The instrument with the module's name provides the texts.
 * @typedef {object} PanelSpec
 * @property {number} order of the panels, ascending
 * @property {boolean} opens whether it is initially open
 * @property {boolean} layered whether it shows a single layer
 * @property {(task: import("../state/tasks.js").Task, learns: boolean, draws: boolean) => boolean} suits
 *   returns whether the panel applies to a task, given whether a parameter learns and op or rules are stochastic
 * @property {number} rows the height of a cell in rem
 * @property {(observation: Observation) => CellPicture|null} picture returns the picture of a cell; a pure function
 * @property {(cell: HTMLElement, pick: (value: number) => void) => {draw: (picture: *) => void}} create creates
 *   the painter of a cell
 * @property {Legend[]} [legend]
 * @property {string} [request] the key of the instrument that answers the legend's buttons
 * @property {boolean} [scrolls] whether the content of a cell may exceed its height
 * @property {{panel: string, name: string, hint: string}} [picks] the number of another panel that a press in
 *   a cell sets
 * @property {(observation: Observation) => Omit<import("../../choice/data.js").Carried, "of">} [data] returns
 *   the data to show on Explore
 */
/** A panel with the key of its instrument. @typedef {PanelSpec & {key: string}} Panel */
/**
 * A panel as it is displayed. ``legend`` has the texts of the legend, ``missing`` and ``empty`` say why all cells or
 * one cell have no picture, ``pressed`` is the index of the legend entry whose answer is displayed, and ``numbers``
 * are the arguments of the instrument.
 * @typedef {{panel: Panel, title: string, sentence: string, limits: string, missing: string,
 *   legend: string[], numbers: import("../widgets/number-stepper.js").CounterValue[],
 *   pressed: number|null, cells: {line: LegendEntry, picture: CellPicture|null, empty: string, answer: Answer|null, carry:
 *   Carry|null}[]}} Row
 */

const SCROLLED = { role: "group", tabindex: "0" }; // focusable, so that it can be scrolled with the keyboard

/**
 * Create a panel of the section "Why", with one drawing per backward rule.
 * @param {Panel} panel
 * @param {{onLegend: (index: number) => void, onNumber: (name: string, value: number) => void,
 *   onPick: (value: number) => void}} on
 */
export function createPanel(
  { key, rows, legend = [], create, scrolls = false },
  { onLegend, onNumber, onPick },
) {
  const title = element("h3", {});
  const sentence = element("p", { class: "sentence" });
  const limits = element("p", { class: "limits" });
  const missing = element("p", { class: "missing" });
  const cells = element("div", { class: "columns" });
  const counters = findInstrument(key).arguments.map(({ name, label }) =>
    createCounter(label, (value) => onNumber(name, value)),
  );
  const hint = legend.some(({ numbers }) => numbers) ? [element("span", {}, "Show a unit:")] : [];
  const swatches = legend.map((entry, index) => createSwatch(entry, () => onLegend(index)));
  const section = element(
    "section",
    { class: `why-panel ${key}`, "data-panel": key },
    element(
      "header",
      {},
      title,
      sentence,
      ...counters.map((counter) => counter.element),
      ...hint,
      ...swatches,
      element("details", { class: "limits-of" }, element("summary", {}, "Limits"), limits),
    ),
    missing,
    cells,
  );
  section.style.setProperty("--rows", `${rows}rem`);
  const make = (/** @type {Row["cells"][number]} */ { line }) =>
    createCell(line.key, (cell) => create(cell, onPick), scrolls);
  const columns = createChildren(cells, make, ({ line }) => line.key);

  return {
    element: section,
    /** @param {Row} row */
    show(row) {
      setText(title, row.title);
      setText(sentence, row.sentence);
      setText(limits, row.limits);
      setText(missing, row.missing);
      setAttribute(missing, "hidden", !row.missing);
      setAttribute(cells, "hidden", row.missing !== "");
      setAttribute(section, "aria-label", row.title);
      swatches.forEach((swatch, index) => {
        setText(/** @type {Element} */ (swatch.lastElementChild), row.legend[index]);
        if (swatch.matches("button")) setAttribute(swatch, "aria-pressed", String(index === row.pressed));
      });
      counters.forEach((counter, at) => counter.show(row.numbers[at]));
      columns.show(row.cells);
    },
  };
}

/** @param {Legend} entry @param {() => void} onclick */
function createSwatch({ text, swatch, numbers }, onclick) {
  const [shade, name] = [element("i", { class: swatch }), element("span", {}, text ?? "")];
  if (!numbers) return element("span", { class: "swatch" }, shade, name);
  const title = "Show one unit's numbers in the formula";
  return element("button", { class: "swatch", title, onclick }, shade, name);
}

/**
 * @param {string} rule its key
 * @param {(cell: HTMLElement) => {draw: (picture: *) => void}} create
 * @param {boolean} scrolls
 */
function createCell(rule, create, scrolls) {
  const name = element("b", {});
  const frame = element("div", { class: "cell", ...(scrolls ? SCROLLED : { role: "img" }) });
  const [message, formula] = [element("p", {}), element("code", {})];
  const answered = element("div", { class: "answer" }, message, formula);
  let data = /** @type {Carry["data"]|null} */ (null);
  const link = element("a", { class: "carry", onclick: () => saveCarried(data) }, "Show behind the curves");
  const cell = element("div", { class: "column", "data-rule": rule }, name, frame, link, answered);
  const painter = create(frame);
  return {
    element: cell,
    /** @param {Row["cells"][number]} shown */
    show({ line, picture, empty, answer, carry: way }) {
      cell.style.setProperty("--colour", line.colour);
      setText(name, line.label);
      setAttribute(name, "title", line.label);
      setAttribute(frame, "aria-label", `${line.label}: ${picture?.words ?? empty}`);
      data = way?.data ?? null;
      setAttribute(link, "hidden", !way);
      setAttribute(link, "href", way?.address);
      setAttribute(link, "aria-label", way?.label);
      setAttribute(answered, "hidden", answer === null);
      setText(message, answer?.words ?? "");
      setText(formula, answer?.formula ?? "");
      setAttribute(frame, "data-empty", picture ? null : empty);
      if (picture) painter.draw(picture);
    },
  };
}
