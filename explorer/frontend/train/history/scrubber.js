// The scrubber below the chart: its axis of steps, and a thumb below the line that it moves.

import { counted } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { nearest } from "../state/history.js";

const THUMB = 18; // px across, as time.css draws it
const JUMP = 10; // kept steps that Page Up and Page Down go

/**
 * @param {{onScrub: (step: number) => void}} on
 */
export function createScrubber({ onScrub }) {
  let steps = /** @type {number[]} */ ([]);
  let step = 0;
  const range = element("input", { type: "range", "aria-label": "Step shown", min: 0, step: 1 });
  const marks = element("div", { class: "marks", "aria-hidden": "true" });
  const said = element("span", { class: "nearest", role: "status" });
  const host = element("div", { class: "scrubber", style: "visibility: hidden" }, range, marks);

  range.addEventListener("input", () => {
    const wanted = Number(range.value);
    const kept = nearest(steps, wanted) ?? 0;
    setText(
      said,
      kept === wanted || wanted > kept === (kept === steps.at(-1)) ? "" : nearestText(wanted, kept),
    );
    onScrub(wanted);
  });
  range.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const place = steps.indexOf(step);
    const next = WAYS[event.key]?.(place, steps.length - 1);
    if (next === undefined || place < 0) return;
    event.preventDefault();
    setText(said, "");
    onScrub(steps[Math.min(Math.max(next, 0), steps.length - 1)]);
  });

  return {
    element: host,
    said,
    /** The x axis above it, in px: before that is known it is not seen. @param {number} left @param {number} width */
    align(left, width) {
      host.style.visibility = "";
      host.style.marginLeft = `${left - THUMB / 2}px`;
      host.style.width = `${width + THUMB}px`;
    },
    /** @param {import("./view-model.js").Time} time */
    show(time) {
      ({ steps, step } = time);
      setAttribute(range, "max", time.most);
      setAttribute(range, "disabled", !time.hasRun);
      setAttribute(range, "aria-valuetext", `step ${step} of ${time.most}`);
      if (range.value !== String(step)) range.value = String(step);
      if (!time.isBack) setText(said, "");
      const share = time.most ? step / time.most : 0;
      host.style.setProperty("--share", String(share));
      const places = time.points.map((point) => 100 * (point.step / Math.max(time.most, 1)));
      const make = () => element("i", {});
      counted(marks, places, make, (mark, place) => setAttribute(mark, "style", `left: ${place}%`));
    },
  };
}

/** @param {number} wanted @param {number} kept */
function nearestText(wanted, kept) {
  return `Step ${wanted} is not kept: ${kept} is the nearest.`;
}

/** Where a key leads from a place among the steps. @type {Record<string, (place: number, last: number) => number>} */
const WAYS = {
  ArrowLeft: (place) => place - 1,
  ArrowDown: (place) => place - 1,
  ArrowRight: (place) => place + 1,
  ArrowUp: (place) => place + 1,
  PageDown: (place) => place - JUMP,
  PageUp: (place) => place + JUMP,
  Home: () => 0,
  End: (_place, last) => last,
};
