// The button that names the selected training task and opens the task picker.

import { element } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { drawTask } from "./task-picker.js";

/** @import { Task } from "../state/tasks.js" */

/** @param {HTMLElement} bar @param {HTMLElement} tray of all tasks, open while the bar has the class "with-tasks" */
export function createTaskChip(bar, tray) {
  const chip = element("button", { class: "task-chip", "aria-expanded": "false", onclick: turn });
  let displayedKey = "";
  bar.prepend(chip);
  tray.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element && target.closest("button")) || !bar.matches(".with-tasks")) return;
    turn();
    chip.focus();
  });

  function turn() {
    chip.ariaExpanded = String(bar.classList.toggle("with-tasks"));
  }

  return {
    /** @param {Task} task */
    show(task) {
      if (task.key === displayedKey) return;
      displayedKey = task.key;
      chip.ariaLabel = `Task: ${task.label}, change it`;
      render(chip, h("span", { class: "task-picture" }, drawTask(task)), h("b", {}, task.label));
    },
  };
}
