// The slider below the chart that selects which step of a run is displayed.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { findNearest } from "../state/history.js";

const THUMB = 18; // width in px, as in time.css
const JUMP = 10; // checkpoints per press of Page Up or Page Down

/** Create the slider. @param {{onScrub: (step: number) => void}} on ``onScrub``: called with a selected step */
export function createScrubber({ onScrub }) {
  let steps = /** @type {number[]} */ ([]);
  let step = 0;
  const range = element("input", { type: "range", "aria-label": "Step shown", min: 0, step: 1 });
  const marks = element("div", { class: "marks", "aria-hidden": "true" });
  const said = element("span", { class: "nearest text-small", role: "status" });
  const host = element("div", { class: "scrubber", style: "visibility: hidden" }, range, marks);

  range.addEventListener("input", () => {
    const wanted = Number(range.value);
    const checkpoint = findNearest(steps, wanted) ?? 0;
    setText(
      said,
      checkpoint === wanted || wanted > checkpoint === (checkpoint === steps.at(-1))
        ? ""
        : `Step ${wanted} is not kept: ${checkpoint} is the nearest.`,
    );
    onScrub(wanted);
  });
  range.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const index = steps.indexOf(step);
    const next = KEY_MOVES[event.key]?.(index, steps.length - 1);
    if (next === undefined || index < 0) return;
    event.preventDefault();
    setText(said, "");
    onScrub(steps[Math.min(Math.max(next, 0), steps.length - 1)]);
  });

  return {
    element: host,
    said,
    /** Show the slider, aligned with the chart's x axis. @param {number} left in px @param {number} width in px */
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
      const shares = time.points.map((point) => 100 * (point.step / Math.max(time.most, 1)));
      render(
        marks,
        shares.map((each) => h("i", { style: `left: ${each}%` })),
      );
    },
  };
}

/**
 * Functions by key. Each returns the index of the checkpoint to which the key moves; it may be out of range.
 * @type {Record<string, (index: number, last: number) => number>}
 */
const KEY_MOVES = {
  ArrowLeft: (index) => index - 1,
  ArrowDown: (index) => index - 1,
  ArrowRight: (index) => index + 1,
  ArrowUp: (index) => index + 1,
  PageDown: (index) => index - JUMP,
  PageUp: (index) => index + JUMP,
  Home: () => 0,
  End: (_place, last) => last,
};
