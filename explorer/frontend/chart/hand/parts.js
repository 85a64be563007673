// The elements of a chart: Plotly's, and over it those that are drawn while the hand moves.

import { element } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";

/** @typedef {ReturnType<typeof partsOf>} Parts */

/** @param {{onReset: () => void, onSave: (format: "png"|"svg") => void}} acts */
export function partsOf({ onReset, onSave }) {
  const plot = element("div", { class: "chart-plot", role: "img", "aria-label": "Chart" });
  const circles = shape("g");
  const marks = shape("g");
  const overlay = shape("svg", { class: "chart-overlay", "aria-hidden": "true" });
  overlay.append(circles, marks);
  const named = { "aria-label": "Probe x", "aria-valuenow": 0 };
  const probe = element("div", { class: "chart-probe", role: "slider", tabindex: 0, ...named });
  const buttons = element(
    "div",
    { class: "chart-buttons", onpointerdown: stay, ondblclick: stay },
    button("Reset view", "Back to the whole range (Home)", onReset),
    button("PNG", "Save the chart as a PNG picture", () => onSave("png")),
    button("SVG", "Save the chart as an SVG picture", () => onSave("svg")),
  );
  const layer = element("div", { class: "chart-layer" }, probe, buttons);
  return {
    area: element("div", { class: "chart-place" }, plot, overlay, layer),
    plot,
    circles,
    marks,
    layer,
    probe,
  };
}

/** Keep what happens on a button from the chart below it. @param {Event} event */
function stay(event) {
  event.stopPropagation();
}

/** @param {string} name @param {string} hint @param {() => void} act */
function button(name, hint, act) {
  return element("button", { title: hint, onclick: act }, name);
}
