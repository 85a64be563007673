/** Numbers formatted as Python does. */

const MIN_PLAIN = 1e-4; // numbers below have an exponent
const [MAX_PLAIN, MAX_PLAIN_SINGLE] = [1e16, 1e6]; // numbers from here have an exponent: float64 and float32
const SINGLE_DIGITS = 9; // enough to distinguish any two float32

/** Format a float64 number as Python's ``repr``: 2.0, 0.1, 1e-05, inf. @param {number} value */
export function formatFloat(value) {
  return formatParts(value, Math.abs(value).toExponential(), MAX_PLAIN);
}

/** Format a float32 number as NumPy does: the shortest text that parses to the same float32. @param {number} value */
export function formatFloat32(value) {
  const size = Math.abs(value);
  for (let digits = 0; digits < SINGLE_DIGITS - 1; digits++) {
    const text = roundHalfToEven(size, digits);
    if (Math.fround(Number(text)) === size) return formatParts(value, text, MAX_PLAIN_SINGLE);
  }
  return formatParts(value, roundHalfToEven(size, SINGLE_DIGITS - 1), MAX_PLAIN_SINGLE);
}

/**
 * Round to a number of digits after the first, halves to even as in NumPy; return the text in scientific notation.
 * @param {number} size
 * @param {number} digits
 */
export function roundHalfToEven(size, digits) {
  const text = size.toExponential(digits);
  const last = 10 ** (Number(text.slice(text.indexOf("e") + 1)) - digits);
  if (Math.abs(Number(text) - size) < 0.4 * last) return text; // not near a half
  const isHalf = /50{20}e/.test(size.toExponential(digits + 21));
  return isHalf ? text.replace(/[13579](?=e)/, (odd) => String(Number(odd) - 1)) : text;
}

/**
 * Format a number plain or scientific, depending on its size.
 * @param {number} value
 * @param {string} text the digits without a sign, such as "1.5e+3"
 * @param {number} maxPlain the size from which it is scientific
 */
function formatParts(value, text, maxPlain) {
  if (Number.isNaN(value)) return "nan";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  if (!Number.isFinite(value)) return `${sign}inf`;
  const [mantissa, power] = text.split("e");
  const size = Math.abs(value);
  const plain = size === 0 || (size >= MIN_PLAIN && size < maxPlain);
  return sign + (plain ? formatPlain : formatScientific)(mantissa.replace(".", ""), Number(power));
}

/** Return the plain notation of digits. @param {string} digits @param {number} exponent of the first digit */
function formatPlain(digits, exponent) {
  if (exponent < 0) return `0.${"0".repeat(-exponent - 1)}${digits}`;
  const integer = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${integer}.${digits.slice(exponent + 1) || "0"}`;
}

/** Return the scientific notation of digits. @param {string} digits @param {number} exponent of the first digit */
function formatScientific(digits, exponent) {
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
  const sign = exponent < 0 ? "-" : "+";
  return `${digits[0]}${fraction}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
}
