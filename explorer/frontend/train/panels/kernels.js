// The panel that shows a convolutional net's kernels, with a row per output map and a column per input map.

import { updateChildren } from "../../elements/children.js";
import { element, setText } from "../../elements/dom.js";
import { formatShort } from "../../formula/numbers.js";
import { paintWeights } from "../widgets/weights.js";

/** @import { PanelSpec, Observation } from "./panel.js" */
/** A layer: its name and its kernels. @typedef {{name: string, weights: import("../widgets/weights.js").Weights}} Layer */
/** @typedef {{words: string, layers: Layer[]}} Picture */

/** @type {PanelSpec} */
export const panel = {
  order: 4,
  opens: true,
  layered: false,
  suits: ({ site }) => site.maps,
  rows: 10,
  picture: pictureOf,
  create,
};

/** @param {Observation} observation @returns {Picture} */
export function pictureOf({ measured: { layers, of, words } }) {
  const named = layers.map((/** @type {*} */ weights, /** @type {number} */ at) => ({
    name: `layer ${at + 1}, ${of[at].join(" × ")}: ±${formatShort(weights.largest)}`,
    weights,
  }));
  return { words, layers: named };
}

/** @param {HTMLElement} cell */
function create(cell) {
  const blocks = element("div", { class: "blocks of-maps" });
  cell.append(blocks);
  return {
    /** @param {Picture} picture */
    draw({ layers }) {
      updateChildren(blocks, layers, createBlock, ({ children: [drawn, text] }, { name, weights }) => {
        paintWeights(/** @type {HTMLCanvasElement} */ (drawn), weights);
        setText(text, name);
      });
    },
  };
}

function createBlock() {
  return element("div", {}, element("canvas", { class: "maps" }), element("span", {}));
}
