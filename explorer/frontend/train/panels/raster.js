// The panel that shows when each unit spikes for one held-out example, and the class that the net predicts.

import { updateChildren } from "../../elements/children.js";
import { element, setText } from "../../elements/dom.js";
import { paintGrey } from "../widgets/canvas.js";

/** @import { PanelSpec, Observation } from "./panel.js" */
/** A layer: its name and its spikes, one row per unit. @typedef {{name: string, spikes: Uint8Array}} Layer */
/**
 * A small picture; ``levels`` are the potentials of the outputs as fractions of their range, ``read`` is the index of
 * the highest.
 * @typedef {{words: string, note: string, image: Uint8Array, times: number, layers: Layer[],
 *   levels: number[], read: number, ink: number}} Picture
 */

/** @type {PanelSpec} */
export const panel = {
  order: 2,
  opens: true,
  layered: false,
  suits: ({ site }) => site.fires,
  rows: 14,
  picture: pictureOf,
  create,
};

/** @param {Observation} observation @returns {Picture} */
export function pictureOf({ measured, ink }) {
  const { image, times, units, spikes, potentials, label, read, words } = measured;
  const low = Math.min(...potentials);
  const range = Math.max(...potentials) - low || 1;
  let first = 0;
  const layers = units.map((/** @type {number} */ count, /** @type {number} */ number) => {
    const layerSpikes = spikes.subarray(first * times, (first + count) * times);
    first += count;
    return { name: number ? `layer ${number}` : "pixels", spikes: layerSpikes };
  });
  const levels = Array.from(/** @type {Float32Array} */ (potentials), (value) => (value - low) / range);
  const note = `${label} read as ${read}: ${label === read ? "right" : "wrong"}`;
  return { words, note, image, times, layers, levels, read, ink };
}

/** @param {HTMLElement} cell */
function create(cell) {
  const image = createCanvas("example");
  const note = element("p", { class: "note" });
  const blocks = element("div", { class: "blocks" });
  const outputs = element("div", { class: "outputs" });
  cell.append(element("div", { class: "of-example" }, image, note), blocks, outputs);

  return {
    /** @param {Picture} picture */
    draw(picture) {
      setText(note, picture.note);
      const { ink } = picture;
      paintGrey(image, picture.image, Math.sqrt(picture.image.length), ink);
      updateChildren(blocks, picture.layers, createBlock, ({ children: [drawn, text] }, { name, spikes }) => {
        paintGrey(drawn, spikes, picture.times, ink);
        setText(text, name);
      });
      updateChildren(outputs, picture.levels, createOutput, (output, level, kind) => {
        output.style.setProperty("--level", level.toFixed(3));
        output.classList.toggle("read", kind === picture.read);
        setText(output.lastChild, String(kind));
      });
    },
  };
}

/** @param {string} kind */
function createCanvas(kind) {
  return /** @type {HTMLCanvasElement} */ (element("canvas", { class: kind }));
}

function createBlock() {
  return element("div", {}, createCanvas("spikes"), element("span", {}));
}

function createOutput() {
  return element("span", {}, element("i", {}), element("b", {}));
}
