// The numbers at the probe, in one fixed place: x, the forward's value and slope, each rule's gradient.

import { counted } from "../../elements/children.js";
import { element, setAttribute, setText, setValue } from "../../elements/dom.js";
import { parseNumber } from "../../formula/numbers.js";
import { fillTemplate } from "../../formula/phrases.js";
import { formatFourDigits } from "../../formula/substitution.js";

/** @import { Picture } from "../scene/picture.js" */

const ROUNDING = 1e-9; // of a mean: less bias is none

/** @param {number|undefined} value */
const digits = (value) => (value === undefined ? "" : formatFourDigits(value));

/** @param {(x: number|null) => void} onType told of every x that is typed, null while it is none */
export function createReadout(onType) {
  const hints = { inputmode: "decimal", placeholder: "type x", autocomplete: "off" };
  const field = element("input", { type: "text", "aria-label": "x", ...hints });
  const y = element("strong");
  const slope = element("strong");
  const head = element(
    "div",
    { class: "chart-head" },
    element("label", {}, "x ", field),
    element("span", {}, "forward ", y),
    element("span", {}, element("i", {}, "numerical "), "slope ", slope),
  );
  const aside = element("span", { class: "chart-aside" });
  head.append(aside);
  const rules = element("ul", { class: "chart-rules" });
  field.addEventListener("input", () => onType(parseNumber(field.value.replace("−", "-"))));

  return {
    element: element("div", { class: "chart-readout" }, head, rules),
    /** @param {Picture} picture @param {import("./probe-values.js").Values|null} values */
    show(picture, values) {
      setValue(field, values ? String(values.x) : "");
      setText(y, digits(values?.y) + spreadText(picture, values?.spread?.forward));
      const [start, stop] = picture.range;
      const isOutside = values && !(values.x >= start && values.x <= stop);
      const wrong = !values && field.value.trim() !== "";
      setAttribute(field, "aria-invalid", wrong && "true");
      setText(aside, wrong ? "not a number" : isOutside ? "outside the view" : "");
      setText(slope, (values?.slopes ?? []).map(digits).join(" | "));
      const visible = picture.rules.filter((rule) => !rule.hidden);
      counted(rules, visible, row, (item, rule) => {
        const [name, value, formula] = item.querySelectorAll("b, strong, span");
        item.style.setProperty("--colour", rule.colour);
        setText(name, rule.label);
        setText(value, digits(values?.gradients[rule.key]));
        showPart(item, values ? asides(picture, values, rule.key).join(", ") : "");
        setText(
          formula,
          values ? unresolved(values.formulas[rule.key]) : (rule.entry.formula ?? picture.op.autograd),
        );
        formula.title = formula.textContent;
      });
    },
  };
}

/** A formula with its numbers, without the result that stands before it. @param {string} text */
function unresolved(text) {
  return text.includes(" = ") ? `= ${text.slice(0, text.lastIndexOf(" = "))}` : "";
}

function row() {
  return element("li", {}, element("b"), element("strong"), element("span"));
}

/** Behind the gradient, where there is one. @param {Element} row @param {string} text */
function showPart(row, text) {
  const known = row.querySelector("em");
  if (!text) known?.remove();
  else if (known) setText(known, text);
  else row.querySelector("strong")?.after(element("em", {}, text));
}

/** The part in the gradient for the parameter that learns. @param {Picture} picture @param {number|undefined} part */
function partText({ learns }, part) {
  return learns && part !== undefined ? `part for ${learns} ${digits(part)}` : "";
}

/** Behind a mean. @param {Picture} picture @param {number|undefined} spread */
function spreadText({ drawnWords }, spread) {
  return drawnWords && spread !== undefined
    ? ` ${fillTemplate(drawnWords.spread, { sd: digits(spread) })}`
    : "";
}

/** The distance of a rule's mean from the exact gradient, and the spread of its draws. @param {Picture} picture @param {import("./probe-values.js").Values} values @param {string} key */
function drawnText({ drawnWords }, { gradients, spread, exact }, key) {
  const mean = gradients[key];
  if (!drawnWords || mean === undefined || !spread) return "";
  const bias =
    exact === undefined ? "" : fillTemplate(drawnWords.bias, { bias: digits(clean(mean - exact, mean)) });
  const sd = key in spread ? fillTemplate(drawnWords.sd, { sd: digits(spread[key]) }) : "";
  return [bias, sd].filter(Boolean).join(", ");
}

/** A difference without rounding. @param {number} difference @param {number} of */
const clean = (difference, of) =>
  Math.abs(difference) <= ROUNDING * Math.max(1, Math.abs(of)) ? 0 : difference;

/** What is said behind a gradient. @param {Picture} picture @param {import("./probe-values.js").Values} values @param {string} key */
function asides(picture, values, key) {
  return [partText(picture, values.parts[key]), drawnText(picture, values, key)].filter(Boolean);
}

/**
 * The numbers at the probe as a sentence, for those who cannot see it.
 * @param {Picture} picture
 * @param {import("./probe-values.js").Values} values
 */
export function spoken(picture, values) {
  const { x, y, gradients, spread } = values;
  const visible = picture.rules.filter((rule) => !rule.hidden);
  const each = visible.map(({ key, label }) =>
    [`${label} ${digits(gradients[key])}`, ...asides(picture, values, key)].join(", "),
  );
  return [`x ${x}`, `forward ${digits(y)}${spreadText(picture, spread?.forward)}`, ...each].join(", ");
}
