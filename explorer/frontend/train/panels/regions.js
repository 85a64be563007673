// The panel that shows which class a net predicts at each point of the plane, with some of the data.

import { formatShare } from "../../formula/numbers.js";
import { element, setText } from "../../elements/dom.js";
import { paint, toPixel, areEqual } from "../widgets/canvas.js";

/** @import { PanelSpec, Observation } from "./panel.js" */
/** @typedef {[number, number, number]} Rgb */
/**
 * A point: its position as fractions of the picture's size, and its class.
 * @typedef {{x: number, y: number, kind: number}} Point
 */
/**
 * A small picture: ``cells`` row by row from the bottom, each one class · levels + level of certainty.
 * @typedef {{words: string, note: string, cells: Uint8Array, classes: number, levels: number,
 *   trained: Uint8Array, heldOut: Uint8Array}} Picture ``trained`` and ``heldOut`` have three numbers per point
 */

// Classes differ in lightness, so that they are not mistaken for the colours of rules.
const GROUND = /** @type {[Rgb, Rgb]} */ ([
  [255, 238, 160],
  [84, 108, 152],
]);
const DOTS = /** @type {[Rgb, Rgb]} */ ([
  [158, 120, 0],
  [20, 36, 84],
]);
const UNKNOWN = /** @type {Rgb} */ ([127, 127, 127]);
const MIN_STRENGTH = 0.35; // strength of the colour where the net is undecided; keeps borders visible
const MAX_NAMED = 5; // maximum number of classes listed in the legend
const CANVAS_SIZE = 384; // px, width and height of the canvas with the dots
const DOT = { trained: 3.4, heldOut: 6 }; // px, radius of a dot

/** @type {PanelSpec} */
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
      of: ({ names }) => describeClasses(names),
      swatch: "classes",
    },
    { text: "held out", swatch: "dot ringed" },
    { text: "trained on", swatch: "dot" },
  ],
};

/** @param {Pick<Observation, "measured">} observation @returns {Picture} */
export function pictureOf({ measured }) {
  const { cells, classes, levels, score, trained, held_out: heldOut, words } = measured;
  const note = `${formatShare(score)} of held-out points right`;
  return { words, note, cells, classes, levels, trained, heldOut };
}

/** List the classes in the legend from light to dark, or return "" if they have no names. @param {string[]} names */
function describeClasses(names) {
  if (!names.length) return "";
  const listed = names.length > MAX_NAMED ? [names[0], "…", ...names.slice(-1)] : names;
  return `light to dark: ${listed.join(", ")}`;
}

/** Decode points from a flat array. @param {Uint8Array} numbers three numbers per point @returns {Point[]} */
export function decodePoints(numbers) {
  return Array.from({ length: numbers.length / 3 }, (_, at) => ({
    x: numbers[3 * at] / 255,
    y: numbers[3 * at + 1] / 255,
    kind: numbers[3 * at + 2],
  }));
}

/**
 * Return the colour of a class by interpolating between two colours.
 * @param {[Rgb, Rgb]} ends
 * @param {number} kind
 * @param {number} classes
 * @returns {Rgb}
 */
function getClassColour([from, to], kind, classes) {
  const share = kind / (classes - 1);
  return /** @type {Rgb} */ (from.map((value, at) => Math.round(value + share * (to[at] - value))));
}

/**
 * Return the colour of each possible byte, which encodes a class and its certainty.
 * @param {number} classes @param {number} levels @returns {Rgb[]}
 */
export function palette(classes, levels) {
  const middle = /** @type {Rgb} */ (GROUND[0].map((value, at) => (value + GROUND[1][at]) / 2));
  return Array.from({ length: 256 }, (_, value) => {
    const kind = Math.floor(value / levels);
    if (kind >= classes) return UNKNOWN;
    const sure = MIN_STRENGTH + (1 - MIN_STRENGTH) * ((value % levels) / (levels - 1));
    const pure = getClassColour(GROUND, kind, classes);
    return /** @type {Rgb} */ (pure.map((each, at) => Math.round(middle[at] + sure * (each - middle[at]))));
  });
}

/** @param {HTMLElement} cell */
function create(cell) {
  const ground = /** @type {HTMLCanvasElement} */ (element("canvas", {}));
  const dots = /** @type {HTMLCanvasElement} */ (
    element("canvas", { width: CANVAS_SIZE, height: CANVAS_SIZE })
  );
  const note = element("p", { class: "note" });
  cell.append(element("div", { class: "plane" }, ground, dots), note);
  let last = /** @type {Picture|null} */ (null);

  return {
    /** @param {Picture} picture */
    draw(picture) {
      paintCells(ground, picture);
      const { trained, heldOut } = picture;
      if (!last || !areEqual(last.trained, trained) || !areEqual(last.heldOut, heldOut))
        paintDots(dots, picture);
      last = picture;
      setText(note, picture.note);
    },
  };
}

/** @param {HTMLCanvasElement} canvas @param {Picture} picture */
function paintCells(canvas, { cells, classes, levels }) {
  const side = Math.sqrt(cells.length);
  const colours = palette(classes, levels).map(([red, green, blue]) => toPixel(red, green, blue, 255));
  paint(canvas, side, side, (at) => colours[cells[(side - 1 - Math.floor(at / side)) * side + (at % side)]]);
}

/** @param {HTMLCanvasElement} canvas @param {Picture} picture */
function paintDots(canvas, { trained, heldOut, classes }) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.clearRect(0, 0, CANVAS_SIZE, CANVAS_SIZE);
  for (const [data, size, ringed] of /** @type {[Uint8Array, number, boolean][]} */ ([
    [trained, DOT.trained, false],
    [heldOut, DOT.heldOut, true],
  ])) {
    for (const { x, y, kind } of decodePoints(data)) {
      context.beginPath();
      context.arc(x * CANVAS_SIZE, (1 - y) * CANVAS_SIZE, size, 0, 2 * Math.PI);
      context.fillStyle = `rgb(${getClassColour(DOTS, kind, classes).join()})`;
      context.fill();
      if (!ringed) continue;
      context.lineWidth = 2.5;
      context.strokeStyle = "#fff";
      context.stroke();
    }
  }
}
