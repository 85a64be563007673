// What was learned of images: those held out that a net reads wrong, and as what.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { paintGrey, same } from "../widgets/canvas.js";

/** @typedef {import("./panel.js").Seen} Seen */
/**
 * One image: ``only`` this rule reads it wrong, ``example`` is its place among those held out.
 * @typedef {{image: Uint8Array, kind: number, read: number, only: boolean, example: number}} Misread
 * ``picked`` is the example that another panel shows, null where none can.
 * @typedef {{words: string, note: string, misread: Misread[], picked: number|null, ink: number}} Picture
 */

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
  picks: { panel: "raster", name: "example", hint: "Press one to see its spikes." },
};

/** @param {Seen} seen @returns {Picture} */
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
  return { words, note: noteOf(measured), misread, picked, ink };
}

/** @param {{count: number, of: number, alone: number|null}} measured */
function noteOf({ count, of, alone }) {
  return `${count} of ${of} wrong${alone === null ? "" : `, ${alone} alone`}`;
}

/** @param {HTMLElement} cell @param {(example: number) => void} pick */
function create(cell, pick) {
  const list = element("div", { class: "misread" });
  const note = element("p", { class: "note" });
  cell.append(note, list);

  /** @param {boolean} pressed whether it can be */
  function tile(pressed) {
    const canvas = /** @type {HTMLCanvasElement} */ (element("canvas", {}));
    const text = element("span", {});
    const made = element(pressed ? "button" : "div", pressed ? { type: "button" } : {}, canvas, text);
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
  let pressed = false;

  return {
    /** @param {Picture} picture */
    draw({ misread, note: text, picked, ink }) {
      setText(note, text);
      if (pressed !== (picked !== null)) {
        pressed = picked !== null;
        tiles.length = 0;
        list.replaceChildren();
      }
      while (tiles.length < misread.length) tiles.push(tile(pressed));
      while (list.children.length > misread.length) list.lastChild?.remove();
      tiles.slice(list.children.length, misread.length).forEach((each) => list.append(each.element));
      misread.forEach(({ image, kind, read, only, example }, at) => {
        const { element: made, text: label } = tiles[at];
        tiles[at].paint(image, ink);
        setText(label, `${kind}→${read}`);
        setAttribute(made, "title", `${kind} read as ${read}`);
        made.classList.toggle("only", only);
        if (!pressed) return;
        setAttribute(made, "aria-label", `Example ${example + 1}, ${kind} read as ${read}`);
        setAttribute(made, "aria-pressed", String(example === picked));
        made.onclick = () => pick(example);
      });
    },
  };
}
