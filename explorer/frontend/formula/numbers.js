// Numbers as people read and type them.

/** A number with the digits that tell, for the screen: 0.1 + 0.2 is 0.3. @param {number} value */
export function numberText(value) {
  return String(Number(value.toPrecision(6)));
}

const DECIMAL = String.raw`(?:\d+[.,]?\d*|[.,]\d+)(?:e[+-]?\d+)?`;
const FACTOR = new RegExp(`^([+-]?)(?:(${DECIMAL})?(pi)|(${DECIMAL})|(e))$`);
const AMBIGUOUS = /^[+-]?[1-9]\d{0,2}(,\d{3})+$/; // a comma of thousands, or of a fraction

/**
 * A typed text as a finite number, null if it is none: 2.5, 2,5, 1e-3, and products and quotients such as 1/3,
 * pi/2 and 2π.
 * @param {string} text
 */
export function typedNumber(text) {
  const plain = asTyped(text);
  const [first, ...parts] = plain.split(/([*/])/);
  let value = AMBIGUOUS.test(plain) ? NaN : factor(first);
  for (let at = 0; at < parts.length; at += 2) {
    const next = factor(parts[at + 1]);
    value = parts[at] === "*" ? value * next : value / next;
  }
  return Number.isFinite(value) ? value + 0 : null;
}

/** The signs of a typed number in the one way that is read. @param {string} text */
function asTyped(text) {
  const signs = text.toLowerCase().replace(/\s/g, "").replaceAll("−", "-").replaceAll("π", "pi");
  return signs.replace(/[×·]/g, "*").replaceAll("÷", "/");
}

/** @param {string} text */
function factor(text) {
  const [, sign, times, pi, number, e] = FACTOR.exec(text) ?? [];
  if (sign === undefined) return NaN;
  const decimal = Number((number ?? times ?? "1").replace(",", "."));
  return (sign === "-" ? -1 : 1) * decimal * (pi ? Math.PI : 1) * (e ? Math.E : 1);
}

/**
 * The reason why a typed text is no number, with an example of one.
 * @param {string} text that ``typedNumber`` cannot read
 */
export function refusal(text) {
  const plain = asTyped(text);
  if (AMBIGUOUS.test(plain)) {
    const whole = plain.replaceAll(",", "");
    const [before, ...groups] = plain.split(",");
    return `“${text.trim()}” may be ${groups.length > 1 ? "" : `${before}.${groups[0]} or `}${whole}: write it without a comma.`;
  }
  return `“${text.trim()}” is not a finite number: write it as 2.5, 1/3, pi/2 or 1e-3.`;
}

/**
 * The reason why a number may not be chosen, "" within its bounds.
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export function outside(value, low, high) {
  if (low <= value && value <= high) return "";
  return `${numberText(value)} is not allowed here: choose a number from ${numberText(low)} to ${numberText(high)}.`;
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

const FOUR_DIGITS = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });

/** A measured number in a few characters, all of one size: 46,970, 0.0123, 3.1e7. @param {number} value */
export function shortText(value) {
  const size = Math.abs(value);
  if (value === 0 || (size >= 1e-3 && size < 1e7)) return FOUR_DIGITS.format(value);
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

/** A sentence with its first letter large. @param {string} text */
export function capitalised(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** A share in whole percent; 0 % and 100 % only where it is exactly that. @param {number} share */
export function shareText(share) {
  const whole = Math.round(100 * share);
  if (share === 0 || share === 1 || (whole > 0 && whole < 100)) return `${whole} %`;
  return whole === 0 ? "less than 1 %" : "more than 99 %";
}

/** What passes of a gradient, which may be more than all of it: 21 %, 250 %. @param {number} share */
export function passedText(share) {
  return share > 1 ? `${(100 * share).toFixed(0)} %` : shareText(share);
}

/** A number without the digits below a unit. @param {number} value @param {number} unit */
export function tidied(value, unit) {
  const digits = Math.floor(Math.log10(Math.abs(value))) - Math.floor(Math.log10(unit)) + 1;
  return digits < 1 ? 0 : Number(value.toPrecision(Math.min(digits, 17)));
}
