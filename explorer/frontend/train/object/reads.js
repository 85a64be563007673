// The drawing of examples as images or bars, with dots for the rules whose nets classify them correctly.

import { createChildren, updateChildren } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { render } from "../../elements/render.js";
import { drawPicture, paintCanvases } from "../panels/picture.js";
import { paintBars, paintGrey, areEqual } from "../widgets/canvas.js";

/** @import { Plane, Reads } from "./reads-data.js" */

/** Create the drawing of examples. @param {HTMLElement} host */
export function createReads(host) {
  const question = element("p", { class: "question" });
  const caption = element("p", { class: "caption" });
  const wall = element("div", { class: "wall" });
  const painted = /** @type {WeakMap<Element, {example: Uint8Array, ink: number, zero: number|null}>} */ (
    new WeakMap()
  );
  const plane = shape("svg", { viewBox: "-1.05 -1.05 2.1 2.1", class: "plane", "aria-hidden": "true" });
  const planes = element("div", { class: "planes" });
  const scatter = createScatter();
  const decisions = createChildren(planes, createDecisions, ({ line }) => line.key);
  host.append(question, caption, plane, scatter.element, planes, wall);

  return {
    /** @param {Reads|null} reads null hides them */
    show(reads) {
      setAttribute(host, "hidden", !reads);
      if (!reads) return;
      const { examples, points, rules, ink, zero } = reads;
      plane.toggleAttribute("hidden", points.length === 0);
      setAttribute(wall, "hidden", examples.length === 0);
      decisions.show(reads.planes);
      scatter.show(reads.scatter);
      wall.classList.toggle("of-bars", zero !== null);
      wall.classList.toggle("long", reads.long);
      updateChildren(
        plane,
        points,
        () => shape("circle", { r: 0.035 }),
        (dot, [x, y, kind]) => {
          dot.setAttribute("class", kind ? "second" : "first");
          dot.setAttribute("cx", String(x));
          dot.setAttribute("cy", String(-y));
        },
      );
      setText(question, reads.question);
      setText(caption, reads.caption);
      host.classList.toggle("asked", rules.length === 0);
      updateChildren(wall, examples, createExample, (figure, example, at) => {
        const [canvas, dots] = figure.children;
        setAttribute(figure, "title", reads.titles[at] ?? null);
        const last = painted.get(canvas);
        if (!last || last.ink !== ink || last.zero !== zero || !areEqual(last.example, example)) {
          if (zero === null) paintGrey(canvas, example, Math.sqrt(example.length), ink);
          else paintBars(canvas, example, zero, ink);
          painted.set(canvas, { example, ink, zero });
        }
        updateChildren(
          dots,
          rules,
          () => element("i", {}),
          (dot, { line, right }) => {
            dot.style.setProperty("--colour", line.colour);
            dot.classList.toggle("right", right[at]);
            setAttribute(dot, "data-rule", line.key);
          },
        );
      });
      const totals = rules.map(({ line, right }) => `${line.label} reads ${right.filter(Boolean).length}`);
      setAttribute(wall, "role", "img");
      const summary = rules.length ? `: of ${examples.length} ${totals.join(", ")} right` : "";
      setAttribute(wall, "aria-label", `Examples${summary}`);
    },
  };
}

/** @param {Plane} plane */
function createDecisions({ line: { key } }) {
  const name = element("b", {});
  const frame = element("div", { role: "img" });
  const node = element("div", { "data-rule": key }, name, frame);
  return {
    element: node,
    /** @param {Plane} plane */
    show({ line, picture }) {
      node.style.setProperty("--colour", line.colour);
      setText(name, line.label);
      setAttribute(frame, "aria-label", `${line.label}: ${picture.words}`);
      const paints = /** @type {import("../panels/picture.js").Paint[]} */ ([]);
      render(frame, drawPicture(picture, paints));
      paintCanvases(frame, paints);
    },
  };
}

/** Create the plot of predicted against true numbers, with a dot for each example in the colour of its rule. */
function createScatter() {
  const dots = shape("g", {});
  const svg = shape("svg", { viewBox: "-4 -4 108 108", role: "img", "aria-label": "Predicted against true" });
  svg.append(shape("path", { class: "axis-line", d: "M0 0V100H100" }));
  svg.append(shape("path", { class: "ideal", d: "M0 100L100 0" }), dots);
  const ends = ["left", "right"].map((side) => element("span", { class: side }));
  const node = element("div", { class: "scatter" }, svg, element("div", {}, ...ends));
  return {
    element: node,
    /** @param {import("./reads-data.js").Scatter|null} scatter null hides it */
    show(scatter) {
      node.hidden = !scatter;
      if (!scatter) return;
      ends.forEach((end, side) => setText(end, scatter.ends[side]));
      const all = scatter.dots.flatMap(({ line, at }) => at.map((place) => ({ line, place })));
      updateChildren(
        dots,
        all,
        () => shape("circle", { r: 1.6 }),
        (dot, { line, place: [x, y] }) => {
          dot.setAttribute("cx", (100 * x).toFixed(1));
          dot.setAttribute("cy", (100 - 100 * y).toFixed(1));
          dot.setAttribute("data-rule", line.key);
          dot.style.setProperty("--colour", line.colour);
        },
      );
    },
  };
}

function createExample() {
  return element("figure", {}, element("canvas", {}), element("figcaption", {}));
}
