// What was learned of images: those held out that a net reads wrong, and as what.

import { element, setAttribute, setText } from "../elements/dom.js";
import { inkOf, paintGrey, same } from "./pixels.js";

/** @typedef {import("./panel.js").Seen} Seen */
/**
 * One image: ``only`` this rule reads it wrong.
 * @typedef {{image: Uint8Array, kind: number, read: number, only: boolean}} Misread
 */
/** @typedef {{words: string, note: string, misread: Misread[]}} Picture */

/** @type {import("./panel.js").Panel} */
export const mistakes = {
  key: "mistakes",
  opens: true,
  layered: false,
  suits: ({ kind }) => kind === "image",
  rows: 12.7,
  scrolls: true,
  picture: pictureOf,
  create,
  legend: [{ text: "only this rule reads it wrong", swatch: "only" }],
};

/** @param {Seen} seen @returns {Picture} */
export function pictureOf({ measured }) {
  const { classes, read, only, images, words } = measured;
  const pixels = images.length / Math.max(classes.length, 1);
  const misread = Array.from(/** @type {Uint8Array} */ (classes), (kind, at) => ({
    image: images.subarray(at * pixels, (at + 1) * pixels),
    kind,
    read: read[at],
    only: only[at] === 1,
  }));
  return { words, note: noteOf(measured), misread };
}

/** @param {{count: number, of: number, alone: number|null}} measured */
function noteOf({ count, of, alone }) {
  return `${count} of ${of} wrong${alone === null ? "" : `, ${alone} alone`}`;
}

/** @param {HTMLElement} cell */
function create(cell) {
  const list = element("div", { class: "misread" });
  const note = element("p", { class: "note" });
  cell.append(note, list);

  function tile() {
    const canvas = /** @type {HTMLCanvasElement} */ (element("canvas", {}));
    const text = element("span", {});
    const made = element("div", {}, canvas, text);
    let drawn = { image: /** @type {ArrayLike<number>} */ ([]), ink: -1 };
    return {
      element: made,
      text,
      /** @param {Uint8Array} image @param {number} ink */
      paint(image, ink) {
        if (ink === drawn.ink && same(image, drawn.image)) return;
        paintGrey(canvas, image, Math.sqrt(image.length), ink);
        drawn = { image, ink };
      },
    };
  }
  const tiles = /** @type {ReturnType<typeof tile>[]} */ ([]);

  return {
    /** @param {Picture} picture */
    draw({ misread, note: text }) {
      setText(note, text);
      while (tiles.length < misread.length) tiles.push(tile());
      while (list.children.length > misread.length) list.lastChild?.remove();
      tiles.slice(list.children.length, misread.length).forEach((each) => list.append(each.element));
      const ink = inkOf(list);
      misread.forEach(({ image, kind, read, only }, at) => {
        const { element: made, text: label } = tiles[at];
        tiles[at].paint(image, ink);
        setText(label, `${kind}→${read}`);
        setAttribute(made, "title", `${kind} read as ${read}`);
        made.classList.toggle("only", only);
      });
    },
  };
}
