// Maps of one held-out example: what each convolution makes of it, and the class that is read.

import { counted } from "../../elements/children.js";
import { element, setText } from "../../elements/dom.js";
import { shortText } from "../../formula/numbers.js";
import { paintGrey } from "../widgets/canvas.js";

/** @import { Declared, Observation } from "./panel.js" */
/** A layer: its name and its maps as one image, ``width`` pixels a row. @typedef {{name: string, pixels: Uint8Array, width: number}} Layer */
/** @typedef {{words: string, note: string, image: Uint8Array, layers: Layer[], ink: number}} Picture */

/** @type {Declared} */
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
    const own = maps.subarray(first, first + counts[number] * side ** 2);
    first += own.length;
    const [low, high] = ends[number].map((/** @type {number} */ end) => shortText(end).replace("-", "−"));
    return { name: `layer ${number + 1}: ${low} to ${high}`, ...tiled(own, side) };
  });
  const note = `${label} read as ${read}: ${label === read ? "right" : "wrong"}`;
  return { words, note, image, layers, ink };
}

/**
 * Square images beside and below one another, with a gap of one pixel.
 * @param {Uint8Array} images one after the other
 * @param {number} side
 * @returns {{pixels: Uint8Array, width: number}}
 */
function tiled(images, side) {
  const count = images.length / side ** 2;
  const across = Math.ceil(Math.sqrt(count));
  const [width, height] = [across, Math.ceil(count / across)].map((tiles) => tiles * (side + 1) - 1);
  const pixels = new Uint8Array(width * height);
  images.forEach((value, at) => {
    const [tile, inside] = [Math.floor(at / side ** 2), at % side ** 2];
    const x = (tile % across) * (side + 1) + (inside % side);
    const y = Math.floor(tile / across) * (side + 1) + Math.floor(inside / side);
    pixels[y * width + x] = value;
  });
  return { pixels, width };
}

/** @param {HTMLElement} cell */
function create(cell) {
  const image = canvas("example");
  const note = element("p", { class: "note" });
  const blocks = element("div", { class: "blocks of-maps" });
  cell.append(element("div", { class: "of-example" }, image, note), blocks);

  return {
    /** @param {Picture} picture */
    draw(picture) {
      const { ink } = picture;
      setText(note, picture.note);
      paintGrey(image, picture.image, Math.sqrt(picture.image.length), ink);
      counted(blocks, picture.layers, createBlock, ({ children: [drawn, text] }, { name, pixels, width }) => {
        paintGrey(drawn, pixels, width, ink);
        setText(text, name);
      });
    },
  };
}

/** @param {string} kind */
function canvas(kind) {
  return /** @type {HTMLCanvasElement} */ (element("canvas", { class: kind }));
}

function createBlock() {
  return element("div", {}, canvas("maps"), element("span", {}));
}
