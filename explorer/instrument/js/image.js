// The chart as a picture of its own, with a legend and a line that says what it shows.

import { allControls, valueOf } from "./controls.js";
import { layoutOf, note } from "./plot.js";
import { numberText } from "./substitution.js";

const LEGEND = 34; // px above the panels
const CAPTION = 30; // px below them
const SCALE = 2; // pixels of a PNG for each px

/**
 * Op, rules and parameters in one line.
 * @param {*} picture
 */
export function captionOf({ op, rules, parameters, g }) {
  const shown = rules.filter((/** @type {*} */ rule) => !rule.hidden);
  const controls = allControls(op, shown.map((/** @type {*} */ rule) => rule.entry));
  const values = controls.map((control) => `${control.name} = ${numberText(valueOf(parameters, control))}`);
  const names = shown.map((/** @type {*} */ rule) => rule.label).join(", ");
  return [`${op.label} with ${names}`, ...values, `g = ${numberText(g)}`].join(" · ");
}

/**
 * A file's name for a picture, from its keys.
 * @param {*} picture
 */
export function nameOf({ op, rules }) {
  const keys = [op, ...rules].map(({ key }) => key).join("-");
  return keys.replace(/[^\w-]+/g, "_").slice(0, 80);
}

/**
 * The address of a picture, with the data in it.
 * @param {*} Plotly
 * @param {*[]} traces
 * @param {import("./plot.js").Frame} frame
 * @param {import("./plot.js").Theme} theme
 * @param {string} caption
 * @param {"png"|"svg"} format
 * @returns {Promise<string>}
 */
export function imageOf(Plotly, traces, frame, theme, caption, format) {
  const height = frame.height + LEGEND + CAPTION;
  const layout = layoutOf(frame, theme, traces.some(({ mode }) => mode === "markers"));
  const { margin } = layout;
  const words = note(caption, { x: 0, xanchor: "left", y: 0, yanchor: "top", yshift: -margin.b + 4 });
  const above = 1 + margin.t / (frame.height - margin.t - margin.b); // the strip over the panels
  const figure = {
    data: traces.map((trace) => (trace.meta === "forward" ? { ...trace, showlegend: false } : trace)),
    layout: {
      ...layout,
      height,
      paper_bgcolor: theme.ground,
      showlegend: true,
      legend: { orientation: "h", x: 0, xanchor: "left", y: above, yanchor: "bottom" },
      margin: { ...margin, t: margin.t + LEGEND, b: margin.b + CAPTION },
      annotations: [...layout.annotations, { ...words, font: { size: Math.round(layout.font.size * 0.9) } }],
    },
  };
  return Plotly.toImage(figure, { format, width: frame.width, height, scale: format === "png" ? SCALE : 1 });
}

/**
 * Have the browser save an address under a name.
 * @param {string} address
 * @param {string} name
 */
export function save(address, name) {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}
