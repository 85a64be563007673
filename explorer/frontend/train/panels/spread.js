// How far the gradient of one batch strays over draws, one bar a layer of weights, in decades; and its bias.

import { formatShort } from "../../formula/numbers.js";
import { barsOf, createBars } from "./bars.js";

/** @import { Declared } from "./panel.js" */

/** @type {Declared} */
export const panel = {
  order: 9,
  opens: false,
  layered: false,
  suits: (_task, _learns, draws) => draws,
  rows: 2.5,
  picture({ measured }) {
    const { words, bars } = barsOf(measured.spread, [-2, 2], textOf);
    const note = noteOf(measured);
    return { words: `${words}. ${note}`, bars, note };
  },
  create: createBars,
};

/** @param {number} ratio */
function textOf(ratio) {
  if (Number.isNaN(ratio)) return "none";
  return Number.isFinite(ratio) ? formatShort(ratio) : "∞";
}

/**
 * The bias by layer of weights below an op, each a share with what it lies within.
 * @param {{bias: ArrayLike<number>, within: ArrayLike<number>}} measured
 */
function noteOf({ bias, within }) {
  const each = Array.from(bias, (share, layer) => `w${layer + 1} ${biasText(share, within[layer])}`);
  return `Bias: ${each.join(", ") || "not measured here"}`;
}

/**
 * A bias with its standard error, or what one that is not told is smaller than.
 * @param {number} share
 * @param {number} within
 */
function biasText(share, within) {
  if (Number.isNaN(share)) return "cannot be told";
  if (!(share > 0) && !(within < 1)) return "lost in the noise";
  if (!(share > 0)) return within > 0 ? `< ${Math.ceil(100 * within)} %` : "none";
  if (within < 0.00005) return `${formatShort(100 * share)} %`;
  const decimals = within < 0.00095 ? 2 : within < 0.0095 ? 1 : 0;
  return `${(100 * share).toFixed(decimals)} ± ${(100 * within).toFixed(decimals)} %`;
}
