// The section Format: all numbers of the format that the op rounds to, their steps, and where an x lands.

import { entriesOf } from "../../choice/choice.js";
import { element, setText } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { valuesOf } from "../../formula/curves.js";
import { countOf, formatOf, landingOf, numbersOf, octavesOf } from "../../formula/formats.js";
import { numberText } from "../../formula/substitution.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Format, Octave } from "../../formula/formats.js" */

const NOTHING =
  "The op rounds to no number format: choose FP4 or FP8, or write fp(x, mantissa, emin, max) in a formula.";
const MANY = "The format has too many numbers to list.";
const PER_CENT = 100;
const [WIDTH, HEIGHT] = [600, 40];

/**
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store}} options
 */
export function createFormat(host, { store }) {
  const nothing = element("p", {}, NOTHING);
  const lead = element("p");
  const field = element("input", {
    type: "number",
    step: "any",
    value: "0.3",
    "aria-label": "Value to round",
  });
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
  const whole = element(
    "div",
    { class: "format" },
    lead,
    element("label", {}, "Where does ", field, " land?"),
    landed,
    ruler,
    element("div", { class: "format-steps" }, table),
    element("h4", {}, "Its numbers, and their negatives"),
    list,
  );
  let drawn = "";
  host.append(nothing, whole);
  field.addEventListener("input", land);

  /** @param {Choice} choice */
  function show(choice) {
    host.hidden = choice.section !== "format";
    if (host.hidden) return;
    const { tree, parameters } = opOf(choice);
    const format = formatOf(tree, parameters);
    nothing.hidden = format !== null;
    whole.hidden = !format;
    const key = JSON.stringify(format);
    if (format && key !== drawn) draw(format);
    drawn = key;
    land();
  }

  /** @param {Format} format */
  function draw(format) {
    const octaves = octavesOf(format);
    setText(lead, octaves ? summary(format, octaves) : MANY);
    const numbers = octaves ? numbersOf(octaves) : [];
    steps.replaceChildren(...(octaves ?? []).map(row));
    setText(list, numbers.map(numberText).join("  "));
    ruler.replaceChildren(...(octaves ? [picture(numbers, format.largest)] : []));
  }

  function land() {
    const { tree, parameters } = opOf(store.now);
    const x = field.valueAsNumber;
    const found = Number.isFinite(x) ? landingOf(tree, x, parameters) : null;
    setText(landed, found ? sentence(found) : "Give a number.");
  }

  return { destroy: store.follow(show) };
}

/** @param {Choice} choice */
function opOf(choice) {
  const { op } = entriesOf(choice);
  return { tree: op.tree, parameters: valuesOf(op, null, choice.parameters) };
}

/** @param {string} name */
const heading = (name) => element("th", { scope: "col" }, name);

/** @param {Format} format @param {Octave[]} octaves */
function summary({ mantissa, least, largest }, octaves) {
  const bits = `${mantissa} ${mantissa === 1 ? "bit" : "bits"} of mantissa`;
  const smallest = numberText(2 ** (least - mantissa));
  return (
    `${countOf(octaves)} numbers from −${numberText(largest)} to ${numberText(largest)}, with ${bits}. ` +
    `The least above 0 is ${smallest}; below ${numberText(2 ** least)} all steps are as wide as there. ` +
    `What is larger becomes the largest.`
  );
}

/** @param {Octave} octave */
function row({ from, to, step, count }) {
  const share = (/** @type {number} */ value) => `${numberText((PER_CENT * step) / value)} %`;
  const relative =
    from === 0 ? `from ${share(to)} on` : to === from ? share(from) : `${share(from)} to ${share(to)}`;
  const cells = [numberText(from), numberText(to), numberText(step), relative, String(count)];
  return element("tr", {}, ...cells.map((text) => element("td", {}, text)));
}

/** The numbers as ticks on a line. @param {number[]} numbers @param {number} largest */
function picture(numbers, largest) {
  const line = numbers.map((value) => `M${((value / largest) * WIDTH).toFixed(2)} 8V${HEIGHT - 8}`).join("");
  const drawing = shape("svg", {
    viewBox: `-4 0 ${WIDTH + 8} ${HEIGHT}`,
    role: "img",
    "aria-label": `The numbers from 0 to ${numberText(largest)} on a line: they lie the denser, the nearer to 0.`,
  });
  drawing.append(shape("path", { d: line, stroke: "currentColor", "stroke-width": 1, fill: "none" }));
  return drawing;
}

/** @param {import("../../formula/formats.js").Landing} landing */
function sentence({ value, x, y, before, after }) {
  const lost = x - y;
  const share =
    x === 0 || lost === 0 ? "" : `, ${numberText((PER_CENT * Math.abs(lost)) / Math.abs(x))} % of it`;
  const beside = [before, after]
    .filter((each) => each !== null)
    .map((each) => numberText(/** @type {number} */ (each)));
  const loss = lost === 0 ? "Nothing is lost" : `${numberText(lost)} is lost${share}`;
  return (
    `y = ${numberText(y)}, by the number ${numberText(value)} of the format. ${loss}. ` +
    `Beside it ${beside.length > 1 ? "lie" : "lies"} ${beside.join(" and ")}.`
  );
}
