// Parts of sentences: filled templates, lists, and numbers formatted as in Python's sentences.

import { writeMinus } from "./numbers.js";

/**
 * Replace the names in braces in a template with values.
 * @param {string} template @param {Record<string, string|number>} values
 */
export function fillTemplate(template, values) {
  return template.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/** Join words as in a sentence, such as "a, b and c". @param {string[]} parts */
export function joinList(parts) {
  return parts.length < 2
    ? parts.join("")
    : `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}`;
}

/** Format a number with four significant digits, like in Python's sentences. @param {number} value */
export function formatDigits(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "−inf";
  const [mantissa, exponent] = value.toExponential(3).split("e");
  const power = Number(exponent);
  const plain = power >= 4 ? value.toFixed(0) : String(Number(value.toPrecision(4)) + 0);
  const text = power >= 7 || power < -4 ? `${Number(mantissa)}e${power}` : plain;
  return writeMinus(text);
}
