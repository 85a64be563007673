// The buttons that control a training run, with its status.

import { setAvailable, createButton, createStatus } from "../widgets/button.js";
import { element, setText } from "../../elements/dom.js";

/** @import { Picture } from "./view-model.js" */

const METRICS = ["Step", "Loss", "Steps/s", "Device"];

/**
 * Create the buttons that control a run, and its status. Without ``onOwnOp``, as in a lesson, Reset, slow motion and
 * the numbers are left out.
 * @param {{buttons: HTMLElement, status: HTMLElement}} hosts ``status``: the element for numbers and a sentence
 * @param {Pick<import("./view.js").Acts, "onStart"|"onPause"|"onResume"|"onStep"> & {onReset?: () => void,
 *   onSlowMotion?: () => void, onOwnOp?: () => void, onRemoval?: () => void}} on ``onOwnOp``: restores the task's op
 *   and rules; ``onRemoval``: removes untrainable rules
 */
export function createCommands(
  { buttons, status },
  { onStart, onPause, onResume, onStep, onReset, onSlowMotion, onOwnOp, onRemoval },
) {
  let paused = false;
  const start = createButton("Start", begin, "primary");
  const pause = createButton("Pause", () => (paused ? onResume() : onPause()), "primary");
  const step = createButton("Step", onStep);
  const reset = createButton("Reset", () => onReset?.());
  const slow = createButton("Slow motion", () => onSlowMotion?.());
  const ownOp = createButton("Use the task's own op and rules", () => onOwnOp?.(), "own-op");
  const removal = createButton("", () => onRemoval?.(), "own-op");
  const display = createStatus(status, "Steps taken", onOwnOp ? METRICS : []);
  status.querySelector(".said-of-run")?.append(ownOp, removal);
  buttons.append(
    element("div", { class: "buttons flex-row" }, start, pause, step, ...(onOwnOp ? [reset, slow] : [])),
  );

  /** Start the run, and move the keyboard focus to Pause, because Start disappears. */
  function begin() {
    onStart();
    if (document.activeElement !== document.body && document.activeElement !== start) return;
    setAvailable(pause, true); // before focus(), because a hidden button cannot have it
    pause.focus();
  }

  return {
    /** @param {Picture} picture */
    show(picture) {
      const { offered } = picture;
      paused = offered.resume;
      start.hidden = offered.pause;
      start.disabled = !offered.start;
      setText(start, picture.again ? "Again" : "Start");
      setText(pause, paused ? "Resume" : "Pause");
      setAvailable(pause, offered.pause);
      setAvailable(step, offered.step);
      setAvailable(reset, offered.reset);
      ownOp.hidden = !picture.offersOwnOp;
      removal.hidden = !picture.removal;
      setText(removal, picture.removal);
      if (document.activeElement === pause && offered.start && !pause.checkVisibility()) start.focus();
      display.show(picture);
    },
  };
}
