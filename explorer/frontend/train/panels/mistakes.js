// The panel that shows the held-out images that a net misclassifies, with the predicted class.

import { createChildren } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { paintGrey, areEqual } from "../widgets/canvas.js";

/** @import { PanelSpec, Observation } from "./panel.js" */
/**
 * One image: ``only`` says that no other rule misreads it, ``example`` is its index in the held-out data.
 * @typedef {{image: Uint8Array, kind: number, read: number, only: boolean, example: number}} Misread
 * ``picked`` is the example that another panel shows, null without such a panel.
 * @typedef {{words: string, note: string, misread: Misread[], picked: number|null, ink: number}} Picture
 */

/** @type {PanelSpec} */
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
  const { classes, read, only: isOnly, examples, images, words } = measured;
  const pixels = images.length / Math.max(classes.length, 1);
  const misread = Array.from(/** @type {Uint8Array} */ (classes), (kind, at) => ({
    image: images.subarray(at * pixels, (at + 1) * pixels),
    kind,
    read: read[at],
    only: isOnly[at] === 1,
    example: examples[at],
  }));
  const { count, of: total, alone: aloneCount } = measured;
  const suffix = aloneCount === null ? "" : `, ${aloneCount || "none of them"} by this rule alone`;
  const note = `${count} of ${total} wrong${suffix}`;
  return { words, note, misread, picked, ink };
}

/** @param {HTMLElement} cell @param {(example: number) => void} pick */
function create(cell, pick) {
  const list = element("div", { class: "misread" });
  const note = element("p", { class: "note" });
  cell.append(note, list);

  const make = (/** @type {Tile} */ tile) => createTile(tile, pick);
  const tiles = createChildren(list, make, ({ picked }, index) => `${picked !== null} ${index}`);

  return {
    /** @param {Picture} picture */
    draw({ misread, note: text, picked, ink }) {
      setText(note, text);
      tiles.show(misread.map((one) => ({ ...one, picked, ink })));
    },
  };
}

/**
 * Create one misclassified image. It is a button if another panel can show more about the image.
 * @typedef {Misread & Pick<Picture, "picked"|"ink">} Tile
 * @param {Tile} tile
 * @param {(example: number) => void} pick
 */
function createTile({ picked: first }, pick) {
  const canvas = /** @type {HTMLCanvasElement} */ (element("canvas", {}));
  const label = element("span", {});
  const node = element(first === null ? "div" : "button", {}, canvas, label);
  let painted = { image: /** @type {ArrayLike<number>} */ ([]), ink: -1 };
  return {
    element: node,
    /** @param {Tile} tile */
    show({ image, kind, read, only, example, picked, ink }) {
      if (ink !== painted.ink || !areEqual(image, painted.image))
        paintGrey(canvas, image, Math.sqrt(image.length), ink);
      painted = { image, ink };
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
