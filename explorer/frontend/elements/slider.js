// A slider with a number field for exact values.

import { formatNumber, explainOutOfBounds, clampTo } from "../formula/numbers.js";
import { element, createId, setAttribute } from "./dom.js";
import { createNumberField } from "./number.js";
import { followPointer } from "./track.js";

const LOG_STEPS = 1000;
const MIN_RATIO = 1.01; // minimum ratio between keyboard steps; a smaller one may not change a three-digit number

/**
 * The scale of a native slider. ``ends`` and ``step`` are in slider positions; ``value`` and ``held`` convert between
 * positions and values; ``next`` returns the value one step up (1) or down (-1).
 * @typedef {{ends: [number, number], step: number, value: (held: number) => number, held: (value: number) => number,
 *   next: (value: number, way: 1|-1) => number}} Scale
 */

/**
 * Create a labelled slider with a number field for exact values. Typed numbers may exceed the ends of the slider.
 * @param {{name: string, meaning?: string, onChange: (value: number, phase: "moving"|"settled", byKeys: boolean) =>
 *   void}} options ``onChange``: called with "moving" during a drag and with "settled" afterwards; ``byKeys``: whether
 *   it is one of a series of key presses
 */
export function createSlider({ name, meaning = "", onChange }) {
  let scale = makeLinearScale(0, 1);
  let byKeys = false;
  let ends = /** @type {[number, number]} */ ([0, 1]);
  let allowed = /** @type {[number, number]} */ ([-Infinity, Infinity]);
  const id = createId();
  const range = element("input", { type: "range", id });
  const track = element("div", { class: "track" }, range);
  const exact = createNumberField({
    name,
    class: "exact",
    onNumber: (value, stepped) => onChange(value, "settled", stepped),
    next: (value, way) => clampTo(scale.next(clampTo(value, ...ends), way), ...ends),
    wrong: (value) => explainOutOfBounds(value, ...allowed),
  });
  const [phrase] = meaning.split(":"); // the text after a colon is a hint
  const label = element(
    "label",
    { for: id, title: meaning || null },
    element("b", {}, name),
    phrase && ` ${phrase}`,
  );
  const getValue = () => scale.value(Number(range.value));

  range.addEventListener("keydown", () => (byKeys = true));
  track.addEventListener("pointerdown", () => (byKeys = false));
  range.addEventListener("input", () => onChange(getValue(), "moving", byKeys));
  range.addEventListener("change", () => onChange(getValue(), "settled", byKeys));
  followPointer(track, range);

  return {
    element: element("div", { class: "slider" }, label, exact.field, track, exact.message),
    /**
     * @param {number} value @param {[number, number]} bounds the ends of the slider
     * @param {boolean} [log] whether its scale is logarithmic
     * @param {[number, number]} [reach] bounds of typed numbers, none by default
     */
    update(value, bounds, log = false, reach = [-Infinity, Infinity]) {
      ends = bounds;
      allowed = reach;
      scale = (log ? makeLogScale : makeLinearScale)(...bounds);
      setAttribute(range, "min", scale.ends[0]);
      setAttribute(range, "max", scale.ends[1]);
      setAttribute(range, "step", scale.step);
      if (getValue() !== value) range.value = String(scale.held(clampTo(value, ...bounds)));
      setAttribute(range, "aria-valuetext", formatNumber(value));
      exact.show(formatNumber(value));
    },
  };
}

/** @param {number} low @param {number} high @returns {Scale} */
function makeLinearScale(low, high) {
  const step = high - low > 50 ? 1 : 10 ** Math.floor(Math.log10((high - low) / 300));
  const getNext = (/** @type {number} */ value, /** @type {1|-1} */ way) =>
    Number((value + way * step).toPrecision(12));
  return { ends: [low, high], step, value: (held) => held, held: (value) => value, next: getNext };
}

/** @param {number} low @param {number} high @returns {Scale} */
function makeLogScale(low, high) {
  const ratio = Math.log(high / low) / LOG_STEPS;
  const factor = Math.max(Math.exp(ratio), MIN_RATIO);
  return {
    ends: [0, LOG_STEPS],
    step: 1,
    value: (held) => Number((low * Math.exp(held * ratio)).toPrecision(3)),
    held: (value) => Math.round(Math.log(value / low) / ratio),
    next: (value, way) => Number((value * factor ** way).toPrecision(3)),
  };
}
