/** The error function and the quantile function of the normal distribution, with torch's values. */

const ROOT_PI = Math.sqrt(Math.PI);

/** Return erf of a small x by its series 2/√π · e^(−x²) · Σ 2ⁿ x^(2n+1) / (1·3·…·(2n+1)). @param {number} x */
function sumErfSeries(x) {
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n += 1) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / ROOT_PI) * Math.exp(-x * x) * sum;
}

/** Return 1 − erf(x) for x ≥ 2 by a continued fraction, in fewer steps for larger x. @param {number} x */
function computeErfc(x) {
  let rest = x;
  for (let n = Math.ceil(8 + 185 / (x * x)); n > 0; n -= 1) rest = x + n / 2 / rest;
  return Math.exp(-x * x) / ROOT_PI / rest;
}

/** Return the error function of x. @param {number} x */
export function erf(x) {
  if (!(Math.abs(x) > 2)) return sumErfSeries(x);
  return Math.sign(x) * (1 - computeErfc(Math.abs(x)));
}

/** Coefficients of the rational approximations with which Cephes and torch compute normal quantiles. */
const MIDDLE = [
  [-59.96335010141079, 98.00107541859997, -56.67628574690703, 13.931260938727968, -1.2391658386738125],
  [
    1.0, 1.9544885833814176, 4.676279128988815, 86.36024213908905, -225.46268785411937, 200.26021238006066,
    -82.03722561683334, 15.90562251262117, -1.1833162112133,
  ],
];
const TAIL = [
  [
    4.0554489230596245, 31.525109459989388, 57.16281922464213, 44.08050738932008, 14.684956192885803,
    2.1866330685079025, -0.1402560791713545, -0.03504246268278482, -0.0008574567851546854,
  ],
  [
    1.0, 15.779988325646675, 45.39076351288792, 41.3172038254672, 15.04253856929075, 2.504649462083094,
    -0.14218292285478779, -0.03808064076915783, -0.0009332594808954574,
  ],
];
const FAR = [
  [
    3.2377489177694603, 6.915228890689842, 3.9388102529247444, 1.3330346081580755, 0.20148538954917908,
    0.012371663481782003, 0.00030158155350823543, 2.6580697468673755e-6, 6.239745391849833e-9,
  ],
  [
    1.0, 6.02427039364742, 3.6798356385616087, 1.3770209948908132, 0.21623699359449663, 0.013420400608854318,
    0.00032801446468212774, 2.8924786474538068e-6, 6.790194080099813e-9,
  ],
];
const TAIL_CHANCE = 0.1353352832366127; // e**-2, the probability below which the tail's approximation is used
const ROOT_TWO_PI = 2.5066282746310007;
const FAR_START = 8; // the far tail's approximation is used if sqrt(-2 log p) is at least this

/** @param {number[]} coefficients the highest power first @param {number} x */
function evaluatePolynomial(coefficients, x) {
  let sum = 0;
  for (const coefficient of coefficients) sum = sum * x + coefficient;
  return sum;
}

/** @param {number[][]} fraction @param {number} x */
const evaluateFraction = ([above, below], x) => evaluatePolynomial(above, x) / evaluatePolynomial(below, x);

/** Return the standard normal quantile of a probability like torch, NaN outside 0 to 1. @param {number} chance */
export function ndtri(chance) {
  if (!(chance > 0 && chance < 1)) return chance === 0 ? -Infinity : chance === 1 ? Infinity : NaN;
  const isUpper = chance > 1 - TAIL_CHANCE;
  const tail = isUpper ? 1 - chance : chance;
  if (tail > TAIL_CHANCE) {
    const distance = tail - 0.5;
    const square = distance * distance;
    return (distance + distance * (square * evaluateFraction(MIDDLE, square))) * ROOT_TWO_PI;
  }
  const x = Math.sqrt(-2 * Math.log(tail));
  const z = 1 / x;
  const size = x - Math.log(x) / x - z * evaluateFraction(x < FAR_START ? TAIL : FAR, z);
  return isUpper ? size : -size;
}
