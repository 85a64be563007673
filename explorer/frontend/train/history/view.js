// The run's history below the chart: slider, actions at the displayed step, branch points and earlier runs.

import { h, render } from "../../elements/render.js";
import { createBranchDialog } from "./branch-dialog.js";
import { createScrubber } from "./scrubber.js";
import { createExportMenu } from "./downloads.js";

const GO_ON_HINT = "Move the slider below the chart back to a step first.";

/**
 * Create the view of a run's history.
 * @param {HTMLElement} host @param {ReturnType<typeof import("./controller.js").createHistory>} on
 */
export function createHistoryView(host, on) {
  const scrubber = createScrubber(on);
  const branchMenu = createBranchDialog(on);
  const exportMenu = createExportMenu(on);

  return {
    align: scrubber.align,
    /** @param {import("./view-model.js").Time} time */
    show(time) {
      const { isBack, step, points, earlierRuns, unsaid } = time;
      const hadFocus = host.querySelector(".chips :focus");
      const state = isBack ? { onclick: on.onGoOn } : { "aria-disabled": "true", title: GO_ON_HINT };
      const chips = [
        points.map(({ text }, index) =>
          makeChip("◇", text, [`Branch at ${text}`, `Without the branch at ${text}`], () =>
            on.onPoint(index),
          ),
        ),
        earlierRuns.map((text) =>
          makeChip(
            "–",
            text,
            [`Faint lines: ${text}`, `Without the faint lines of ${text}`],
            on.onEarlierRun,
          ),
        ),
      ];
      render(
        host,
        scrubber.element,
        h(
          "div",
          { class: "actions flex-wrap" },
          h("button", state, isBack ? `Go on from step ${step}` : "Go on from here"),
          branchMenu.element,
          exportMenu.element,
          scrubber.said,
          h("span", { class: "nearest text-small", role: "status" }, unsaid),
          h("ul", { class: "chips text-small", "aria-label": "Branch points and earlier runs" }, chips),
        ),
      );
      const next = host.querySelector(".chips button") ?? host.querySelector(".actions button");
      if (hadFocus && !host.querySelector(".chips :focus")) /** @type {HTMLElement} */ (next).focus();
      for (const part of [scrubber, branchMenu, exportMenu]) part.show(time);
    },
  };
}

/**
 * Return a label with a button that removes it.
 * @param {string} sign a symbol before the text @param {string} text
 * @param {[string, string]} names its tooltip, and the accessible name of the button @param {() => void} onclick
 */
function makeChip(sign, text, [title, name], onclick) {
  const remove = h("button", { class: "quiet", "aria-label": name, onclick }, "×");
  return h("li", { title }, h("b", {}, sign), h("span", {}, text), remove);
}
