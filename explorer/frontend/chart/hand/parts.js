// The HTML elements of a chart: Plotly's plot, and an overlay for curves during drags.

import { element } from "../../elements/dom.js";
import { createMenu } from "../../elements/menu.js";
import { shape } from "../../elements/svg.js";

/** The elements of a chart. @typedef {ReturnType<typeof createParts>} Parts */

/**
 * Create the HTML elements of a chart, including its buttons.
 * @param {{onReset: () => void, onSave: (format: "png"|"svg") => void}} acts callbacks of the buttons
 */
export function createParts({ onReset, onSave }) {
  const plot = element("div", { class: "chart-plot", role: "img", "aria-label": "Chart" });
  const circles = shape("g");
  const marks = shape("g");
  const overlay = shape("svg", { class: "chart-overlay", "aria-hidden": "true" });
  overlay.append(circles, marks);
  const named = { "aria-label": "Probe x", "aria-valuenow": 0 };
  const probe = element("div", { class: "chart-probe", role: "slider", tabindex: 0, ...named });
  const reset = createButton("Reset view", "Back to the whole range (r, Home or a double click)", onReset);
  const save = createMenu(
    "Save",
    createButton("PNG", "Save the chart as a PNG picture", () => onSave("png")),
    createButton("SVG", "Save the chart as an SVG picture", () => onSave("svg")),
  );
  const buttons = element(
    "div",
    { class: "chart-buttons", onpointerdown: stopEvent, ondblclick: stopEvent },
    ...[reset, save],
  );
  const layer = element("div", { class: "chart-layer" }, probe, buttons);
  return {
    area: element("div", { class: "chart-place" }, plot, overlay, layer),
    plot,
    circles,
    marks,
    layer,
    reset,
    probe,
  };
}

/** Keep an event on a button from starting a gesture on the chart below. @param {Event} event */
function stopEvent(event) {
  event.stopPropagation();
}

/** @param {string} name @param {string} hint @param {() => void} act */
function createButton(name, hint, act) {
  return element("button", { title: hint, onclick: act }, name);
}
