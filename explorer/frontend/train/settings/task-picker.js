// The picker of tasks, with a thumbnail of each task's data.

import { setAttribute } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { getTasks } from "../state/tasks.js";

/** @import { Task } from "../state/tasks.js" */

const SIZE = 30; // width and height of a thumbnail in px
const DOT = 1.3;
// an empty table, for the user's own data
const SHEET = `M3 4H27V26H3ZM11 4V26${[8, 14, 20, 26].map((y) => `M3 ${y}H27`).join("")}`;

/**
 * Create the picker.
 * @param {HTMLElement} host @param {(key: string) => void} onChoose called with the key of a task
 * @param {Task[]} offered
 */
export function createPicker(host, onChoose, offered = getTasks()) {
  setAttribute(host, "role", "group");
  setAttribute(host, "aria-label", "Task");
  const drawings = offered.map(drawTask);
  let displayed = "";
  return {
    /** @param {string} chosen key of the selected task */
    show(chosen) {
      if (chosen === displayed) return;
      displayed = chosen;
      const buttons = offered.map((task, index) => {
        const title = [task.purpose, task.of_own_op].filter(Boolean).join(" ");
        const state = { "aria-pressed": String(task.key === chosen), onclick: () => onChoose(task.key) };
        return h("button", { class: "quiet", title, ...state }, drawings[index], h("span", {}, task.label));
      });
      render(host, buttons);
    },
  };
}

/** Draw the thumbnail of a task's data. @param {Task} task */
export function drawTask({ picture }) {
  const size = { viewBox: `0 0 ${SIZE} ${SIZE}`, width: SIZE, height: SIZE };
  const data = picture && ("points" in picture ? picture.points.map(drawDot) : picture.grid.map(drawRow));
  return h("svg", { ...size, "aria-hidden": "true" }, data ?? h("path", { class: "sheet", d: SHEET }));
}

/** @param {[number, number, number]} point x, y and class, with x and y from −1 to 1 */
function drawDot([x, y, kind]) {
  const half = SIZE / 2;
  const reach = half - DOT;
  const centre = { cx: half + reach * x, cy: half - reach * y };
  return h("circle", { class: kind ? "second" : "first", ...centre, r: DOT });
}

/** @param {number[]} values @param {number} index @param {number[][]} rows */
function drawRow(values, index, rows) {
  const [width, height] = [SIZE / values.length, SIZE / rows.length];
  return values.map((opacity, column) =>
    h("rect", { x: column * width, y: index * height, width, height, opacity }),
  );
}
