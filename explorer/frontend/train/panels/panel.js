// A panel of the area "Why": a row of small pictures, one a rule, with its title and its one sentence.

import { saveCarried } from "../../choice/data.js";
import { keyed } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { createCounter } from "../widgets/number-stepper.js";
import { findInstrument } from "../state/instruments.js";

/** @import { Snapshot } from "../state/records.js" */
/** @import { LegendEntry } from "../state/series.js" */
/**
 * The source of a small picture: the rule's record of the instrument, the snapshot it is from, the op and the
 * rule in force as entries, undefined where the browser does not know them; ``layer`` is the number of the op's
 * site, from 0; ``picked`` is the number of another panel that this one chooses, null for none; ``ink`` is the
 * colour of letters, as a pixel.
 * @typedef {{measured: *, snapshot: Snapshot, line: LegendEntry, op: *, rule: *, parameters: Object<string, number>,
 *   task: import("../state/tasks.js").Task, layer: number, picked: number|null, ink: number}} Observation
 * A small picture; ``words`` are for screen readers.
 * @typedef {{words: string}&Object<string, *>} Drawn
 * The server's answer on a rule: a sentence, and a formula with its numbers.
 * @typedef {{words: string, formula: string}} Answer
 * Data on their way to Explore, where ``address`` leads.
 * @typedef {{address: string, label: string, data: import("../../choice/data.js").Carried}} Carry
 * A name beside the title, with its shade; one that has ``numbers`` is a button which requests an answer, and
 * ``of`` gives its text by what was measured, "" for the usual one: ``text``, or that of its instrument's legend.
 * @typedef {{text?: string, swatch: string, numbers?: Object<string, number>,
 *   of?: (measured: *) => string}} Legend
 */
/**
 * A panel as its module declares it. Its instrument, which has its words, has the name of the module.
 * @typedef {object} Declared
 * @property {number} order of the panels, ascending
 * @property {boolean} opens whether it is open at first
 * @property {boolean} layered whether it is of one layer
 * @property {(task: import("../state/tasks.js").Task, learns: boolean, draws: boolean) => boolean} suits
 *   whether it says anything of a task, where a parameter learns, or where something draws
 * @property {number} rows the height of a cell in rem
 * @property {(observation: Observation) => Drawn|null} picture pure
 * @property {(cell: HTMLElement, pick: (value: number) => void) => {draw: (picture: *) => void}} create makes
 *   the painter of a cell
 * @property {Legend[]} [legend]
 * @property {string} [request] the key of the instrument that its legend's buttons ask
 * @property {boolean} [scrolls] whether a cell may hold more than it displays at once
 * @property {{panel: string, name: string, hint: string}} [picks] the number of another panel that a press in
 *   a cell chooses
 * @property {(observation: Observation) => Omit<import("../../choice/data.js").Carried, "of">} [data] that
 *   can be carried to Explore
 */
/** A panel with the key of its instrument. @typedef {Declared & {key: string}} Panel */
/**
 * A panel as it is displayed; ``legend`` has the texts of the names, ``missing`` and ``empty`` the reasons why
 * there is no picture, in all cells or in one; ``pressed`` is the index of the entry of the legend whose answer
 * is displayed, ``numbers`` are those that its instrument takes.
 * @typedef {{panel: Panel, title: string, sentence: string, limits: string, missing: string,
 *   legend: string[], numbers: import("../widgets/number-stepper.js").Counted[],
 *   pressed: number|null, cells: {line: LegendEntry, picture: Drawn|null, empty: string, answer: Answer|null, carry:
 *   Carry|null}[]}} Row
 */

const SCROLLED = { role: "group", tabindex: "0" }; // by keys as well

/**
 * A panel in a section of its own.
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
  const swatches = legend.map((entry, index) => swatchOf(entry, () => onLegend(index)));
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
  const columns = keyed(cells, make, ({ line }) => line.key);

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
function swatchOf({ text, swatch, numbers }, onclick) {
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
  const [said, formula] = [element("p", {}), element("code", {})];
  const answered = element("div", { class: "answer" }, said, formula);
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
      setText(said, answer?.words ?? "");
      setText(formula, answer?.formula ?? "");
      setAttribute(frame, "data-empty", picture ? null : empty);
      if (picture) painter.draw(picture);
    },
  };
}
