// How far the gradient of one batch strays over draws: one bar a layer of weights, in decades.

import { shortText } from "../../formula/numbers.js";
import { barsOf, createBars } from "./bars.js";

/** @import { Declared } from "./panel.js" */

/** @type {Declared} */
export const panel = {
  order: 9,
  opens: false,
  layered: false,
  suits: (_task, _learns, draws) => draws,
  rows: 2.5,
  picture: ({ measured }) => barsOf(measured.spread, [-2, 2], textOf),
  create: createBars,
};

/** @param {number} ratio */
function textOf(ratio) {
  if (Number.isNaN(ratio)) return "none";
  return Number.isFinite(ratio) ? shortText(ratio) : "∞";
}
