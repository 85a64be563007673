// The section Format: the numbers of the floating-point format to which an op rounds, the steps between them, and how
// it rounds one x. For other piecewise constant ops: the output values in the visible range.

import { getEntries } from "../../choice/choice.js";
import { explainStochasticRefusal } from "../../choice/entries.js";
import { element } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { createScopeAt, getParameterValues } from "../../formula/curves.js";
import { evaluate } from "../../formula/evaluation.js";
import * as formats from "../../measures/formats.js";
import { explainInvalidNumber as refusedNumber, parseNumber } from "../../formula/numbers.js";
import { formatFourDigits, formatRounded } from "../../formula/substitution.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Child } from "../../elements/render.js" */
/** @import { Format, Landing, Octave } from "../../measures/formats.js" */

const SECTION_NAME = "Format";
const NO_LEVELS_TEXT =
  "The op rounds to no levels: choose FP4 or FP8, or write fp(x, mantissa, emin, max) in a formula.";
const TOO_MANY_TEXT = "The format has too many numbers to list.";
const PER_CENT = 100;
const [WIDTH, HEIGHT] = [600, 40];

/**
 * Create the section Format, which lists the values to which the op rounds.
 * @param {HTMLElement} host @param {{store: import("../../choice/store.js").Store}} options
 */
export function createFormat(host, { store }) {
  const field = element("input", { inputmode: "decimal", value: "0.3", "aria-label": "Value to round" });
  const body = element("div", { class: "format" });
  let drawnKey = "";
  let drawn = /** @type {Child[]} */ ([]);
  host.append(body);
  field.addEventListener("input", () => show(store.current));

  /** @param {Choice} choice */
  function show(choice) {
    host.hidden = choice.section !== "format";
    if (host.hidden) return;
    const { op, parameters, range } = getOp(choice);
    const refusal = explainStochasticRefusal(SECTION_NAME, op);
    if (refusal) return render(body, h("p", {}, refusal));
    const format = formats.findFormat(op.tree, parameters);
    const octaves = format && formats.listOctaves(format);
    const levels = format ? null : formats.findLevels(op, choice.parameters, range);
    const key = JSON.stringify([format, levels]);
    if (key !== drawnKey) drawn = drawNumbers(format, octaves, levels);
    drawnKey = key;
    const lead = format
      ? (octaves && describeFormat(format, octaves)) || TOO_MANY_TEXT
      : (levels && describeLevels(levels, range)) || NO_LEVELS_TEXT;
    const question = h("label", {}, "Where does x = ", field, " land?");
    const answer = h("p", { role: "status" }, answerLanding(choice));
    render(body, h("p", {}, lead), (format || levels) && h("div", {}, question, answer, drawn));
  }

  /** Return where the typed x lands, or why it is refused. @param {Choice} choice */
  function answerLanding(choice) {
    const { op, parameters, range } = getOp(choice);
    const x = parseNumber(field.value);
    field.setAttribute("aria-invalid", String(x === null));
    if (x === null) return refusedNumber(field.value);
    const scopeAt = createScopeAt(op, parameters, range);
    const result = formats.findLanding(op.tree, x, parameters, scopeAt);
    return result
      ? describeLanding(result)
      : describeValue(x, evaluate(op.tree, scopeAt(Float64Array.of(x)))[0]);
  }

  return { destroy: store.subscribeNow(show) };
}

/**
 * Draw the numbers of a format, the steps between them, and a list of all numbers or of the values in view.
 * @param {Format|null} format null for another op @param {Octave[]|null} octaves null if there are too many
 * @param {number[]|null} levels values of another op in view, or null @returns {Child[]}
 */
function drawNumbers(format, octaves, levels) {
  const numbers = octaves ? formats.listNumbers(octaves) : (levels ?? []);
  const names = ["from", "to", "step", "relative step", "numbers"];
  const heads = names.map((name) => h("th", { scope: "col" }, name));
  const steps = h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, octaves?.map(drawOctave)));
  const region = { class: "format-numbers", tabindex: 0, role: "region", "aria-label": "All numbers" };
  return [
    h("div", { class: "format-ruler" }, format && octaves && drawRuler(numbers, format.largest)),
    octaves && h("div", { class: "format-steps" }, steps),
    numbers.length > 0 && h("h3", {}, format ? "Its numbers, and their negatives" : "Its values in view"),
    numbers.length > 0 && h("p", region, numbers.map(formats.formatExact).join("  ")),
  ];
}

/** @param {Choice} choice */
function getOp(choice) {
  const { op } = getEntries(choice);
  const [start, stop] = choice.range;
  return {
    op,
    parameters: getParameterValues(op, null, choice.parameters),
    range: { start, stop, g: choice.g },
  };
}

/** @param {Format} format @param {Octave[]} octaves */
function describeFormat({ mantissa, least, largest }, octaves) {
  const bits = `${mantissa} ${mantissa === 1 ? "bit" : "bits"} of mantissa`;
  const [top, step] = [formats.formatExact(largest), formats.formatExact(2 ** (least - mantissa))];
  const evenly =
    octaves.length > 2
      ? `Up to ${formats.formatExact(2 ** (least + 1))} they lie ${step} apart; from there on each power of two doubles the step.`
      : `They lie ${step} apart.`;
  return `${formats.countNumbers(octaves)} numbers from −${top} to ${top}, with ${bits}. ${evenly} What lies beyond becomes ±${top}.`;
}

/** @param {number[]} levels @param {{start: number, stop: number}} range */
function describeLevels(levels, { start, stop }) {
  const steps = levels.slice(1).map((value, i) => value - levels[i]);
  const [minStep, maxStep] = [Math.min(...steps), Math.max(...steps)];
  const even =
    steps.length > 1 && maxStep - minStep < 1e-6 * maxStep ? `, ${formats.formatExact(minStep)} apart` : "";
  const count = `${levels.length} ${levels.length === 1 ? "value" : "values"}`;
  return `The op rounds to no floating-point format: for x from ${formatFourDigits(start)} to ${formatFourDigits(stop)} it has ${count}${even}.`;
}

/** @param {Octave} octave */
function drawOctave({ from, to, step, count }) {
  const share = (/** @type {number} */ value) => `${formatFourDigits((PER_CENT * step) / value)} %`;
  const relative =
    from === 0 ? `${share(to)} and more` : to === from ? share(from) : `${share(from)} to ${share(to)}`;
  const cells = [
    formats.formatExact(from),
    formats.formatExact(to),
    formats.formatExact(step),
    relative,
    String(count),
  ];
  return h(
    "tr",
    {},
    cells.map((text) => h("td", {}, text)),
  );
}

/** @param {number[]} numbers @param {number} largest the right end of the line */
function drawRuler(numbers, largest) {
  const line = numbers.map((value) => `M${((value / largest) * WIDTH).toFixed(2)} 8V${HEIGHT - 8}`).join("");
  const text = `The numbers from 0 to ${formats.formatExact(largest)} on a line: they lie the denser, the nearer to 0.`;
  return h(
    "svg",
    {
      viewBox: `-4 0 ${WIDTH + 8} ${HEIGHT}`,
      preserveAspectRatio: "xMinYMid",
      role: "img",
      "aria-label": text,
    },
    h("path", { d: line, stroke: "currentColor", "stroke-width": 1, fill: "none" }),
  );
}

/** @param {Landing} landing */
function describeLanding({ value, x, y, before, after, isBeyond }) {
  const neighbourTexts = [before, after].filter((each) => each !== null).map(formats.formatExact);
  const neighbours = `Beside ${formats.formatExact(value)} ${neighbourTexts.length > 1 ? "lie" : "lies"} ${neighbourTexts.join(" and ")}.`;
  const beyondText = isBeyond ? "The rounded value lies beyond the largest number. " : "";
  const originText = y === value ? "" : `From the format's number ${formats.formatExact(value)}: `;
  return `${beyondText}${originText}${describeValue(x, y)} ${neighbours}`;
}

/** @param {number} x @param {number} y */
function describeValue(x, y) {
  const [size, error] = [formats.formatExact(y), Math.abs(y - x)];
  if (error === 0) return `x = y = ${size}: nothing is lost.`;
  if (!Number.isFinite(error)) return `y = ${formatFourDigits(y)}.`;
  const share = x === 0 ? "" : `, ${formatFourDigits((PER_CENT * error) / Math.abs(x))} % of x`;
  return `y = ${size}, ${formatRounded(error, 6)} ${y > x ? "more" : "less"} than x${share}.`;
}
