// Norms of the gradient of each layer of weights: one bar a layer, in decades.

import { formatShort } from "../../formula/numbers.js";
import { barsOf, createBars } from "./bars.js";

/** @import { Declared } from "./panel.js" */

/** @type {Declared} */
export const panel = {
  order: 8,
  opens: false,
  layered: false,
  suits: () => true,
  rows: 2.5,
  picture: ({ measured }) => barsOf(measured.norms, [-6, 3], formatShort),
  create: createBars,
};
