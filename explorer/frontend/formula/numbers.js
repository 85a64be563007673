// Numbers as text: formatting for display, and parsing of user input.

/** Format a number with at most six significant digits. @param {number} value */
export function formatNumber(value) {
  return String(Number(value.toPrecision(6)));
}

/**
 * Format a number with as few digits as identify it in the precision of an array.
 * @param {number} value @param {Float32Array|Float64Array} array an array of float32 or float64; only its type is used
 */
export function formatExact(value, array) {
  for (let digits = 1; digits <= 9 && array instanceof Float32Array; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(value);
}

const DECIMAL = String.raw`(?:\d+[.,]?\d*|[.,]\d+)(?:e[+-]?\d+)?`;
const FACTOR = new RegExp(`^([+-]?)(?:(${DECIMAL})?(pi)|(${DECIMAL})|(e))$`);
// matches e.g. "1,250", where the comma may be a thousands separator or a decimal comma
const AMBIGUOUS = /^[+-]?[1-9]\d{0,2}(,\d{3})+$/;

/**
 * Parse a number that a user has typed. It may be written as 2.5, 2,5 or 1e-3, or as a product or quotient such as 1/3,
 * pi/2 or 2π. Returns null for other texts, and if a comma may separate thousands.
 * @param {string} text
 */
export function parseNumber(text) {
  const plain = normalizeTyped(text);
  const [first, ...parts] = plain.split(/([*/])/);
  let value = AMBIGUOUS.test(plain) ? NaN : parseFactor(first);
  for (let at = 0; at < parts.length; at += 2) {
    const next = parseFactor(parts[at + 1]);
    value = parts[at] === "*" ? value * next : value / next;
  }
  return Number.isFinite(value) ? value + 0 : null;
}

/** Replace special characters in a typed number, such as a true minus sign. @param {string} text */
function normalizeTyped(text) {
  const signs = text.toLowerCase().replace(/\s/g, "").replaceAll("−", "-").replaceAll("π", "pi");
  return signs.replace(/[×·]/g, "*").replaceAll("÷", "/");
}

/** @param {string} text */
function parseFactor(text) {
  const [, sign, times, pi, number, e] = FACTOR.exec(text) ?? [];
  if (sign === undefined) return NaN;
  const decimal = Number((number ?? times ?? "1").replace(",", "."));
  return (sign === "-" ? -1 : 1) * decimal * (pi ? Math.PI : 1) * (e ? Math.E : 1);
}

/** Explain with an example how to type a number. @param {string} text the invalid input */
export function explainInvalidNumber(text) {
  const plain = normalizeTyped(text);
  if (AMBIGUOUS.test(plain)) {
    const integer = plain.replaceAll(",", "");
    const [before, ...groups] = plain.split(",");
    return `“${text.trim()}” may be ${groups.length > 1 ? "" : `${before}.${groups[0]} or `}${integer}: write it without a comma.`;
  }
  return `“${text.trim()}” is not a finite number: write it as 2.5, 1/3, pi/2 or 1e-3.`;
}

/**
 * Return an error message if a number is out of bounds, otherwise "".
 * @param {number} value @param {number} low @param {number} high
 */
export function explainOutOfBounds(value, low, high) {
  if (low <= value && value <= high) return "";
  const [given, from, to] = [String(value), formatNumber(low), formatNumber(high)].map(writeMinus);
  return `${given} is not allowed here: choose a number from ${from} to ${to}.`;
}

/** Return the nearest number between two bounds. @param {number} value @param {number} low @param {number} high */
export function clampTo(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

/** Return the text of a number with minus signs in place of hyphens. @param {string} text */
export const writeMinus = (text) => text.replaceAll("-", "−");

const FOUR_DIGITS = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });

/** Format a measured number in few characters, such as 46,970, −0.0123 or 3.1e7. @param {number} value */
export function formatShort(value) {
  const size = Math.abs(value);
  if (value === 0 || (size >= 1e-3 && size < 1e7)) return writeMinus(FOUR_DIGITS.format(value));
  const [digits, exponent] = value.toExponential(2).split("e");
  return writeMinus(`${Number(digits)}e${Number(exponent)}`);
}

/** Format a power of ten for an axis label, such as 0.01 or 1e−5. @param {number} exponent */
export function formatPower(exponent) {
  return Math.abs(exponent) <= 3 ? formatShort(10 ** exponent) : writeMinus(`1e${exponent}`);
}

/** Format an exponent with superscript characters. @param {number} exponent */
export function formatSuperscript(exponent) {
  return [...String(exponent)].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)])).join("");
}

/** Return a sentence whose first letter is a capital. @param {string} text */
export function capitalize(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/**
 * Format a fraction as a percentage without decimals. Only exact values are shown as 0 % or 100 %.
 * @param {number} share a fraction from 0 to 1
 */
export function formatShare(share) {
  const percent = Math.round(100 * share);
  if (share === 0 || share === 1 || (percent > 0 && percent < 100)) return `${percent} %`;
  return percent === 0 ? "less than 1 %" : "more than 99 %";
}

/**
 * Format the ratio of a rule's gradient to the upstream gradient as a percentage, which may exceed 100 %.
 * @param {number} share
 */
export function formatPassedShare(share) {
  return share > 1 ? `${formatShort(Math.round(100 * share))} %` : formatShare(share);
}

/** Round a number to the decimal place of a unit such as 0.01. @param {number} value @param {number} unit */
export function roundToUnit(value, unit) {
  const digits = Math.floor(Math.log10(Math.abs(value))) - Math.floor(Math.log10(unit)) + 1;
  return digits < 1 ? 0 : Number(value.toPrecision(Math.min(digits, 17)));
}
