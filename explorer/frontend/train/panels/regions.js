// Regions of a plane: the class that a net gives to each point, with some of the data.

import { formatShare } from "../../formula/numbers.js";
import { element, setText } from "../../elements/dom.js";
import { paint, pixel, same } from "../widgets/canvas.js";

/** @import { Declared, Observation } from "./panel.js" */
/** @typedef {[number, number, number]} Rgb */
/**
 * A point: across and up as shares of the picture, and its class.
 * @typedef {{x: number, y: number, kind: number}} Point
 */
/**
 * A small picture: ``cells`` row by row from the bottom, each class · levels + how sure it is.
 * @typedef {{words: string, note: string, cells: Uint8Array, classes: number, levels: number,
 *   trained: Uint8Array, heldOut: Uint8Array}} Picture ``trained`` and ``heldOut``: three numbers a point
 */

// Classes are told apart by lightness, and none of them looks like a rule.
const GROUND = /** @type {[Rgb, Rgb]} */ ([
  [255, 238, 160],
  [84, 108, 152],
]);
const DOTS = /** @type {[Rgb, Rgb]} */ ([
  [158, 120, 0],
  [20, 36, 84],
]);
const UNKNOWN = /** @type {Rgb} */ ([127, 127, 127]);
const LEAST = 0.35; // of a class's colour, where the odds are even: else nobody sees where it ends
const MOST_NAMED = 5; // classes
const DRAWN = 384; // px of the canvas with the dots
const DOT = { trained: 3.4, heldOut: 6 }; // px of it

/** @type {Declared} */
export const panel = {
  order: 1,
  opens: true,
  layered: false,
  suits: ({ kind }) => kind === "plane" || kind === "own",
  rows: 11,
  picture: pictureOf,
  create,
  legend: [
    {
      text: "class 0 is light, the last class dark",
      of: ({ names }) => namesText(names),
      swatch: "classes",
    },
    { text: "held out", swatch: "dot ringed" },
    { text: "trained on", swatch: "dot" },
  ],
};

/** @param {Observation} observation @returns {Picture} */
export function pictureOf({ measured }) {
  const { cells, classes, levels, score, trained, held_out: heldOut, words } = measured;
  const note = `${formatShare(score)} of held-out points right`;
  return { words, note, cells, classes, levels, trained, heldOut };
}

/** The names of the classes, from light to dark; "" where they have numbers alone. @param {string[]} names */
function namesText(names) {
  if (!names.length) return "";
  const listed = names.length > MOST_NAMED ? [names[0], "…", ...names.slice(-1)] : names;
  return `light to dark: ${listed.join(", ")}`;
}

/** @param {Uint8Array} numbers three a point @returns {Point[]} */
export function pointsOf(numbers) {
  return Array.from({ length: numbers.length / 3 }, (_, at) => ({
    x: numbers[3 * at] / 255,
    y: numbers[3 * at + 1] / 255,
    kind: numbers[3 * at + 2],
  }));
}

/**
 * The colour of one of so many classes.
 * @param {[Rgb, Rgb]} ends
 * @param {number} kind
 * @param {number} classes
 * @returns {Rgb}
 */
function classColour([from, to], kind, classes) {
  const share = kind / (classes - 1);
  return /** @type {Rgb} */ (from.map((value, at) => Math.round(value + share * (to[at] - value))));
}

/** The colour of each value of a cell. @param {number} classes @param {number} levels @returns {Rgb[]} */
export function palette(classes, levels) {
  const middle = /** @type {Rgb} */ (GROUND[0].map((value, at) => (value + GROUND[1][at]) / 2));
  return Array.from({ length: 256 }, (_, value) => {
    const kind = Math.floor(value / levels);
    if (kind >= classes) return UNKNOWN;
    const sure = LEAST + (1 - LEAST) * ((value % levels) / (levels - 1));
    const pure = classColour(GROUND, kind, classes);
    return /** @type {Rgb} */ (pure.map((each, at) => Math.round(middle[at] + sure * (each - middle[at]))));
  });
}

/** @param {HTMLElement} cell */
function create(cell) {
  const ground = /** @type {HTMLCanvasElement} */ (element("canvas", {}));
  const dots = /** @type {HTMLCanvasElement} */ (element("canvas", { width: DRAWN, height: DRAWN }));
  const note = element("p", { class: "note" });
  cell.append(element("div", { class: "plane" }, ground, dots), note);
  let drawn = /** @type {Picture|null} */ (null);

  return {
    /** @param {Picture} picture */
    draw(picture) {
      paintCells(ground, picture);
      const { trained, heldOut } = picture;
      if (!drawn || !same(drawn.trained, trained) || !same(drawn.heldOut, heldOut)) paintDots(dots, picture);
      drawn = picture;
      setText(note, picture.note);
    },
  };
}

/** @param {HTMLCanvasElement} canvas @param {Picture} picture */
function paintCells(canvas, { cells, classes, levels }) {
  const side = Math.sqrt(cells.length);
  const colours = palette(classes, levels).map(([red, green, blue]) => pixel(red, green, blue, 255));
  paint(canvas, side, side, (at) => colours[cells[(side - 1 - Math.floor(at / side)) * side + (at % side)]]);
}

/** @param {HTMLCanvasElement} canvas @param {Picture} picture */
function paintDots(canvas, { trained, heldOut, classes }) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.clearRect(0, 0, DRAWN, DRAWN);
  for (const [data, size, ringed] of /** @type {[Uint8Array, number, boolean][]} */ ([
    [trained, DOT.trained, false],
    [heldOut, DOT.heldOut, true],
  ])) {
    for (const { x, y, kind } of pointsOf(data)) {
      context.beginPath();
      context.arc(x * DRAWN, (1 - y) * DRAWN, size, 0, 2 * Math.PI);
      context.fillStyle = `rgb(${classColour(DOTS, kind, classes).join()})`;
      context.fill();
      if (!ringed) continue;
      context.lineWidth = 2.5;
      context.strokeStyle = "#fff";
      context.stroke();
    }
  }
}
