// The button with the task's name, which opens the picker of tasks.

import { element } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { drawTask } from "./task-picker.js";

/** @import { Task } from "../state/tasks.js" */

/**
 * Create the button.
 * @param {HTMLElement} bar an element that gets the class "with-tasks" while the picker is open
 * @param {HTMLElement} tray the element with the picker
 */
export function createTaskChip(bar, tray) {
  const chip = element("button", { class: "task-chip flex-row", "aria-expanded": "false", onclick: turn });
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
