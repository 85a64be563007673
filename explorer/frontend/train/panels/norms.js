// The panel of gradient norms: one bar per layer of weights, on a logarithmic scale.

import { formatShort } from "../../formula/numbers.js";
import { barsOf, createBars } from "./bars.js";

/** @import { PanelSpec } from "./panel.js" */

/** @type {PanelSpec} */
export const panel = {
  order: 8,
  opens: false,
  layered: false,
  suits: () => true,
  rows: 2.5,
  picture: ({ measured }) => barsOf(measured.norms, [-6, 3], formatShort),
  create: createBars,
};
