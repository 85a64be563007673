// A panel of the area "Why", with one drawing per rule.

import { saveCarried } from "../../choice/data.js";
import { element } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { createNumberStepper } from "../widgets/number-stepper.js";
import { findInstrument } from "../state/instruments.js";
import { drawPicture, paintCanvases } from "./picture.js";

/** @import { Panel } from "../state/instruments.js" */
/** @import { LegendEntry } from "../state/series.js" */
/** @import { Picture } from "./panels.js" */
/**
 * The contents of a panel.
 * @typedef {{words: string, formula: string}} Answer the server's answer about a rule: a sentence, and a formula with
 *   its numbers
 * @typedef {{address: string, label: string, data: import("../../choice/data.js").Carried}} Carry a link that plots a
 *   histogram on Explore
 * @typedef {{panel: Panel, title: string, sentence: string, limits: string, missing: string, legend: string[], numbers:
 *   import("../widgets/number-stepper.js").StepperValue[], pressed: number|null, cells: {line: LegendEntry, picture:
 *   Picture|null, empty: string, answer: Answer|null, carry: Carry|null}[]}} Row ``missing``, ``empty``: why all cells
 *   or one cell have no picture, or ""; ``numbers``: the arguments of the instrument; ``pressed``: index of the
 *   legend's button whose answer is displayed, or null
 */

const SCROLLED = { role: "group", tabindex: "0" }; // focusable, so that the keyboard can scroll it

/**
 * Create a panel with one drawing per rule.
 * @param {Panel} panel
 * @param {{onLegend?: (index: number) => void, onNumber: (name: string, value: number) => void, onPick: (value: number)
 *   => void}} on ``onLegend``: called when a button of the legend is pressed (without it, the legend has no buttons);
 *   ``onNumber``: changes an argument; ``onPick``: called with the index of a pressed example
 */
export function createPanel({ key, rows, legend, scrolls }, { onLegend, onNumber, onPick }) {
  const section = element("section", { class: `why-panel ${key}`, "data-panel": key });
  const counters = findInstrument(key).arguments.map(({ name, label }) =>
    createNumberStepper(label, (value) => onNumber(name, value)),
  );
  section.style.setProperty("--rows", `${rows}rem`);

  /** @param {Row} row @param {number} index */
  function drawSwatch({ legend: texts, pressed }, index) {
    const { swatch, numbers } = legend[index];
    const button = {
      title: "Show one unit's numbers in the formula",
      "aria-pressed": String(index === pressed),
      onclick: () => onLegend?.(index),
    };
    const content = [h("i", { class: swatch }), h("span", {}, texts[index])];
    const isButton = numbers && onLegend;
    return h(isButton ? "button" : "span", { class: "swatch", ...(isButton ? button : {}) }, content);
  }

  /**
   * @param {Row["cells"][number]} cell
   * @param {import("./picture.js").Paint[]} paints an array to which the functions that paint the canvases are added
   */
  function drawCell({ line, picture, empty, answer, carry }, paints) {
    const frame = {
      class: "cell",
      "aria-label": `${line.label}: ${picture?.words ?? empty}`,
      "data-empty": picture ? null : empty,
      ...(scrolls ? SCROLLED : { role: "img" }),
    };
    const link = carry && {
      ...{ class: "carry", href: carry.address, "aria-label": carry.label },
      onclick: () => saveCarried(carry.data),
    };
    return h(
      "div",
      { key: line.key, class: "column", "data-rule": line.key, "--colour": line.colour },
      h("b", { title: line.label }, line.label),
      h("div", frame, picture && drawPicture(picture, paints, onPick)),
      link && h("a", link, "Show behind the curves"),
      answer && h("div", { class: "answer" }, h("p", {}, answer.words), h("code", {}, answer.formula)),
    );
  }

  return {
    element: section,
    /** @param {Row} row */
    show(row) {
      const paints = /** @type {import("./picture.js").Paint[]} */ ([]);
      counters.forEach((counter, at) => counter.show(row.numbers[at]));
      section.setAttribute("aria-label", row.title);
      const limits = h("p", { class: "limits" }, row.limits);
      const cells = row.missing ? [] : row.cells.map((cell) => drawCell(cell, paints));
      render(
        section,
        h(
          "header",
          {},
          h("h3", {}, row.title),
          h("p", { class: "sentence" }, row.sentence),
          counters.map((counter) => counter.element),
          onLegend && legend.some(({ numbers }) => numbers) && h("span", {}, "Show a unit:"),
          legend.map((_, index) => drawSwatch(row, index)),
          h("details", { class: "limits-of" }, h("summary", {}, "Limits"), limits),
        ),
        row.missing
          ? h("p", { class: "missing text-small" }, row.missing)
          : h("div", { class: "columns" }, cells),
      );
      paintCanvases(section, paints);
    },
  };
}
