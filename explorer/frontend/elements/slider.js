// A slider with its exact number beside it.

import { formatNumber, explainOutOfBounds, clampTo } from "../formula/numbers.js";
import { element, freshId, setAttribute } from "./dom.js";
import { createNumberField } from "./number.js";
import { followPointer } from "./track.js";

const LOG_STEPS = 1000;
const LEAST_RATIO = 1.01; // of a step by keyboard: with three digits a smaller one may lead nowhere

/**
 * Between what the native slider holds and the value: the ends, the step, and both ways; ``next`` is the
 * value a step up (1) or down (-1) from another.
 * @typedef {{ends: [number, number], step: number, value: (held: number) => number,
 *   held: (value: number) => number, next: (value: number, way: 1|-1) => number}} Scale
 */

/**
 * A labelled slider and a number field. ``onChange`` gets "moving" while it is dragged and "settled" at
 * rest, and whether it is one of a row of small steps by keyboard. A number may be typed that lies beyond
 * the slider, as far as the numbers that are allowed go.
 * @param {{name: string, meaning?: string, onChange: (value: number, phase: "moving"|"settled",
 *   byKeys: boolean) => void}} options
 */
export function createSlider({ name, meaning = "", onChange }) {
  let scale = linear(0, 1);
  let byKeys = false;
  let ends = /** @type {[number, number]} */ ([0, 1]);
  let allowed = /** @type {[number, number]} */ ([-Infinity, Infinity]);
  const id = freshId();
  const range = element("input", { type: "range", id });
  const track = element("div", { class: "track" }, range);
  const exact = createNumberField({
    name,
    class: "exact",
    onNumber: (value, stepped) => onChange(value, "settled", stepped),
    next: (value, way) => clampTo(scale.next(clampTo(value, ...ends), way), ...ends),
    wrong: (value) => explainOutOfBounds(value, ...allowed),
  });
  const [phrase] = meaning.split(":"); // a hint may follow
  const label = element(
    "label",
    { for: id, title: meaning || null },
    element("b", {}, name),
    phrase && ` ${phrase}`,
  );
  const chosen = () => scale.value(Number(range.value));

  range.addEventListener("keydown", () => (byKeys = true));
  track.addEventListener("pointerdown", () => (byKeys = false));
  range.addEventListener("input", () => onChange(chosen(), "moving", byKeys));
  range.addEventListener("change", () => onChange(chosen(), "settled", byKeys));
  followPointer(track, range);

  return {
    element: element("div", { class: "slider" }, label, exact.field, track, exact.message),
    /**
     * @param {number} value
     * @param {[number, number]} bounds
     * @param {boolean} [log] whether equal ways are equal ratios
     * @param {[number, number]} [reach] the least and the greatest number that may be typed; all without it
     */
    update(value, bounds, log = false, reach = [-Infinity, Infinity]) {
      ends = bounds;
      allowed = reach;
      scale = (log ? logarithmic : linear)(...bounds);
      setAttribute(range, "min", scale.ends[0]);
      setAttribute(range, "max", scale.ends[1]);
      setAttribute(range, "step", scale.step);
      if (chosen() !== value) range.value = String(scale.held(clampTo(value, ...bounds)));
      setAttribute(range, "aria-valuetext", formatNumber(value));
      exact.show(formatNumber(value));
    },
  };
}

/** @param {number} low @param {number} high @returns {Scale} */
function linear(low, high) {
  const step = high - low > 50 ? 1 : 10 ** Math.floor(Math.log10((high - low) / 300));
  const next = (/** @type {number} */ value, /** @type {1|-1} */ way) =>
    Number((value + way * step).toPrecision(12));
  return { ends: [low, high], step, value: (held) => held, held: (value) => value, next };
}

/** @param {number} low @param {number} high @returns {Scale} */
function logarithmic(low, high) {
  const ratio = Math.log(high / low) / LOG_STEPS;
  const factor = Math.max(Math.exp(ratio), LEAST_RATIO);
  return {
    ends: [0, LOG_STEPS],
    step: 1,
    value: (held) => Number((low * Math.exp(held * ratio)).toPrecision(3)),
    held: (value) => Math.round(Math.log(value / low) / ratio),
    next: (value, way) => Number((value * factor ** way).toPrecision(3)),
  };
}
