// The numbers at the probe, in one fixed place: x, the forward's value and slope, each rule's gradient.

import { counted } from "../../elements/children.js";
import { element, setAttribute, setText, setValue } from "../../elements/dom.js";
import { typedNumber } from "../../formula/numbers.js";
import { numberText } from "../../formula/substitution.js";

/** @import { Picture } from "../scene/picture.js" */

/** @param {number|undefined} value */
const digits = (value) => (value === undefined ? "" : numberText(value));

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
  field.addEventListener("input", () => onType(typedNumber(field.value.replace("−", "-"))));

  return {
    element: element("div", { class: "chart-readout" }, head, rules),
    /** @param {Picture} picture @param {import("./probe-values.js").Values|null} values */
    show(picture, values) {
      setValue(field, values ? String(values.x) : "");
      setText(y, digits(values?.y));
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
        showPart(item, values ? partText(picture, values.parts[rule.key]) : "");
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

/**
 * The numbers at the probe as a sentence, for those who cannot see it.
 * @param {Picture} picture
 * @param {import("./probe-values.js").Values} values
 */
export function spoken(picture, { x, y, gradients, parts }) {
  const visible = picture.rules.filter((rule) => !rule.hidden);
  const each = visible.map(({ key, label }) =>
    [`${label} ${digits(gradients[key])}`, partText(picture, parts[key])].filter(Boolean).join(", "),
  );
  return [`x ${x}`, `forward ${digits(y)}`, ...each].join(", ");
}
