// The drawing of examples as images or bars, with dots for the rules whose nets classify them correctly.

import { paintBars, paintGrey } from "../../elements/canvas.js";
import { setAttribute } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { drawPicture, paintCanvases } from "../panels/picture.js";
import { isPainted } from "../widgets/image.js";

/** @import { Paint } from "../panels/picture.js" */
/** @import { Plane, Reads, Scatter } from "./reads-data.js" */

/** Create the drawing of examples. @param {HTMLElement} host */
export function createReads(host) {
  return {
    /** @param {Reads|null} reads null hides them */
    show(reads) {
      setAttribute(host, "hidden", !reads);
      if (!reads) return;
      const { question, caption, points, scatter, planes, examples } = reads;
      const paints = /** @type {Paint[]} */ ([]);
      const dots = points.map(([x, y, kind]) =>
        h("circle", { r: 0.035, class: kind ? "second" : "first", cx: x, cy: -y }),
      );
      host.classList.toggle("asked", reads.rules.length === 0);
      render(
        host,
        h("p", { class: "question" }, question),
        h("p", { class: "caption" }, caption),
        points.length > 0 &&
          h("svg", { viewBox: "-1.05 -1.05 2.1 2.1", class: "plane", "aria-hidden": "true" }, dots),
        scatter && drawScatter(scatter),
        h(
          "div",
          { class: "planes" },
          planes.map((plane) => drawDecisions(plane, paints)),
        ),
        examples.length > 0 && drawExamples(reads, paints),
      );
      paintCanvases(host, paints);
    },
  };
}

/** @param {Plane} plane @param {Paint[]} paints receives functions that paint the canvases */
function drawDecisions({ line: { key, label, colour }, picture }, paints) {
  const frame = { role: "img", "aria-label": `${label}: ${picture.words}` };
  return h(
    "div",
    { key, "data-rule": key, "--colour": colour },
    h("b", {}, label),
    h("div", frame, drawPicture(picture, paints)),
  );
}

/** @param {Reads} reads @param {Paint[]} paints receives a function for the canvas of each example */
function drawExamples({ examples, titles, rules, zero, long, ink }, paints) {
  const figures = examples.map((example, at) => {
    paints.push((canvas) => {
      if (isPainted(canvas, example, `${zero} ${ink}`)) return;
      if (zero === null) paintGrey(canvas, example, Math.sqrt(example.length), ink);
      else paintBars(canvas, example, zero, ink);
    });
    const dots = rules.map(({ line, right }) =>
      h("i", { class: right[at] && "right", "--colour": line.colour, "data-rule": line.key }),
    );
    return h("figure", { title: titles[at] }, h("canvas"), h("figcaption", {}, dots));
  });
  const totals = rules.map(({ line, right }) => `${line.label} reads ${right.filter(Boolean).length}`);
  const summary = rules.length ? `: of ${examples.length} ${totals.join(", ")} right` : "";
  const kind = `wall${zero === null ? "" : " of-bars"}${long ? " long" : ""}`;
  return h("div", { class: kind, role: "img", "aria-label": `Examples${summary}` }, figures);
}

/** Plot predicted against true numbers, with a dot for each example in the colour of its rule. @param {Scatter} plot */
export function drawScatter({ ends, dots }) {
  const circles = dots.flatMap(({ line, at }) =>
    at.map(([x, y]) => {
      const place = { cx: (100 * x).toFixed(1), cy: (100 - 100 * y).toFixed(1) };
      return h("circle", { r: 1.6, ...place, "data-rule": line.key, "--colour": line.colour });
    }),
  );
  const numbers = ends.map((end) => h("span", {}, end));
  return h(
    "div",
    { class: "scatter" },
    h("div", { class: "up" }, numbers.toReversed()),
    h(
      "svg",
      { viewBox: "-4 -4 108 108", role: "img", "aria-label": "Predicted against true" },
      h("path", { class: "axis-line", d: "M0 0V100H100" }),
      h("path", { class: "ideal", d: "M0 100L100 0" }),
      h("g", {}, circles),
    ),
    h("div", {}, numbers),
  );
}
