// Export of the chart as an image with a legend and a caption.

import { listControls, makeLossControls, getControlValue } from "../../formula/controls.js";
import { computeFrame, makeLayout } from "../scene/panels.js";
import { makeNote, escapeHtml } from "../plotly/plotly.js";
import { formatFourDigits } from "../../formula/substitution.js";
import { describeLines } from "../scene/scene.js";
import { toTraces } from "../scene/traces.js";

const LEGEND = 34; // height of the legend above the panels in px
const CAPTION = 1.5; // line height of the caption, as a multiple of the font size
const LETTER = 0.5; // average width of a letter, as a multiple of the font size
const MIN_SIZE = [900, 520]; // minimum size of an image in px, also on a small screen
const SCALE = 2; // pixels of a PNG per CSS px

/** @param {import("../scene/picture.js").Picture} picture */
function makeCaption({ op, rules, parameters, g, loss, curves }) {
  const visible = rules.filter((rule) => !rule.hidden);
  const controls = listControls(
    op,
    visible.map((rule) => rule.entry),
    loss && curves.drawn ? makeLossControls(loss.parameters) : [],
  );
  const values = controls.map(
    (control) => `${control.name} = ${formatFourDigits(getControlValue(parameters, control))}`,
  );
  const names = visible.map((rule) => rule.label).join(", ");
  const lossTexts = loss && curves.drawn ? [`f = ${loss.text}`] : [];
  return [`${op.label} with ${names}`, ...values, ...lossTexts, `g = ${formatFourDigits(g)}`].join(" · ");
}

/**
 * Return a file name for the image of a chart, made from the names of the op and its rules.
 * @param {import("../scene/picture.js").Picture} picture
 */
export function makeFileName({ op, rules }) {
  const keys = [op, ...rules].map(({ key }) => key).join("-");
  return keys.replace(/[^\w-]+/g, "_").slice(0, 80);
}

/**
 * Render a chart as an image. Resolves to its data URL.
 * @param {*} Plotly @param {import("../scene/scene.js").Scene} scene
 * @param {import("../scene/picture.js").Picture} picture the data of the scene @param {"png"|"svg"} format
 * @returns {Promise<string>}
 */
export function renderImage(Plotly, scene, picture, format) {
  const { lines: curves, title, frame, space } = scene;
  const { theme } = space;
  const traces = toTraces(curves, [], title !== "");
  const [width, tall] = [Math.max(frame.width, MIN_SIZE[0]), Math.max(frame.height, MIN_SIZE[1])];
  const { x, forward, gradient, part } = frame;
  const ranges = { x, forward: forward.range, gradient: gradient.range, part: part && part.range };
  const imageFrame = computeFrame({ width, height: tall }, ranges, theme.type);
  // A generic font, because an image cannot load the page's font.
  const layout = makeLayout(
    imageFrame,
    scene.levels,
    { ...theme, font: "sans-serif" },
    describeLines(scene),
    title,
  );
  const { margin } = layout;
  const size = Math.round(imageFrame.size * 0.9);
  const lines = wrapText(makeCaption(picture), imageFrame.inner / (LETTER * size));
  const below = Math.round(lines.length * CAPTION * size);
  const position = { x: 0, xanchor: "left", y: 0, yanchor: "top", yshift: -margin.b + 4, align: "left" };
  const words = { ...makeNote("", position), text: lines.map(escapeHtml).join("<br>"), font: { size } };
  // position of the legend above the panels, in units of their height
  const above = 1 + margin.t / (tall - margin.t - margin.b);
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

/** @param {string} text @param {number} maxLength */
function wrapText(text, maxLength) {
  const lines = [""];
  for (const word of text.split(/(?<!=) (?!=)/)) {
    const line = lines[lines.length - 1];
    if (line && line.length + word.length >= maxLength) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines;
}
