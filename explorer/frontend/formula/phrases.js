// Parts of sentences: templates that are filled, lists, and numbers as Python writes them.

/**
 * A template with its fields filled.
 * @param {string} template
 * @param {Record<string, string|number>} values
 */
export function filled(template, values) {
  return template.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/** Parts as a sentence has them: "a, b and c". @param {string[]} parts */
export function listed(parts) {
  return parts.length < 2
    ? parts.join("")
    : `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}`;
}

/**
 * A number with four digits, as Python's sentences have it; whole below ten millions.
 * @param {number} value
 */
export function digits(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "−inf";
  const [mantissa, exponent] = value.toExponential(3).split("e");
  const power = Number(exponent);
  const plain = power >= 4 ? value.toFixed(0) : String(Number(value.toPrecision(4)) + 0);
  const text = power >= 7 || power < -4 ? `${Number(mantissa)}e${power}` : plain;
  return text.replaceAll("-", "−");
}
