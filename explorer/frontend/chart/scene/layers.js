// The layers of a chart by key: further curves over it, as explorer/instrument/view.py declares them.

import { layer as implied } from "./implied.js";
import { layer as lens } from "./lens.js";

/** @type {Record<string, import("./picture.js").Layer>} */
export const LAYERS = { implied, lens };
