// The button that names the selected training task and opens the task picker.

import { element, setAttribute, setText } from "../../elements/dom.js";
import { pictureOf } from "./task-picker.js";

/** @import { Task } from "../state/tasks.js" */

/** @param {HTMLElement} bar @param {HTMLElement} tray of all tasks, open while the bar has the class "with-tasks" */
export function createTaskChip(bar, tray) {
  const picture = element("span", { class: "task-picture" });
  const name = element("b", {});
  const chip = element("button", { class: "task-chip", onclick: turn }, picture, name);
  let displayedKey = "";
  bar.prepend(chip);
  tray.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element && target.closest("button")) || !bar.matches(".with-tasks")) return;
    turn();
    chip.focus();
  });

  function turn() {
    setAttribute(chip, "aria-expanded", String(bar.classList.toggle("with-tasks")));
  }

  return {
    /** @param {Task} task */
    show(task) {
      if (task.key === displayedKey) return;
      displayedKey = task.key;
      picture.replaceChildren(pictureOf(task));
      setText(name, task.label);
      setAttribute(chip, "aria-label", `Task: ${task.label}, change it`);
      setAttribute(chip, "aria-expanded", String(bar.matches(".with-tasks")));
    },
  };
}
