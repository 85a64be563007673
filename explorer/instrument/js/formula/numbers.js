// Numbers as people read and type them.

/**
 * A number with the digits that tell, for the screen: 0.1 + 0.2 is 0.3.
 * @param {number} value
 */
export function numberText(value) {
  return String(Number(value.toPrecision(6)));
}

/**
 * What somebody typed as a finite number; null where it is none.
 * @param {string} text
 */
export function typedNumber(text) {
  const value = text.trim() === "" ? NaN : Number(text);
  return Number.isFinite(value) ? value + 0 : null;
}

/**
 * The nearest number within bounds.
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export function within(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

/**
 * A measured number in a few characters, all of one size: 46,970, 0.0123, 3.1e7.
 * @param {number} value
 */
export function shortText(value) {
  const size = Math.abs(value);
  if (value === 0 || (size >= 1e-3 && size < 1e7))
    return value.toLocaleString("en-US", { maximumSignificantDigits: 4 });
  const [digits, exponent] = value.toExponential(2).split("e");
  return `${Number(digits)}e${Number(exponent)}`;
}

/** A power of ten on an axis. @param {number} exponent */
export function powerText(exponent) {
  return Math.abs(exponent) <= 3 ? shortText(10 ** exponent) : `1e${exponent}`;
}

/** @param {number} exponent in small raised signs */
export function raised(exponent) {
  return [...String(exponent)].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)])).join("");
}

/** A share in whole percent; 0 % and 100 % only where it is exactly that. @param {number} share */
export function shareText(share) {
  const whole = Math.round(100 * share);
  return `${share > 0 && share < 1 ? Math.min(Math.max(whole, 1), 99) : whole} %`;
}
