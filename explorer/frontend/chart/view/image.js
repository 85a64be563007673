// The chart as a picture of its own, with a legend and a caption.

import { listControls, makeLossControls, valueOf } from "../../formula/controls.js";
import { frameOf, layoutOf } from "../scene/panels.js";
import { note, escaped } from "../plotly/plotly.js";
import { formatFourDigits } from "../../formula/substitution.js";
import { aboutLines } from "../scene/scene.js";
import { tracesOf } from "../scene/traces.js";

const LEGEND = 34; // px above the panels
const CAPTION = 1.5; // heights of a letter for each line below them
const LETTER = 0.5; // widths of a letter in heights
const LEAST = [900, 520]; // px, whatever the size of the screen
const SCALE = 2; // pixels of a PNG for each px

/** Op, rules and parameters in one line. @param {import("../scene/picture.js").Picture} picture */
function captionOf({ op, rules, parameters, g, loss, curves }) {
  const visible = rules.filter((rule) => !rule.hidden);
  const controls = listControls(
    op,
    visible.map((rule) => rule.entry),
    loss && curves.drawn ? makeLossControls(loss.parameters) : [],
  );
  const values = controls.map(
    (control) => `${control.name} = ${formatFourDigits(valueOf(parameters, control))}`,
  );
  const names = visible.map((rule) => rule.label).join(", ");
  const drawn = loss && curves.drawn ? [`f = ${loss.text}`] : [];
  return [`${op.label} with ${names}`, ...values, ...drawn, `g = ${formatFourDigits(g)}`].join(" · ");
}

/** A file's name for a picture, from its keys. @param {import("../scene/picture.js").Picture} picture */
export function nameOf({ op, rules }) {
  const keys = [op, ...rules].map(({ key }) => key).join("-");
  return keys.replace(/[^\w-]+/g, "_").slice(0, 80);
}

/**
 * The address of a picture, with the data in it.
 * @param {*} Plotly
 * @param {import("../scene/scene.js").Scene} scene
 * @param {import("../scene/picture.js").Picture} picture what the scene was made of
 * @param {"png"|"svg"} format
 * @returns {Promise<string>}
 */
export function imageOf(Plotly, scene, picture, format) {
  const { lines: curves, title, frame, space } = scene;
  const { theme } = space;
  const traces = tracesOf(curves, [], title !== "");
  const [width, tall] = [Math.max(frame.width, LEAST[0]), Math.max(frame.height, LEAST[1])];
  const { x, forward, gradient, part } = frame;
  const ranges = { x, forward: forward.range, gradient: gradient.range, part: part && part.range };
  const own = frameOf({ width, height: tall }, ranges, theme.type);
  // in a font that a picture has: it cannot fetch the page's
  const layout = layoutOf(own, scene.levels, { ...theme, font: "sans-serif" }, aboutLines(scene), title);
  const { margin } = layout;
  const size = Math.round(own.size * 0.9);
  const lines = wrapped(captionOf(picture), own.inner / (LETTER * size));
  const below = Math.round(lines.length * CAPTION * size);
  const position = { x: 0, xanchor: "left", y: 0, yanchor: "top", yshift: -margin.b + 4, align: "left" };
  const words = { ...note("", position), text: lines.map(escaped).join("<br>"), font: { size } };
  const above = 1 + margin.t / (tall - margin.t - margin.b); // the strip over the panels
  const height = tall + LEGEND + below;
  const figure = {
    data: traces.map((trace) => (trace.meta === "forward" ? { ...trace, showlegend: false } : trace)),
    layout: {
      ...layout,
      height,
      paper_bgcolor: theme.ground,
      showlegend: true,
      legend: { orientation: "h", x: 0, xanchor: "left", y: above, yanchor: "bottom" },
      margin: { ...margin, r: Math.max(margin.r, 2 * size), t: margin.t + LEGEND, b: margin.b + below },
      annotations: [...layout.annotations, words],
    },
  };
  return Plotly.toImage(figure, { format, width, height, scale: format === "png" ? SCALE : 1 });
}

/**
 * A text in lines of so many letters at most, as far as its words allow.
 * @param {string} text
 * @param {number} most
 */
function wrapped(text, most) {
  const lines = [""];
  for (const word of text.split(/(?<!=) (?!=)/)) {
    const line = lines[lines.length - 1];
    if (line && line.length + word.length >= most) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines;
}
