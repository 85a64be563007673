// The panel that shows the gradient norm of each weight layer as a bar.

import { formatShort } from "../../formula/numbers.js";
import { makeLogBars, createBars } from "./bars.js";

/** @import { PanelSpec } from "./panel.js" */

/** @type {PanelSpec} */
export const panel = {
  order: 8,
  opens: false,
  layered: false,
  suits: () => true,
  rows: 2.5,
  picture: ({ measured }) => makeLogBars(measured.norms, [-6, 3], formatShort),
  create: createBars,
};
