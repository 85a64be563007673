// Mistakes: the held-out images that a net reads wrong, and the class that it reads.

import { keyed } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { paintGrey, same } from "../widgets/canvas.js";

/** @import { Declared, Observation } from "./panel.js" */
/**
 * One image: ``only`` this rule reads it wrong, ``example`` is its index among those held out.
 * @typedef {{image: Uint8Array, kind: number, read: number, only: boolean, example: number}} Misread
 * ``picked`` is the example that another panel shows, null where none can.
 * @typedef {{words: string, note: string, misread: Misread[], picked: number|null, ink: number}} Picture
 */

/** @type {Declared} */
export const panel = {
  order: 5,
  opens: true,
  layered: false,
  suits: ({ kind }) => kind === "image",
  rows: 12.7,
  scrolls: true,
  picture: pictureOf,
  create,
  legend: [{ text: "only this rule reads it wrong", swatch: "only" }],
  picks: { panel: "raster", name: "example", hint: "Press one to see its spikes." },
};

/** @param {Observation} observation @returns {Picture} */
export function pictureOf({ measured, picked, ink }) {
  const { classes, read, only, examples, images, words } = measured;
  const pixels = images.length / Math.max(classes.length, 1);
  const misread = Array.from(/** @type {Uint8Array} */ (classes), (kind, at) => ({
    image: images.subarray(at * pixels, (at + 1) * pixels),
    kind,
    read: read[at],
    only: only[at] === 1,
    example: examples[at],
  }));
  const { count, of, alone } = measured;
  const own = alone === null ? "" : `, ${alone || "none of them"} by this rule alone`;
  const note = `${count} of ${of} wrong${own}`;
  return { words, note, misread, picked, ink };
}

/** @param {HTMLElement} cell @param {(example: number) => void} pick */
function create(cell, pick) {
  const list = element("div", { class: "misread" });
  const note = element("p", { class: "note" });
  cell.append(note, list);

  const make = (/** @type {Tile} */ tile) => createTile(tile, pick);
  const tiles = keyed(list, make, ({ picked }, index) => `${picked !== null} ${index}`);

  return {
    /** @param {Picture} picture */
    draw({ misread, note: text, picked, ink }) {
      setText(note, text);
      tiles.show(misread.map((one) => ({ ...one, picked, ink })));
    },
  };
}

/**
 * One image, which is a button where another panel can show it.
 * @typedef {Misread & Pick<Picture, "picked"|"ink">} Tile
 * @param {Tile} tile
 * @param {(example: number) => void} pick
 */
function createTile({ picked: first }, pick) {
  const canvas = /** @type {HTMLCanvasElement} */ (element("canvas", {}));
  const label = element("span", {});
  const node = element(first === null ? "div" : "button", {}, canvas, label);
  let drawn = { image: /** @type {ArrayLike<number>} */ ([]), ink: -1 };
  return {
    element: node,
    /** @param {Tile} tile */
    show({ image, kind, read, only, example, picked, ink }) {
      if (ink !== drawn.ink || !same(image, drawn.image))
        paintGrey(canvas, image, Math.sqrt(image.length), ink);
      drawn = { image, ink };
      setText(label, `${kind}→${read}`);
      setAttribute(node, "title", `${kind} read as ${read}`);
      node.classList.toggle("only", only);
      if (picked === null) return;
      setAttribute(node, "aria-label", `Example ${example + 1}, ${kind} read as ${read}`);
      setAttribute(node, "aria-pressed", String(example === picked));
      node.onclick = () => pick(example);
    },
  };
}
