// The buttons that control a study, and the display of its status.

import { element, setText } from "../elements/dom.js";
import { setAvailable, createButton, createStatus } from "../train/widgets/button.js";

/** @import { Picture } from "./picture.js" */
/**
 * The callbacks of the study's buttons. ``onRestore``: returns to the settings of the results.
 * @typedef {{onStart: () => void, onStop: () => void, onResume: () => void, onReset: () => void, onRestore: () =>
 *   void}} Acts
 */

const METRICS = ["Runs", "Left"];

/**
 * Create the buttons that control a study, and its status.
 * @param {{buttons: HTMLElement, status: HTMLElement}} hosts ``status``: the element for numbers and sentences
 * @param {Acts} on
 */
export function createCommands({ buttons, status }, { onStart, onStop, onResume, onReset, onRestore }) {
  let stopped = false;
  const start = createButton("Start", onStart, "primary");
  const stop = createButton("Stop", () => (stopped ? onResume() : onStop()), "primary");
  const reset = createButton("Reset", onReset);
  const restore = createButton("Back to their settings", onRestore);
  const display = createStatus(status, "Share of the study that is done", METRICS);
  status.querySelector(".said-of-run")?.append(restore);
  buttons.append(element("div", { class: "buttons flex-row" }, start, stop, reset));

  return {
    /** @param {Picture} picture */
    show(picture) {
      const { offered } = picture;
      stopped = offered.resume;
      setText(start, picture.again ? "Again" : "Start");
      setText(stop, stopped ? "Resume" : "Stop");
      setAvailable(start, offered.start);
      setAvailable(stop, offered.stop || offered.resume);
      setAvailable(reset, offered.reset);
      restore.hidden = !offered.restore;
      display.show(picture);
    },
  };
}
