// A panel of the section "Why", with one drawing per backward rule.

import { saveCarried } from "../../choice/data.js";
import { createChildren } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { createCounter } from "../widgets/number-stepper.js";
import { findInstrument } from "../state/instruments.js";
import { showPicture } from "./picture.js";

/** @import { Panel } from "../state/instruments.js" */
/** @import { LegendEntry } from "../state/series.js" */
/** @import { Picture } from "./panels.js" */
/**
 * The server's answer about a rule: a sentence, and a formula with its numbers.
 * @typedef {{words: string, formula: string}} Answer
 * Data to show on Explore, at ``address``.
 * @typedef {{address: string, label: string, data: import("../../choice/data.js").Carried}} Carry
 * A panel as it is displayed. ``legend`` has the texts of the legend, ``missing`` and ``empty`` say why all cells or
 * one cell have no picture, ``pressed`` is the index of the legend entry whose answer is displayed, and ``numbers``
 * are the arguments of the instrument.
 * @typedef {{panel: Panel, title: string, sentence: string, limits: string, missing: string,
 *   legend: string[], numbers: import("../widgets/number-stepper.js").CounterValue[],
 *   pressed: number|null, cells: {line: LegendEntry, picture: Picture|null, empty: string, answer: Answer|null, carry:
 *   Carry|null}[]}} Row
 */

const SCROLLED = { role: "group", tabindex: "0" }; // focusable, so that it can be scrolled with the keyboard

/**
 * Create a panel of the section "Why", with one drawing per backward rule.
 * @param {Panel} panel
 * @param {{onLegend: (index: number) => void, onNumber: (name: string, value: number) => void,
 *   onPick: (value: number) => void}} on
 */
export function createPanel({ key, rows, legend, scrolls }, { onLegend, onNumber, onPick }) {
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
  const make = (/** @type {Row["cells"][number]} */ { line }) => createCell(line.key, onPick, scrolls);
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

/** @param {Panel["legend"][number]} entry @param {() => void} onclick */
function createSwatch({ swatch, numbers }, onclick) {
  const [shade, name] = [element("i", { class: swatch }), element("span", {})];
  if (!numbers) return element("span", { class: "swatch" }, shade, name);
  const title = "Show one unit's numbers in the formula";
  return element("button", { class: "swatch", title, onclick }, shade, name);
}

/**
 * @param {string} rule its key
 * @param {(example: number) => void} onPick
 * @param {boolean} scrolls
 */
function createCell(rule, onPick, scrolls) {
  const name = element("b", {});
  const frame = element("div", { class: "cell", ...(scrolls ? SCROLLED : { role: "img" }) });
  const [message, formula] = [element("p", {}), element("code", {})];
  const answered = element("div", { class: "answer" }, message, formula);
  let data = /** @type {Carry["data"]|null} */ (null);
  const link = element("a", { class: "carry", onclick: () => saveCarried(data) }, "Show behind the curves");
  const cell = element("div", { class: "column", "data-rule": rule }, name, frame, link, answered);
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
      if (picture) showPicture(frame, picture, onPick);
    },
  };
}
