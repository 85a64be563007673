// The layers of a chart by key: further curves over the op, as explorer/instrument/view.py declares them.

import { layer as implied } from "./implied.js";

/** @type {Record<string, import("./picture.js").Layer>} */
export const LAYERS = { implied };
