// The panel that shows each convolution's maps for one held-out example, and the class that the net predicts.

import { updateChildren } from "../../elements/children.js";
import { element, setText } from "../../elements/dom.js";
import { formatShort } from "../../formula/numbers.js";
import { paintGrey } from "../widgets/canvas.js";
import { arrangeGrid } from "../widgets/tiles.js";

/** @import { PanelSpec, Observation } from "./panel.js" */
/** A layer: its name and its maps as one image, ``width`` pixels a row. @typedef {{name: string, pixels: Uint8Array, width: number}} Layer */
/** @typedef {{words: string, note: string, image: Uint8Array, layers: Layer[], ink: number}} Picture */

const ZOOM = 4; // width of a unit in pixels; lines between images are one pixel wide
const LINE = 60; // opacity of lines, out of 255; they give white images an edge

/** @type {PanelSpec} */
export const panel = {
  order: 2,
  opens: true,
  layered: false,
  suits: ({ site }) => site.maps,
  rows: 12,
  picture: pictureOf,
  create,
};

/** @param {Observation} observation @returns {Picture} */
export function pictureOf({ measured, ink }) {
  const { image, sides, counts, maps, ends, label, read, words } = measured;
  let first = 0;
  const layers = sides.map((/** @type {number} */ side, /** @type {number} */ number) => {
    const images = maps.subarray(first, first + counts[number] * side ** 2);
    first += images.length;
    const [low, high] = ends[number].map((/** @type {number} */ end) => formatShort(end).replace("-", "−"));
    return { name: `layer ${number + 1}: ${low} to ${high}`, ...arrangeTiles(images, side) };
  });
  const note = `${label} read as ${read}: ${label === read ? "right" : "wrong"}`;
  return { words, note, image, layers, ink };
}

/**
 * Arrange square images in a grid, separated by lines.
 * @param {Uint8Array} images one after the other
 * @param {number} side
 * @returns {{pixels: Uint8Array, width: number}}
 */
function arrangeTiles(images, side) {
  const { width, indices } = arrangeGrid(images.length / side ** 2, side, { zoom: ZOOM });
  return { width, pixels: Uint8Array.from(indices, (index) => (index < 0 ? LINE : images[index])) };
}

/** @param {HTMLElement} cell */
function create(cell) {
  const image = createCanvas("example");
  const note = element("p", { class: "note" });
  const blocks = element("div", { class: "blocks of-maps" });
  cell.append(element("div", { class: "of-example" }, image, note), blocks);

  return {
    /** @param {Picture} picture */
    draw(picture) {
      const { ink } = picture;
      setText(note, picture.note);
      paintGrey(image, picture.image, Math.sqrt(picture.image.length), ink);
      updateChildren(
        blocks,
        picture.layers,
        createBlock,
        ({ children: [drawn, text] }, { name, pixels, width }) => {
          paintGrey(drawn, pixels, width, ink);
          setText(text, name);
        },
      );
    },
  };
}

/** @param {string} kind */
function createCanvas(kind) {
  return /** @type {HTMLCanvasElement} */ (element("canvas", { class: kind }));
}

function createBlock() {
  return element("div", {}, createCanvas("maps"), element("span", {}));
}
