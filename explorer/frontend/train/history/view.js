// The history below the chart: its slider, the actions at the displayed step, branch points, and earlier runs.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { createBranchDialog } from "./branch-dialog.js";
import { createScrubber } from "./scrubber.js";
import { createExportMenu } from "./downloads.js";

/** @param {HTMLElement} host @param {ReturnType<typeof import("./controller.js").createHistory>} on */
export function createHistoryView(host, on) {
  const scrubber = createScrubber(on);
  const goOn = element(
    "button",
    { onclick: () => goOn.getAttribute("aria-disabled") ?? on.onGoOn() },
    "Go on from here",
  );
  const branchMenu = createBranchDialog(on);
  const exportMenu = createExportMenu(on);
  const unsaid = element("span", { class: "nearest", role: "status" });
  const chips = element("ul", { class: "chips", "aria-label": "Branch points and earlier runs" });
  let listed = "";
  host.append(
    scrubber.element,
    element(
      "div",
      { class: "actions" },
      goOn,
      branchMenu.element,
      exportMenu.element,
      scrubber.said,
      unsaid,
      chips,
    ),
  );

  /** @param {import("./view-model.js").Time} time */
  function list({ points, ghosts }) {
    const text = JSON.stringify([points, ghosts]);
    if (text === listed) return;
    listed = text;
    const hadFocus = chips.contains(document.activeElement);
    chips.replaceChildren(
      ...points.map(({ text: point }, index) =>
        createChip("◇", point, [`Branch at ${point}`, `Without the branch at ${point}`], () =>
          on.onPoint(index),
        ),
      ),
      ...ghosts.map(({ number, text: run }) =>
        createChip("–", run, [`Faint lines: ${run}`, `Without the faint lines of ${run}`], () =>
          on.onGhost(number),
        ),
      ),
    );
    if (hadFocus) (chips.querySelector("button") ?? goOn).focus();
  }

  return {
    align: scrubber.align,
    /** @param {import("./view-model.js").Time} time */
    show(time) {
      setAttribute(goOn, "aria-disabled", time.isBack ? null : "true");
      setAttribute(
        goOn,
        "title",
        time.isBack ? null : "Move the slider below the chart back to a step first.",
      );
      setText(goOn, time.isBack ? `Go on from step ${time.step}` : "Go on from here");
      setText(unsaid, time.unsaid);
      scrubber.show(time);
      branchMenu.show(time);
      exportMenu.show(time);
      list(time);
    },
  };
}

/**
 * Create a chip that the user can remove with its button.
 * @param {string} sign
 * @param {string} text
 * @param {[string, string]} names its complete text, and the accessible name of its button
 * @param {() => void} act
 */
function createChip(sign, text, [title, name], act) {
  return element(
    "li",
    { title },
    element("b", {}, sign),
    element("span", {}, text),
    element("button", { "aria-label": name, onclick: act }, "×"),
  );
}
