// Numbers as people read and type them.

/** Format a number with its significant digits, at most six: 0.1 + 0.2 is 0.3. @param {number} value */
export function formatNumber(value) {
  return String(Number(value.toPrecision(6)));
}

const DECIMAL = String.raw`(?:\d+[.,]?\d*|[.,]\d+)(?:e[+-]?\d+)?`;
const FACTOR = new RegExp(`^([+-]?)(?:(${DECIMAL})?(pi)|(${DECIMAL})|(e))$`);
const AMBIGUOUS = /^[+-]?[1-9]\d{0,2}(,\d{3})+$/; // thousands separator or decimal comma

/**
 * Parse a typed text as a finite number, or return null: 2.5, 2,5, 1e-3, and products or quotients as 1/3, pi/2, 2π.
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

/** Return a typed number with its signs normalized for parsing. @param {string} text */
function normalizeTyped(text) {
  const signs = text.toLowerCase().replace(/\s/g, "").replaceAll("−", "-").replaceAll("π", "pi");
  return signs.replace(/[×·]/g, "*").replaceAll("÷", "/");
}

/** Parse one factor of a typed number; return NaN if it is invalid. @param {string} text */
function parseFactor(text) {
  const [, sign, times, pi, number, e] = FACTOR.exec(text) ?? [];
  if (sign === undefined) return NaN;
  const decimal = Number((number ?? times ?? "1").replace(",", "."));
  return (sign === "-" ? -1 : 1) * decimal * (pi ? Math.PI : 1) * (e ? Math.E : 1);
}

/** Return why a typed text is not a number, with an example. @param {string} text that ``parseNumber`` cannot parse */
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
 * Return why a number is not allowed, or "" within its bounds.
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export function explainOutOfBounds(value, low, high) {
  if (low <= value && value <= high) return "";
  return `${formatNumber(value)} is not allowed here: choose a number from ${formatNumber(low)} to ${formatNumber(high)}.`;
}

/** Return the nearest number within bounds. @param {number} value @param {number} low @param {number} high */
export function clampTo(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

const FOUR_DIGITS = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });

/** Format a measured number in few characters of similar length: 46,970, 0.0123, 3.1e7. @param {number} value */
export function formatShort(value) {
  const size = Math.abs(value);
  if (value === 0 || (size >= 1e-3 && size < 1e7)) return FOUR_DIGITS.format(value);
  const [digits, exponent] = value.toExponential(2).split("e");
  return `${Number(digits)}e${Number(exponent)}`;
}

/** Format a power of ten on an axis. @param {number} exponent */
export function formatPower(exponent) {
  return Math.abs(exponent) <= 3 ? formatShort(10 ** exponent) : `1e${exponent}`;
}

/** Return an exponent in superscript characters. @param {number} exponent */
export function formatSuperscript(exponent) {
  return [...String(exponent)].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)])).join("");
}

/** Return a sentence with a capital first letter. @param {string} text */
export function capitalize(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Format a share in percent without decimals; 0 % and 100 % appear only if exact. @param {number} share */
export function formatShare(share) {
  const percent = Math.round(100 * share);
  if (share === 0 || share === 1 || (percent > 0 && percent < 100)) return `${percent} %`;
  return percent === 0 ? "less than 1 %" : "more than 99 %";
}

/** Format the propagated share of a gradient, which may exceed 100 %: 21 %, 250 %. @param {number} share */
export function formatPassedShare(share) {
  return share > 1 ? `${(100 * share).toFixed(0)} %` : formatShare(share);
}

/** Round a number to the digit of a unit. @param {number} value @param {number} unit */
export function roundToUnit(value, unit) {
  const digits = Math.floor(Math.log10(Math.abs(value))) - Math.floor(Math.log10(unit)) + 1;
  return digits < 1 ? 0 : Number(value.toPrecision(Math.min(digits, 17)));
}
