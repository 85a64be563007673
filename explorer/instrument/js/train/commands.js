// Start, Pause, Step, Reset, and the numbers and the sentence that say how the run stands.

import { element, setAttribute, setText } from "../elements/dom.js";
import { shortText } from "../formula/numbers.js";
import { ACTIVE, OVER } from "./run.js";

/** @typedef {import("./run.js").View} View */

const LOST = "Connection lost: trying again every second. A run that nobody watches pauses after 9 seconds.";
const NEXT = /** @type {Object<string, string>} */ ({
  paused: "Press Resume or Step to go on.",
  finished: "Change something and press Start to compare.",
  failed: "Change a setting, or press Start to try again.",
  stopped: "Press Start to run it again.",
  waiting: "It goes on by itself.",
});

/**
 * @param {HTMLElement} host for buttons and numbers
 * @param {HTMLElement} status for the sentence
 * @param {{onStart: () => void, onPause: () => void, onResume: () => void, onStep: () => void, onReset: () => void}} on
 */
export function createCommands(host, status, { onStart, onPause, onResume, onStep, onReset }) {
  let paused = false;
  const start = button("Start", begin, "primary");
  const pause = button("Pause", () => (paused ? onResume() : onPause()));
  const step = button("Step", onStep);
  const reset = button("Reset", onReset);
  const metrics = ["Step", "Loss", "Steps/s", "Device"].map(metric);
  const bar = element("progress", { "aria-label": "Steps taken", max: 1 });
  const main = element("p", { class: "main", role: "status" });
  const next = element("p", { class: "next" });
  host.append(
    element("div", { class: "buttons" }, start, pause, step, reset),
    element("div", { class: "metrics" }, ...metrics.map((one) => one.element)),
  );
  status.append(bar, main, next);

  /** Start is not offered while it runs: who pressed it by keyboard finds Pause below the finger. */
  function begin() {
    onStart();
    if (document.activeElement === document.body || document.activeElement === start) pause.focus();
  }

  return {
    /**
     * @param {View} view
     * @param {{steps: number, first: string, conclusion: string, said: string}} shown
     *   ``first`` is the first rule's key, ``said`` what other settings have done
     */
    show({ status: now, notice, lost }, { steps, first, conclusion, said }) {
      const active = ACTIVE.includes(now.state);
      paused = now.state === "paused";
      start.disabled = active || paused;
      setText(pause, paused ? "Resume" : "Pause");
      available(pause, active || paused);
      available(step, !OVER.includes(now.state));
      available(reset, now.state !== "idle");
      const loss = now.snapshot?.loss[first];
      const values = [
        `${now.step} / ${now.steps || steps}`,
        typeof loss === "number" ? shortText(loss) : "–",
        now.steps_per_second ? Math.round(now.steps_per_second).toLocaleString("en-US") : "–",
        now.device ?? "–",
      ];
      metrics.forEach((one, place) => setText(one.value, values[place]));
      bar.value = now.step / (now.steps || steps);
      setText(main, notice || (lost ? LOST : [now.sentence, conclusion].filter(Boolean).join(" ")));
      setText(next, lost ? notice && LOST : notice ? "" : said || (NEXT[now.state] ?? ""));
      setAttribute(status, "data-state", lost ? "lost" : notice ? "refused" : now.state);
    },
  };
}

/** @param {string} name @param {() => void} act @param {string} [kind] */
function button(name, act, kind = "") {
  const node = element(
    "button",
    { type: "button", class: kind, onclick: () => node.getAttribute("aria-disabled") ?? act() },
    name,
  );
  return node;
}

/** A button that keeps the focus also while it does nothing. @param {HTMLElement} node @param {boolean} is */
function available(node, is) {
  setAttribute(node, "aria-disabled", is ? null : "true");
}

/** @param {string} name */
function metric(name) {
  const value = element("span", {});
  return { value, element: element("span", { class: "metric" }, element("b", {}, name), " ", value) };
}
