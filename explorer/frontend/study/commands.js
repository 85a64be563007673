// Start, Stop, Reset, and the status of the study in numbers and sentences.

import { element, setAttribute, setText } from "../elements/dom.js";
import { available, button, metric } from "../train/widgets/button.js";

/** @import { Picture } from "./picture.js" */
/** @typedef {{onStart: () => void, onStop: () => void, onResume: () => void, onReset: () => void}} Acts */

const METRICS = ["Runs", "Left"];

/**
 * @param {{buttons: HTMLElement, status: HTMLElement}} hosts ``status`` is for numbers and sentences
 * @param {Acts} on
 */
export function createCommands({ buttons, status }, { onStart, onStop, onResume, onReset }) {
  let stopped = false;
  const start = button("Start", onStart, "primary");
  const stop = button("Stop", () => (stopped ? onResume() : onStop()));
  const reset = button("Reset", onReset);
  const metrics = METRICS.map(metric);
  const bar = element("progress", { "aria-label": "Share of the study that is done", max: 1 });
  const main = element("p", { class: "main", role: "status" });
  const next = element("p", { class: "next" });
  buttons.append(element("div", { class: "buttons" }, start, stop, reset));
  const said = element("div", { class: "said-of-run" }, main, next);
  status.append(bar, said, element("div", { class: "metrics" }, ...metrics.map((one) => one.element)));

  return {
    /** @param {Picture} picture */
    show({ offered, metrics: values, taken, status: words }) {
      stopped = offered.resume;
      setText(stop, stopped ? "Resume" : "Stop");
      available(start, offered.start);
      available(stop, offered.stop || offered.resume);
      available(reset, offered.reset);
      metrics.forEach((one, index) => setText(one.value, values[index]));
      bar.value = taken;
      setText(main, words.main);
      setText(next, words.next);
      setAttribute(status, "data-state", words.state);
    },
  };
}
