// Start, Pause, Step, Reset, and the status of the run in numbers and a sentence.

import { available, button, createStatus } from "../widgets/button.js";
import { element, setText } from "../../elements/dom.js";

/** @import { Picture } from "./view-model.js" */

const METRICS = ["Step", "Loss", "Steps/s", "Device"];

/**
 * @param {{buttons: HTMLElement, status: HTMLElement}} hosts ``status`` is for numbers and the sentence
 * @param {import("./view.js").Acts & {onOwnOp: () => void, onRemoval: () => void}} on
 */
export function createCommands(
  { buttons, status },
  { onStart, onPause, onResume, onStep, onReset, onSlowMotion, onOwnOp, onRemoval },
) {
  let paused = false;
  const start = button("Start", begin, "primary");
  const pause = button("Pause", () => (paused ? onResume() : onPause()));
  const step = button("Step", onStep);
  const reset = button("Reset", onReset);
  const slow = button("Slow motion", onSlowMotion);
  const own = button("Use the task's own op and rules", onOwnOp, "own-op");
  const removal = button("", onRemoval, "own-op");
  const display = createStatus(status, "Steps taken", METRICS);
  status.querySelector(".said-of-run")?.append(own, removal);
  buttons.append(element("div", { class: "buttons" }, start, pause, step, reset, slow));

  /** Start is not offered while it runs: after a press by keyboard the focus is on Pause. */
  function begin() {
    onStart();
    if (document.activeElement !== document.body && document.activeElement !== start) return;
    available(pause, true); // before the picture says so: what is not seen takes no focus
    pause.focus();
  }

  return {
    /** @param {Picture} picture */
    show(picture) {
      const { offered } = picture;
      paused = offered.resume;
      start.disabled = !offered.start;
      setText(start, picture.again ? "Again" : "Start");
      setText(pause, paused ? "Resume" : "Pause");
      available(pause, offered.pause);
      available(step, offered.step);
      available(reset, offered.reset);
      own.hidden = !picture.offersOwnOp;
      removal.hidden = !picture.removal;
      setText(removal, picture.removal);
      if (document.activeElement === pause && offered.start && !pause.checkVisibility()) start.focus();
      display.show(picture);
    },
  };
}
