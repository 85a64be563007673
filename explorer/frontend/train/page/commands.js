// Start, Pause, Step, Reset, and the status of the run in numbers and a sentence.

import { metric } from "../widgets/button.js";
import { available } from "../widgets/button.js";
import { button } from "../widgets/button.js";
import { element, setAttribute, setText } from "../../elements/dom.js";

/** @import { Picture } from "./view-model.js" */

const METRICS = ["Step", "Loss", "Steps/s", "Device"];

/**
 * @param {{buttons: HTMLElement, status: HTMLElement}} hosts ``status`` is for numbers and the sentence
 * @param {import("./view.js").Acts} on
 */
export function createCommands(
  { buttons, status },
  { onStart, onPause, onResume, onStep, onReset, onSlowMotion },
) {
  let paused = false;
  const start = button("Start", begin, "primary");
  const pause = button("Pause", () => (paused ? onResume() : onPause()));
  const step = button("Step", onStep);
  const reset = button("Reset", onReset);
  const slow = button("Slow motion", onSlowMotion);
  const metrics = METRICS.map(metric);
  const bar = element("progress", { "aria-label": "Steps taken", max: 1 });
  const main = element("p", { class: "main", role: "status" });
  const next = element("p", { class: "next" });
  buttons.append(element("div", { class: "buttons" }, start, pause, step, reset, slow));
  const said = element("div", { class: "said-of-run" }, main, next);
  status.append(bar, said, element("div", { class: "metrics" }, ...metrics.map((one) => one.element)));

  /** Start is not offered while it runs: after a press by keyboard the focus is on Pause. */
  function begin() {
    onStart();
    if (document.activeElement === document.body || document.activeElement === start) pause.focus();
  }

  return {
    /** @param {Picture} picture */
    show({ offered, metrics: values, taken, status: words }) {
      paused = offered.resume;
      start.disabled = !offered.start;
      setText(pause, paused ? "Resume" : "Pause");
      available(pause, offered.pause);
      available(step, offered.step);
      available(reset, offered.reset);
      metrics.forEach((one, index) => setText(one.value, values[index]));
      bar.value = taken;
      setText(main, words.main);
      setText(next, words.next);
      setAttribute(status, "data-state", words.state);
    },
  };
}
