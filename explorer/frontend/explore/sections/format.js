// The section Format: all numbers of the format that the op rounds to, their steps, and where an x lands; of another
// op of levels those in view.

import { getEntries } from "../../choice/choice.js";
import { explainStochasticRefusal } from "../../choice/entries.js";
import { element, setText } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { createScopeAt, getParameterValues } from "../../formula/curves.js";
import { evaluate } from "../../formula/evaluation.js";
import {
  countOf,
  exactText,
  formatOf,
  landingOf,
  levelsIn,
  numbersOf,
  octavesOf,
} from "../../measures/formats.js";
import { explainInvalidNumber as refusedNumber, parseNumber } from "../../formula/numbers.js";
import { formatFourDigits, formatRounded } from "../../formula/substitution.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Format, Landing, Octave } from "../../measures/formats.js" */

const HERE = "Format";
const NOTHING =
  "The op rounds to no levels: choose FP4 or FP8, or write fp(x, mantissa, emin, max) in a formula.";
const MANY = "The format has too many numbers to list.";
const PER_CENT = 100;
const [WIDTH, HEIGHT] = [600, 40];

/**
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store}} options
 */
export function createFormat(host, { store }) {
  const lead = element("p");
  const field = element("input", { inputmode: "decimal", value: "0.3", "aria-label": "Value to round" });
  const landed = element("p", { role: "status" });
  const ruler = element("div", { class: "format-ruler" });
  const steps = element("tbody");
  const list = element("p", {
    class: "format-numbers",
    tabindex: 0,
    role: "region",
    "aria-label": "All numbers",
  });
  const table = element(
    "table",
    {},
    element(
      "thead",
      {},
      element("tr", {}, ...["from", "to", "step", "relative step", "numbers"].map(heading)),
    ),
    steps,
  );
  const heard = element("h3");
  const asked = element("label", {}, "Where does x = ", field, " land?");
  const scrolled = element("div", { class: "format-steps" }, table);
  const rounds = element("div", {}, asked, landed, ruler, scrolled, heard, list);
  let drawn = "";
  host.append(element("div", { class: "format" }, lead, rounds));
  field.addEventListener("input", land);

  /** @param {Choice} choice */
  function show(choice) {
    host.hidden = choice.section !== "format";
    if (host.hidden) return;
    const { op, parameters, range } = opOf(choice);
    const refusal = explainStochasticRefusal(HERE, op);
    rounds.hidden = Boolean(refusal);
    if (refusal) {
      drawn = "";
      return setText(lead, refusal);
    }
    const format = formatOf(op.tree, parameters);
    const levels = format ? null : levelsIn(op, choice.parameters, range);
    rounds.hidden = !format && !levels;
    const key = JSON.stringify([format, levels]);
    if (key !== drawn) draw(format, levels, range);
    drawn = key;
    land();
  }

  /** @param {Format|null} format @param {number[]|null} levels @param {{start: number, stop: number}} range */
  function draw(format, levels, range) {
    const octaves = format && octavesOf(format);
    const numbers = octaves ? numbersOf(octaves) : (levels ?? []);
    if (format) setText(lead, octaves ? summary(format, octaves) : MANY);
    else setText(lead, levels ? inView(levels, range) : NOTHING);
    setText(heard, format ? "Its numbers, and their negatives" : "Its values in view");
    heard.hidden = list.hidden = !numbers.length;
    scrolled.hidden = !octaves;
    steps.replaceChildren(...(octaves ?? []).map(row));
    setText(list, numbers.map(exactText).join("  "));
    ruler.replaceChildren(...(format && octaves ? [picture(numbers, format.largest)] : []));
  }

  function land() {
    const { op, parameters, range } = opOf(store.current);
    const x = parseNumber(field.value);
    field.setAttribute("aria-invalid", String(x === null));
    if (x === null) return setText(landed, refusedNumber(field.value));
    const scopeAt = createScopeAt(op, parameters, range);
    const found = landingOf(op.tree, x, parameters, scopeAt);
    return setText(
      landed,
      found ? landing(found) : becomes(x, evaluate(op.tree, scopeAt(Float64Array.of(x)))[0]),
    );
  }

  return { destroy: store.subscribeNow(show) };
}

/** @param {Choice} choice */
function opOf(choice) {
  const { op } = getEntries(choice);
  const [start, stop] = choice.range;
  return {
    op,
    parameters: getParameterValues(op, null, choice.parameters),
    range: { start, stop, g: choice.g },
  };
}

/** @param {string} name */
const heading = (name) => element("th", { scope: "col" }, name);

/** @param {Format} format @param {Octave[]} octaves */
function summary({ mantissa, least, largest }, octaves) {
  const bits = `${mantissa} ${mantissa === 1 ? "bit" : "bits"} of mantissa`;
  const [top, step] = [exactText(largest), exactText(2 ** (least - mantissa))];
  const evenly =
    octaves.length > 2
      ? `Up to ${exactText(2 ** (least + 1))} they lie ${step} apart; from there on each power of two doubles the step.`
      : `They lie ${step} apart.`;
  return `${countOf(octaves)} numbers from −${top} to ${top}, with ${bits}. ${evenly} What lies beyond becomes ±${top}.`;
}

/** @param {number[]} levels @param {{start: number, stop: number}} range */
function inView(levels, { start, stop }) {
  const steps = levels.slice(1).map((value, i) => value - levels[i]);
  const [least, most] = [Math.min(...steps), Math.max(...steps)];
  const even = steps.length > 1 && most - least < 1e-6 * most ? `, ${exactText(least)} apart` : "";
  const count = `${levels.length} ${levels.length === 1 ? "value" : "values"}`;
  return `The op rounds to no floating-point format: for x from ${formatFourDigits(start)} to ${formatFourDigits(stop)} it has ${count}${even}.`;
}

/** @param {Octave} octave */
function row({ from, to, step, count }) {
  const share = (/** @type {number} */ value) => `${formatFourDigits((PER_CENT * step) / value)} %`;
  const relative =
    from === 0 ? `${share(to)} and more` : to === from ? share(from) : `${share(from)} to ${share(to)}`;
  const cells = [exactText(from), exactText(to), exactText(step), relative, String(count)];
  return element("tr", {}, ...cells.map((text) => element("td", {}, text)));
}

/** The numbers as ticks on a line. @param {number[]} numbers @param {number} largest */
function picture(numbers, largest) {
  const line = numbers.map((value) => `M${((value / largest) * WIDTH).toFixed(2)} 8V${HEIGHT - 8}`).join("");
  const drawing = shape("svg", {
    viewBox: `-4 0 ${WIDTH + 8} ${HEIGHT}`,
    preserveAspectRatio: "xMinYMid",
    role: "img",
    "aria-label": `The numbers from 0 to ${exactText(largest)} on a line: they lie the denser, the nearer to 0.`,
  });
  drawing.append(shape("path", { d: line, stroke: "currentColor", "stroke-width": 1, fill: "none" }));
  return drawing;
}

/** @param {Landing} landing */
function landing({ value, x, y, before, after, isBeyond }) {
  const beside = [before, after].filter((each) => each !== null).map(exactText);
  const neighbours = `Beside ${exactText(value)} ${beside.length > 1 ? "lie" : "lies"} ${beside.join(" and ")}.`;
  const beyond = isBeyond ? "What is rounded lies beyond the largest number. " : "";
  const from = y === value ? "" : `From the format's number ${exactText(value)}: `;
  return `${beyond}${from}${becomes(x, y)} ${neighbours}`;
}

/** What an op makes of an x, and by how much it is off. @param {number} x @param {number} y */
function becomes(x, y) {
  const [size, off] = [exactText(y), Math.abs(y - x)];
  if (off === 0) return `x = y = ${size}: nothing is lost.`;
  if (!Number.isFinite(off)) return `y = ${formatFourDigits(y)}.`;
  const share = x === 0 ? "" : `, ${formatFourDigits((PER_CENT * off) / Math.abs(x))} % of x`;
  return `y = ${size}, ${formatRounded(off, 6)} ${y > x ? "more" : "less"} than x${share}.`;
}
