/** Numbers formatted as Python does. */

const MIN_PLAIN = 1e-4; // smaller numbers are written with an exponent
const [MAX_PLAIN, MAX_PLAIN_SINGLE] = [1e16, 1e6]; // larger float64 and float32 numbers are written with an exponent
const SINGLE_DIGITS = 9; // enough digits to distinguish any two float32 numbers

/** Format a float64 number like Python's ``repr``, for example 2.0 or 1e-05. @param {number} value */
export function formatFloat(value) {
  return formatBySize(value, Math.abs(value).toExponential(), MAX_PLAIN);
}

/** Format a float32 number like NumPy, with as few digits as possible. @param {number} value */
export function formatFloat32(value) {
  const size = Math.abs(value);
  for (let digits = 0; digits < SINGLE_DIGITS - 1; digits++) {
    const text = roundHalfToEven(size, digits);
    if (Math.fround(Number(text)) === size) return formatBySize(value, text, MAX_PLAIN_SINGLE);
  }
  return formatBySize(value, roundHalfToEven(size, SINGLE_DIGITS - 1), MAX_PLAIN_SINGLE);
}

/**
 * Round a number to some decimals in scientific notation, with halves to even as in NumPy.
 * @param {number} size @param {number} digits
 */
export function roundHalfToEven(size, digits) {
  const text = size.toExponential(digits);
  const last = 10 ** (Number(text.slice(text.indexOf("e") + 1)) - digits);
  if (Math.abs(Number(text) - size) < 0.4 * last) return text; // the rounded digit was not close to a half
  const isHalf = /50{20}e/.test(size.toExponential(digits + 21));
  return isHalf ? text.replace(/[13579](?=e)/, (odd) => String(Number(odd) - 1)) : text;
}

/**
 * Format a number in plain or scientific notation, depending on its size.
 * @param {number} value @param {string} text the digits without a sign, such as "1.5e+3"
 * @param {number} maxPlain the size from which it is scientific
 */
function formatBySize(value, text, maxPlain) {
  if (Number.isNaN(value)) return "nan";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  if (!Number.isFinite(value)) return `${sign}inf`;
  const [mantissa, power] = text.split("e");
  const size = Math.abs(value);
  const plain = size === 0 || (size >= MIN_PLAIN && size < maxPlain);
  return sign + (plain ? formatPlain : formatScientific)(mantissa.replace(".", ""), Number(power));
}

/** Write digits in plain notation. @param {string} digits @param {number} exponent of the first digit */
function formatPlain(digits, exponent) {
  if (exponent < 0) return `0.${"0".repeat(-exponent - 1)}${digits}`;
  const integer = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${integer}.${digits.slice(exponent + 1) || "0"}`;
}

/** Write digits in scientific notation. @param {string} digits @param {number} exponent of the first digit */
function formatScientific(digits, exponent) {
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
  const sign = exponent < 0 ? "-" : "+";
  return `${digits[0]}${fraction}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
}
