// The run's history below the chart: slider, actions at the displayed step and branch points.

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
      const { isBack, step, points, unsaid } = time;
      const hadFocus = host.querySelector(".chips :focus");
      const state = isBack ? { onclick: on.onGoOn } : { "aria-disabled": "true", title: GO_ON_HINT };
      const chips = points.map(({ text }, index) => {
        const label = { class: "quiet", "aria-label": `Without the branch at ${text}` };
        const remove = h("button", { ...label, onclick: () => on.onPoint(index) }, "×");
        return h("li", { title: `Branch at ${text}` }, h("b", {}, "◇"), h("span", {}, text), remove);
      });
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
          h("ul", { class: "chips text-small", "aria-label": "Branch points" }, chips),
        ),
      );
      const next = host.querySelector(".chips button") ?? host.querySelector(".actions button");
      if (hadFocus && !host.querySelector(".chips :focus")) /** @type {HTMLElement} */ (next).focus();
      for (const part of [scrubber, branchMenu, exportMenu]) part.show(time);
    },
  };
}
