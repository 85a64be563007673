// The task picker, which shows a thumbnail of each task's data.

import { element, setAttribute } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { getTasks } from "../state/tasks.js";

/** @import { Task } from "../state/tasks.js" */

const SIZE = 30; // px, width and height of a thumbnail
const DOT = 1.3;

/** @param {HTMLElement} host @param {(key: string) => void} onChoose @param {Task[]} offered */
export function createPicker(host, onChoose, offered = getTasks()) {
  setAttribute(host, "role", "group");
  setAttribute(host, "aria-label", "Task");
  const buttons = offered.map((task) => ({ key: task.key, node: buttonOf(task, () => onChoose(task.key)) }));
  host.append(...buttons.map(({ node }) => node));
  return {
    /** @param {string} chosen its key */
    show(chosen) {
      for (const { key, node } of buttons) setAttribute(node, "aria-pressed", String(key === chosen));
    },
  };
}

/** @param {Task} task @param {() => void} onclick @returns {HTMLElement} */
function buttonOf(task, onclick) {
  return element(
    "button",
    { title: [task.purpose, task.of_own_op].filter(Boolean).join(" "), onclick },
    pictureOf(task),
    element("span", {}, task.label),
  );
}

/** @param {Task} task @returns {SVGElement} */
export function pictureOf({ picture }) {
  const drawing = shape("svg", {
    viewBox: `0 0 ${SIZE} ${SIZE}`,
    width: SIZE,
    height: SIZE,
    "aria-hidden": "true",
  });
  if (!picture) drawing.append(createSheet());
  else if ("points" in picture) drawing.append(...picture.points.map(createDot));
  else drawing.append(...picture.grid.flatMap(createRow));
  return drawing;
}

/** @param {[number, number, number]} point */
function createDot([x, y, kind]) {
  const half = SIZE / 2;
  const reach = half - DOT;
  return shape("circle", {
    class: kind ? "second" : "first",
    cx: half + reach * x,
    cy: half - reach * y,
    r: DOT,
  });
}

/** @param {number[]} values @param {number} index @param {number[][]} rows */
function createRow(values, index, rows) {
  const [wide, tall] = [SIZE / values.length, SIZE / rows.length];
  return values.map((value, column) =>
    shape("rect", { x: column * wide, y: index * tall, width: wide, height: tall, opacity: value }),
  );
}

/** Create the icon of a table, for tasks that use the user's own data. */
function createSheet() {
  const lines = [8, 14, 20, 26].map((y) => `M3 ${y}H27`).join("");
  return shape("path", { class: "sheet", d: `M3 4H27V26H3ZM11 4V26${lines}` });
}
