/** Numbers as Python writes them. */

const LEAST = 1e-4; // from where on a number is written out
const [MOST, MOST_SINGLE] = [1e16, 1e6]; // below which it is, float64 and float32
const SINGLE_DIGITS = 9; // as many as tell any float32 from all others

/** A float64 number as Python's ``repr`` has it: 2.0, 0.1, 1e-05, inf. @param {number} value */
export function floatText(value) {
  return written(value, Math.abs(value).toExponential(), MOST);
}

/**
 * A float32 number as NumPy has it: the shortest text that reads back as the same float32.
 * @param {number} value
 */
export function singleText(value) {
  const size = Math.abs(value);
  for (let digits = 0; digits < SINGLE_DIGITS - 1; digits++) {
    const text = toEven(size, digits);
    if (Math.fround(Number(text)) === size) return written(value, text, MOST_SINGLE);
  }
  return written(value, toEven(size, SINGLE_DIGITS - 1), MOST_SINGLE);
}

/**
 * A number rounded to so many digits behind the first; a half goes to the even digit, as NumPy has it.
 * @param {number} size
 * @param {number} digits
 */
export function toEven(size, digits) {
  const text = size.toExponential(digits);
  const last = 10 ** (Number(text.slice(text.indexOf("e") + 1)) - digits);
  if (Math.abs(Number(text) - size) < 0.4 * last) return text; // no half: its digits are not asked for
  const isHalf = /50{20}e/.test(size.toExponential(digits + 21));
  return isHalf ? text.replace(/[13579](?=e)/, (odd) => String(Number(odd) - 1)) : text;
}

/**
 * @param {number} value
 * @param {string} text of it without its sign, such as "1.5e+3"
 * @param {number} most
 */
function written(value, text, most) {
  if (Number.isNaN(value)) return "nan";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  if (!Number.isFinite(value)) return `${sign}inf`;
  const [mantissa, power] = text.split("e");
  const size = Math.abs(value);
  const plain = size === 0 || (size >= LEAST && size < most);
  return sign + (plain ? laidOut : scientific)(mantissa.replace(".", ""), Number(power));
}

/** @param {string} digits @param {number} exponent of the first one */
function laidOut(digits, exponent) {
  if (exponent < 0) return `0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${whole}.${digits.slice(exponent + 1) || "0"}`;
}

/** @param {string} digits @param {number} exponent of the first one */
function scientific(digits, exponent) {
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
  const sign = exponent < 0 ? "-" : "+";
  return `${digits[0]}${fraction}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
}
