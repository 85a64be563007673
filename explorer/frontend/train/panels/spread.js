// The panel that shows how much the gradient of one batch varies between random draws, and its bias.

import { formatShort } from "../../formula/numbers.js";
import { makeLogBars, createBars } from "./bars.js";

/** @import { PanelSpec } from "./panel.js" */

/** @type {PanelSpec} */
export const panel = {
  order: 9,
  opens: false,
  layered: false,
  suits: (_task, _learns, draws) => draws,
  rows: 2.5,
  picture({ measured }) {
    const { words, bars } = makeLogBars(measured.spread, [-2, 2], textOf);
    const note = formatBiasNote(measured);
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
 * Return a note on the gradient's relative bias in each weight layer below an op, with standard errors.
 * @param {{bias: ArrayLike<number>, within: ArrayLike<number>}} measured
 */
function formatBiasNote({ bias, within }) {
  const parts = Array.from(bias, (share, layer) => `w${layer + 1} ${formatBias(share, within[layer])}`);
  return `Bias: ${parts.join(", ") || "not measured here"}`;
}

/**
 * Format a bias with its standard error, or as an upper bound if it is not significant.
 * @param {number} share
 * @param {number} within
 */
function formatBias(share, within) {
  if (Number.isNaN(share)) return "cannot be told";
  if (!(share > 0) && !(within < 1)) return "lost in the noise";
  if (!(share > 0)) return within > 0 ? `< ${Math.ceil(100 * within)} %` : "none";
  if (within < 0.00005) return `${formatShort(100 * share)} %`;
  const decimals = within < 0.00095 ? 2 : within < 0.0095 ? 1 : 0;
  return `${(100 * share).toFixed(decimals)} ± ${(100 * within).toFixed(decimals)} %`;
}
