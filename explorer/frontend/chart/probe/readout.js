// The numbers at the probe: x, the op's value and slope, and each rule's gradient.

import { element, setAttribute, setValue } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { parseNumber } from "../../formula/numbers.js";
import { fillTemplate } from "../../formula/phrases.js";
import { formatFourDigits } from "../../formula/substitution.js";

/** @import { Picture } from "../scene/picture.js" */
/** @import { Values } from "./probe-values.js" */

const ROUNDING = 1e-9; // a bias smaller than this fraction of the mean is a rounding error

/** @param {number|undefined} value */
const formatValue = (value) => (value === undefined ? "" : formatFourDigits(value));

/**
 * Create the display of all values at one x, with a text field for that x.
 * @param {(x: number|null) => void} onType called with each typed x, or null if it is invalid
 */
export function createReadout(onType) {
  const hints = { inputmode: "decimal", autocomplete: "off" };
  const field = element("input", { type: "text", "aria-label": "x", ...hints });
  const box = element("div", { class: "chart-readout" });
  field.addEventListener("input", () => onType(parseNumber(field.value.replace("−", "-"))));

  return {
    element: box,
    /** @param {Picture} picture @param {Values|null} values null without a valid x */
    show(picture, values) {
      setValue(field, values ? String(values.x) : "");
      const y = formatValue(values?.y) + formatSpread(picture, values?.spread?.forward);
      const [start, stop] = picture.range;
      const isOutside = values && !(values.x >= start && values.x <= stop);
      const isInvalid = !values && field.value.trim() !== "";
      setAttribute(field, "aria-invalid", isInvalid && "true");
      const slope = (values?.slopes ?? []).map(formatValue).join(" | ");
      const rules = picture.rules.filter((rule) => !rule.hidden);
      render(
        box,
        h(
          "div",
          { class: "chart-head" },
          h("label", {}, "x ", field),
          h("span", {}, "forward ", h("strong", {}, y)),
          h("span", {}, "slope ", h("strong", {}, slope)),
          h("span", { class: "chart-aside" }, isInvalid ? "not a number" : isOutside && "outside the view"),
        ),
        h(
          "ul",
          { class: "chart-rules" },
          rules.map((rule) => drawRule(picture, values, rule)),
        ),
      );
    },
  };
}

/** @param {Picture} picture @param {Values|null} values @param {Picture["rules"][number]} rule */
function drawRule(picture, values, { key, label, colour, entry }) {
  const aside = values && listAsides(picture, values, key).join(", ");
  const text = values?.formulas[key] ?? "";
  const numbers = text.includes(" = ") ? `= ${text.slice(0, text.lastIndexOf(" = "))}` : ""; // without the result
  const formula = values && !numbers ? "" : `${entry.formula ?? picture.op.autograd} ${numbers}`.trim();
  return h(
    "li",
    { "--colour": colour },
    h("b", {}, label),
    h("strong", {}, formatValue(values?.gradients[key])),
    aside && h("em", {}, aside),
    h("span", { title: formula }, formula),
  );
}

/** @param {Picture} picture @param {number|undefined} spread */
function formatSpread({ drawnWords }, spread) {
  return drawnWords && spread !== undefined
    ? ` ${fillTemplate(drawnWords.spread, { sd: formatValue(spread) })}`
    : "";
}

/** @param {Picture} picture @param {Values} values @param {string} key the rule's key */
function describeStochastic({ drawnWords }, { gradients, spread, exact }, key) {
  const mean = gradients[key];
  if (!drawnWords || mean === undefined || !spread) return "";
  const bias =
    exact === undefined
      ? ""
      : fillTemplate(drawnWords.bias, { bias: formatValue(dropRounding(mean - exact, mean)) });
  const sd = key in spread ? fillTemplate(drawnWords.sd, { sd: formatValue(spread[key]) }) : "";
  return [bias, sd].filter(Boolean).join(", ");
}

/** @param {number} difference @param {number} of the number whose size decides */
const dropRounding = (difference, of) =>
  Math.abs(difference) <= ROUNDING * Math.max(1, Math.abs(of)) ? 0 : difference;

/** @param {Picture} picture @param {Values} values @param {string} key */
function listAsides(picture, values, key) {
  const part = picture.learns ? values.parts[key] : undefined;
  const text = part === undefined ? "" : `part for ${picture.learns} ${formatValue(part)}`;
  return [text, describeStochastic(picture, values, key)].filter(Boolean);
}

/** Describe the values at the probe for screen readers. @param {Picture} picture @param {Values} values */
export function describeProbe(picture, values) {
  const { x, y, gradients, spread } = values;
  const visible = picture.rules.filter((rule) => !rule.hidden);
  const ruleTexts = visible.map(({ key, label }) =>
    [`${label} ${formatValue(gradients[key])}`, ...listAsides(picture, values, key)].join(", "),
  );
  return [`x ${x}`, `forward ${formatValue(y)}${formatSpread(picture, spread?.forward)}`, ...ruleTexts].join(
    ", ",
  );
}
